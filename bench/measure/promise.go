package measure

import (
	"fmt"
	"slices"
	"strconv"
	"strings"
)

// Promise is one of the design's promises about speed, by its number. A promise is
// kept if every target that belongs to it is met.
type Promise int

// The promises of the design, in its order.
const (
	FewClaims    Promise = iota + 1 // over HTTP: no more claims than needed, no lost race, no refused result
	StorageFloor                    // the store against COPY of the same bytes
	RowLeases                       // against leases on rows that are updated in place
	InsertRace                      // against claims that race to insert
	Peers                           // against other queues
	HTTPPeer                        // over HTTP against River used directly
	CodecFloor                      // over HTTP against the codec alone
	Depth                           // the same speed whatever waits, and to the end
	OldSnapshot                     // the same speed beside an old snapshot
	NewVersion                      // of a pipeline, over a million entries
	ServerMemory                    // with a hundred thousand genomes
	StoredBytes                     // of a real genome
	WALBytes                        // of an entry, claim to result
	promisesEnd
)

// Summary says in sentences how many targets and promises are kept, and which targets
// were met in some rounds and missed in others.
func Summary(rows []Row) string {
	targets, met := 0, 0
	kept := map[Promise]bool{}
	var mixed []string
	for _, r := range rows {
		if r.Met == nil {
			continue
		}
		targets++
		if *r.Met {
			met++
		}
		if r.Promise != 0 {
			sofar, seen := kept[r.Promise]
			kept[r.Promise] = *r.Met && (sofar || !seen)
		}
		if r.Mixed {
			mixed = append(mixed, r.Name)
		}
	}
	var broken, missing []string
	whole := 0
	for p := FewClaims; p < promisesEnd; p++ {
		switch is, measured := kept[p]; {
		case !measured:
			missing = append(missing, strconv.Itoa(int(p)))
		case is:
			whole++
		default:
			broken = append(broken, strconv.Itoa(int(p)))
		}
	}
	var text strings.Builder
	fmt.Fprintf(&text, "%d of %d targets are met. Of the %d promises of the design %d are kept", met, targets, promisesEnd-1, whole)
	for _, part := range []struct {
		what string
		list []string
	}{{"not kept", broken}, {"not measured here", missing}} {
		if len(part.list) > 0 {
			fmt.Fprintf(&text, ", %s: %s", part.what, strings.Join(part.list, ", "))
		}
	}
	text.WriteString(".\n")
	if len(mixed) > 0 {
		text.WriteString("Some rounds met the target and others didn't: " + strings.Join(mixed, "; ") + ".\n")
	}
	return text.String()
}

// Twice returns the names that more than one row has.
func Twice(rows []Row) (names []string) {
	seen := map[string]int{}
	for _, r := range rows {
		if seen[r.Name]++; seen[r.Name] == 2 {
			names = append(names, r.Name)
		}
	}
	slices.Sort(names)
	return names
}
