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
	return len(e.Missing) == 0 && len(e.Unknown) == 0 && len(e.Foreign) == 0 && len(e.WrongStatus) == 0 &&
		len(e.WithErrors) == 0 && len(e.Revocations) == 0
}

// Error names the first kind of fault with the first [maxNamed] entries that have
// it, and how many more do, in the protocol's order of checks: exists, organism,
// state, errors. A check that has another order returns an error for each kind.
func (e *StateError) Error() string {
	switch {
	case len(e.Missing) > 0:
		return "entry versions that do not exist: " + names(e.Missing)
	case len(e.Unknown) > 0:
		sorted := slices.Sorted(slices.Values(e.Unknown))
		return "accessions that do not exist: " + first(sorted, func(a seqlease.Accession) string { return string(a) })
	case len(e.Foreign) > 0:
		var parts []string
		for _, organism := range slices.Sorted(maps.Keys(e.Foreign)) {
			list := e.Foreign[organism]
			parts = append(parts, fmt.Sprintf("%s %s of organism %s", names(list), plural(len(list), "is", "are"), organism))
		}
		return "entries of another organism: " + strings.Join(parts, "; ")
	case len(e.WrongStatus) > 0:
		list := slices.SortedFunc(maps.Keys(e.WrongStatus), seqlease.AccessionVersion.Compare)
		return fmt.Sprintf("entries must be in status %v, but %s", e.WantStatuses, first(list, func(av seqlease.AccessionVersion) string {
			return fmt.Sprintf("%s - %s", av, e.WrongStatus[av])
		}))
	case len(e.WithErrors) > 0:
		return "entries with errors can't be approved: " + names(e.WithErrors)
	default:
		return names(e.Revocations) + plural(len(e.Revocations), " is a revocation, which has", " are revocations, which have") + " no data to edit"
	}
}

// plural chooses the form of a word by the number of what it is said of.
func plural(n int, one, many string) string {
	if n == 1 {
		return one
	}
	return many
}

// maxNamed is how many entries an error names of each kind.
const maxNamed = 20

func names(list []seqlease.AccessionVersion) string {
	return first(slices.SortedFunc(slices.Values(list), seqlease.AccessionVersion.Compare), seqlease.AccessionVersion.String)
}

// first lists the first maxNamed of a sorted list as name calls them.
func first[T any](sorted []T, name func(T) string) string {
	parts := make([]string, 0, maxNamed)
	for _, one := range sorted[:min(len(sorted), maxNamed)] {
		parts = append(parts, name(one))
	}
	text := strings.Join(parts, ", ")
	if more := len(sorted) - maxNamed; more > 0 {
		text += fmt.Sprintf(" and %d more", more)
	}
	return text
}
