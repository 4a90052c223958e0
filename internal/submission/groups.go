package submission

import (
	"context"
	"fmt"
	"iter"

	"golang.org/x/text/cases"
	"golang.org/x/text/unicode/norm"

	"github.com/seqlease/seqlease"
)

// groupsAtOnce is how many groups are read at a time: there may be many thousands,
// of up to 9 kB each.
const groupsAtOnce = 200

// Groups yields all groups by ascending id, or those of a name that differs from
// the given one at most in case. They are read page by page, and nothing is held
// while the caller takes its time (L12); a group that is created or edited
// meanwhile may be missing or shown as it is by then. An error is the last that comes.
func (s *Submissions) Groups(ctx context.Context, name *string) iter.Seq2[seqlease.Group, error] {
	all := s.groups(ctx, "")
	if name == nil {
		return all
	}
	wanted := folded(*name)
	return func(yield func(seqlease.Group, error) bool) {
		for g, err := range all {
			if (err != nil || folded(g.GroupName) == wanted) && !yield(g, err) {
				return
			}
		}
	}
}

// UserGroups yields the groups of the person by ascending id, as Groups does: all
// groups for a super user.
func (s *Submissions) UserGroups(ctx context.Context, p seqlease.Person) iter.Seq2[seqlease.Group, error] {
	if p.Has(seqlease.SuperUser) {
		return s.groups(ctx, "")
	}
	return s.groups(ctx, p.Name)
}

// groups yields the groups of a member, or of everybody if member is empty.
func (s *Submissions) groups(ctx context.Context, member string) iter.Seq2[seqlease.Group, error] {
	return func(yield func(seqlease.Group, error) bool) {
		var after int64
		for {
			page, err := s.store.GroupPage(ctx, member, after, groupsAtOnce)
			if err != nil {
				yield(seqlease.Group{}, fmt.Errorf("groups after %d: %w", after, err))
				return
			}
			for _, g := range page {
				if !yield(g, nil) {
					return
				}
				after = g.GroupID
			}
			if len(page) < groupsAtOnce {
				return
			}
		}
	}
}

// folded returns a text such that two texts which differ only in case or in how
// their accents are encoded have the same: canonical caseless matching (The Unicode
// Standard, section 3.13, D145). The stores leave it to this room, since their own
// ideas of case depend on the engine and its locale.
func folded(text string) string {
	return norm.NFD.String(cases.Fold().String(norm.NFD.String(text)))
}
