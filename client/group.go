package client

import (
	"context"
	"fmt"
	"net/http"

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
