package client

import (
	"context"
	"fmt"
	"net/http"
	"net/url"
	"strconv"

	"github.com/seqlease/seqlease"
)

// CreateGroup creates a group; the token's user becomes its first member.
func (c *Client) CreateGroup(ctx context.Context, g seqlease.NewGroup) (seqlease.Group, error) {
	var group seqlease.Group
	k, err := jsonCall("/groups", g)
	if err == nil {
		err = c.document(ctx, k, &group)
	}
	if err != nil {
		return seqlease.Group{}, fmt.Errorf("create group %q: %w", g.GroupName, err)
	}
	return group, nil
}

// UserGroups returns the groups of the token's user by ascending id; a super
// user gets every group.
func (c *Client) UserGroups(ctx context.Context) ([]seqlease.Group, error) {
	var groups []seqlease.Group
	if err := c.document(ctx, call{method: http.MethodGet, path: "/user/groups"}, &groups); err != nil {
		return nil, fmt.Errorf("list groups: %w", err)
	}
	return groups, nil
}

// Groups lists all groups by ascending id.
func (c *Client) Groups(ctx context.Context) ([]seqlease.Group, error) {
	return c.groups(ctx, nil)
}

// GroupsNamed lists the groups of a name, which may differ in case.
func (c *Client) GroupsNamed(ctx context.Context, name string) ([]seqlease.Group, error) {
	return c.groups(ctx, url.Values{"name": {name}})
}

func (c *Client) groups(ctx context.Context, query url.Values) ([]seqlease.Group, error) {
	var groups []seqlease.Group
	if err := c.document(ctx, call{method: http.MethodGet, path: "/groups", query: query}, &groups); err != nil {
		return nil, fmt.Errorf("list all groups: %w", err)
	}
	return groups, nil
}

// Group returns a group and its members in order of name, or
// [seqlease.ErrNotFound]. Without a token there are neither members nor the
// contact e-mail.
func (c *Client) Group(ctx context.Context, id int64) (seqlease.Group, []string, error) {
	var details struct {
		Group seqlease.Group `json:"group"`
		Users []struct {
			Name string `json:"name"`
		} `json:"users"`
	}
	if err := c.document(ctx, call{method: http.MethodGet, path: groupPath(id)}, &details); err != nil {
		return seqlease.Group{}, nil, fmt.Errorf("group %d: %w", id, err)
	}
	var users []string
	for _, user := range details.Users {
		users = append(users, user.Name)
	}
	return details.Group, users, nil
}

// EditGroup replaces what is said about a group.
func (c *Client) EditGroup(ctx context.Context, id int64, g seqlease.NewGroup) (seqlease.Group, error) {
	var group seqlease.Group
	k, err := jsonCall(groupPath(id), g)
	if err == nil {
		k.method = http.MethodPut
		err = c.document(ctx, k, &group)
	}
	if err != nil {
		return seqlease.Group{}, fmt.Errorf("edit group %d: %w", id, err)
	}
	return group, nil
}

func groupPath(id int64) string { return "/groups/" + strconv.FormatInt(id, 10) }
