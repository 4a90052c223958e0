package httpapi

import (
	"runtime"

	"golang.org/x/sync/semaphore"
)

// How many requests may do at once what takes memory; others wait (B094, B038).
// Waiting requests hold next to nothing: their bodies lie on disk. The numbers
// are for a machine with 256 MiB, of which the work of many small requests may
// take a half and one large request the other.
const (
	uploadPlaces = 2 // uploads that are checked and stored; some 15 MiB each
	// arrivingPlaces is how many uploads are checked while they come; the others are
	// fetched to disk first. It takes as much memory as a place among uploads.
	arrivingPlaces = 1
	// checkedMemory is how many bytes are kept of uploads that were checked while they
	// came, until their turn has come. What finds no room is checked again.
	checkedMemory = 8 << 20
	resultPlaces  = 4 // submissions of results that are decoded and stored; up to 10 MiB each
	jsonPlaces    = 4 // JSON bodies over smallJSON
	windowPlaces  = 2 // request bodies with a zstd window, which is up to maxWindow

	// streamPlaces is how many submissions of results are worked on while they come,
	// as long as they are small; up to half a MiB each. Further ones are fetched to
	// disk first.
	streamPlaces = 64
)

// budget is what all requests share. A request asks in the order of the members,
// so that no two wait for each other.
type budget struct {
	uploads, results, json, windows *semaphore.Weighted
	// arriving and checked are never waited for.
	arriving, checked *semaphore.Weighted
	// streams is never waited for. turns are for those that have one, as long as they
	// work on what has come: nobody waits for anything else with a turn.
	streams, turns *semaphore.Weighted
	// large is for the one request at a time that needs much: an entry or a line
	// over a mebibyte or two, a file that was compressed with a large window, an
	// endless list.
	large *semaphore.Weighted
}

func newBudget() *budget {
	return &budget{
		uploads: semaphore.NewWeighted(uploadPlaces), results: semaphore.NewWeighted(resultPlaces),
		json: semaphore.NewWeighted(jsonPlaces), windows: semaphore.NewWeighted(windowPlaces),
		arriving: semaphore.NewWeighted(arrivingPlaces), checked: semaphore.NewWeighted(checkedMemory),
		streams: semaphore.NewWeighted(streamPlaces), turns: semaphore.NewWeighted(turns()),
		large: semaphore.NewWeighted(1),
	}
}

// turns is one for each core, and some more for those that wait for the store's codec.
func turns() int64 { return int64(2 * runtime.GOMAXPROCS(0)) }
