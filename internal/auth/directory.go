package auth

import "context"

// Directory knows the users of an identity provider. It may be used concurrently.
type Directory interface {
	// KnowsUser says whether there is a user of exactly that name. The error is
	// [ErrUnavailable] if that could not be found out.
	KnowsUser(ctx context.Context, name string) (bool, error)
}

// AnyUser is the directory of a provider that can't be asked who its users are: it
// knows every name that a user may have.
type AnyUser struct{}

// KnowsUser says whether the name may be a user's.
func (AnyUser) KnowsUser(_ context.Context, name string) (bool, error) { return isUserName(name), nil }

// Directories knows whoever one of several directories knows.
type Directories []Directory

// KnowsUser asks the directories in order. One that can't be asked doesn't matter if
// a later one knows the user.
func (d Directories) KnowsUser(ctx context.Context, name string) (bool, error) {
	var failed error
	for _, directory := range d {
		known, err := directory.KnowsUser(ctx, name)
		if known && err == nil {
			return true, nil
		}
		if failed == nil {
			failed = err
		}
	}
	return false, failed
}
