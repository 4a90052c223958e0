package client

import (
	"context"
	"fmt"
	"net/http"
	"net/url"
	"strings"
)

// AddMember makes a user a member of a group. The error is
// [seqlease.ErrNotFound] if the user or the group doesn't exist, and
// [seqlease.ErrConflict] if the user is a member already.
func (c *Client) AddMember(ctx context.Context, group int64, user string) error {
	if err := c.act(ctx, call{method: http.MethodPut, path: memberPath(group, user)}); err != nil {
		return fmt.Errorf("add %q to group %d: %w", user, group, err)
	}
	return nil
}

// RemoveMember ends the membership of a user, who needn't be a member.
func (c *Client) RemoveMember(ctx context.Context, group int64, user string) error {
	if err := c.act(ctx, call{method: http.MethodDelete, path: memberPath(group, user)}); err != nil {
		return fmt.Errorf("remove %q from group %d: %w", user, group, err)
	}
	return nil
}

func memberPath(group int64, user string) string {
	name := url.PathEscape(user)
	if strings.Trim(name, ".") == "" { // else it would be a part of the way
		name = strings.ReplaceAll(name, ".", "%2E")
	}
	return groupPath(group) + "/users/" + name
}

// act sends a request whose answer has no body.
func (c *Client) act(ctx context.Context, k call) error {
	answer, err := c.send(ctx, k)
	if err != nil {
		return err
	}
	answer.close()
	return nil
}
