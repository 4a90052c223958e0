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

// Error names the first kind of fault with every entry that has it, in the
// protocol's order of checks: exists, organism, state, errors.
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
		var parts []string
		for _, av := range slices.SortedFunc(maps.Keys(e.WrongStatus), seqlease.AccessionVersion.Compare) {
			parts = append(parts, fmt.Sprintf("%s - %s", av, e.WrongStatus[av]))
		}
		return fmt.Sprintf("entries must be in status %v, but %s", e.WantStatuses, strings.Join(parts, ", "))
	default:
		return "entries with errors can't be approved: " + names(e.WithErrors)
	}
}

func names(list []seqlease.AccessionVersion) string {
	sorted := slices.SortedFunc(slices.Values(list), seqlease.AccessionVersion.Compare)
	parts := make([]string, len(sorted))
	for i, av := range sorted {
		parts[i] = av.String()
	}
	return strings.Join(parts, ", ")
}
