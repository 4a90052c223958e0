package submission

import (
	"fmt"
	"maps"
	"slices"
	"strings"

	"github.com/seqlease/seqlease"
)

// Is makes the error [seqlease.ErrState].
func (e *StateError) Is(target error) bool { return target == seqlease.ErrState }

// IsEmpty says whether nothing was found wrong.
func (e *StateError) IsEmpty() bool {
	return len(e.Missing) == 0 && len(e.Foreign) == 0 && len(e.WrongStatus) == 0 && len(e.WithErrors) == 0
}

// Error names the first kind of fault with the first [maxNamed] entries that have
// it, and how many more do, in the protocol's order of checks: exists, organism,
// state, errors.
func (e *StateError) Error() string {
	switch {
	case len(e.Missing) > 0:
		return fmt.Sprintf("entry versions %s do not exist", names(e.Missing))
	case len(e.Foreign) > 0:
		var parts []string
		for _, organism := range slices.Sorted(maps.Keys(e.Foreign)) {
			parts = append(parts, fmt.Sprintf("%s is of organism %s", names(e.Foreign[organism]), organism))
		}
		return "entries of another organism: " + strings.Join(parts, "; ")
	case len(e.WrongStatus) > 0:
		list := slices.Collect(maps.Keys(e.WrongStatus))
		return fmt.Sprintf("entries must be in status %v, but %s", e.WantStatuses, first(list, func(av seqlease.AccessionVersion) string {
			return fmt.Sprintf("%s - %s", av, e.WrongStatus[av])
		}))
	default:
		return "entries with errors can't be approved: " + names(e.WithErrors)
	}
}

// maxNamed is how many entries an error names of each kind.
const maxNamed = 20

func names(list []seqlease.AccessionVersion) string {
	return first(list, seqlease.AccessionVersion.String)
}

// first lists the first maxNamed entries as name calls them.
func first(list []seqlease.AccessionVersion, name func(seqlease.AccessionVersion) string) string {
	sorted := slices.SortedFunc(slices.Values(list), seqlease.AccessionVersion.Compare)
	parts := make([]string, 0, maxNamed)
	for _, av := range sorted[:min(len(sorted), maxNamed)] {
		parts = append(parts, name(av))
	}
	text := strings.Join(parts, ", ")
	if more := len(sorted) - maxNamed; more > 0 {
		text += fmt.Sprintf(" and %d more", more)
	}
	return text
}
