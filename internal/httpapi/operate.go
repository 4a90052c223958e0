package httpapi

import (
	"context"
	"fmt"
	"net/http"

	"github.com/seqlease/seqlease"
	"github.com/seqlease/seqlease/internal/queue"
)

// maxNoteBody bounds bodies of a few members.
const maxNoteBody = 64 << 10

// defaultPage is how many entries a page of a list has.
const defaultPage = 100

func pageLimit(limit *PageLimit) int {
	if limit == nil {
		return defaultPage
	}
	return int(*limit)
}

func strangePlace(after string) error {
	return seqlease.InvalidParameter("after", fmt.Sprintf("after must be the member next of a page, not %.80q", after))
}

// onSelection does what an operator asks for with the selected entries.
func (s *server) onSelection(w http.ResponseWriter, r *http.Request, o Organism,
	act func(ctx context.Context, selected queue.Selection, by, reason string) (int, error), answer func(n int) any,
) {
	selected, reason, err := s.readSelection(r, o)
	if err != nil {
		s.fail(w, r, err)
		return
	}
	person, _ := personOf(r.Context())
	n, err := act(r.Context(), selected, person.Name, reason)
	if err != nil {
		s.fail(w, r, err)
		return
	}
	writeJSON(w, answer(n))
}
