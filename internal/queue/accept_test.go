package queue_test

import (
	"encoding/base64"
	"errors"
	"fmt"
	"math/rand/v2"
	"strconv"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/seqlease/seqlease"
	"github.com/seqlease/seqlease/internal/queue"
)

// refusals returns what was refused as "line accession-index reason: detail",
// where the index is that of the entry in the lease, "?" if unknown.
func refusals(t *testing.T, err error, lease queue.Lease) []string {
	t.Helper()
	var refused *seqlease.RefusedError
	if !errors.As(err, &refused) {
		t.Fatalf("got %v, want a RefusedError", err)
	}
	var list []string
	for _, r := range refused.Refused {
		index := "?"
		for i, e := range lease.Entries {
			if e.AccessionVersion == r.AccessionVersion {
				index = strconv.Itoa(i)
			}
		}
		list = append(list, fmt.Sprintf("%d %s %s: %s", r.Line, index, r.Reason, r.Detail))
	}
	return list
}

// check compares refusals with what each should begin with.
func check(t *testing.T, got, want []string) {
	t.Helper()
	if len(got) != len(want) {
		t.Fatalf("got %d refusals, want %d:\n%s", len(got), len(want), strings.Join(got, "\n"))
	}
	for i := range got {
		if !strings.HasPrefix(got[i], want[i]) {
			t.Errorf("refusal %d: got %q, want it to begin with %q", i, got[i], want[i])
		}
	}
}

func TestAccept_GoodResults(t *testing.T) {
	t.Parallel()
	h := open(t, 3, nil)
	lease := h.claim(t, 3)
	warned := good(t, lease, 1)
	warned.Warnings = []seqlease.Annotation{{Message: "short"}}
	failed := result(t, lease, 2, `{"data":{"metadata":{},"sequenceNameToFastaId":{}},"errors":[{"message":"crashed"}]}`)
	if err := h.send(t, good(t, lease, 0), warned, failed); err != nil {
		t.Fatal(err)
	}
	want := map[string]int{"PROCESSED NO_ISSUES": 1, "PROCESSED HAS_WARNINGS": 1, "PROCESSED HAS_ERRORS": 1}
	if got := h.states(t); !cmp.Equal(got, want) {
		t.Errorf("states: got %v, want %v", got, want)
	}
}

func TestAccept_L5_EveryRefusedLineIsNamedAndNothingIsStored(t *testing.T) {
	t.Parallel()
	h := open(t, 9, nil)
	lease := h.claim(t, 9)
	change := func(i int, spoil func(r *seqlease.Result)) *seqlease.Result {
		r := good(t, lease, i)
		spoil(r)
		return r
	}
	err := h.send(t,
		good(t, lease, 0),
		result(t, lease, 1, `{"data":{"metadata":{"valley":5,"alien":1},"alignedNucleotideSequences":{"main":"ACGTACG?"}}}`),
		change(2, func(r *seqlease.Result) { r.AttemptID = seqlease.AttemptID{} }),
		change(3, func(r *seqlease.Result) { r.AttemptID = seqlease.NewAttemptID() }),
		change(4, func(r *seqlease.Result) { r.Version = 2 }),
		change(5, func(r *seqlease.Result) { r.Errors = []seqlease.Annotation{{Message: "a\x00b"}} }),
		good(t, lease, 0),
		change(6, func(r *seqlease.Result) { r.Data.Files = seqlease.Files{"raw": nil} }),
		change(7, func(r *seqlease.Result) { r.Accession = "A\x00" }),
		good(t, lease, 8),
	)
	check(t, refusals(t, err, lease), []string{
		`2 1 invalid: field "alien": unknown metadata fields: alien; field "valley": expected type string for field "valley", found value 5; ` +
			`field "main": alignedNucleotideSequences of segment "main" has characters that are not allowed: "?"`,
		`3 2 invalid: processingAttemptId is missing: copy the member processingAttemptId of the claimed entry's line`,
		`4 3 lease-lost: `,
		`5 ? not-found: `,
		`6 5 invalid: field "errors[0].message": holds a NUL character`,
		`7 0 duplicate: lines 1 and 7 both hold a result of ` + lease.Entries[0].String(),
		`8 6 invalid: field "files": category "raw" is not configured`,
		`9 ? invalid: field "accession": holds a NUL character`,
	})
	if got, want := h.states(t), map[string]int{"IN_PROCESSING ": 9}; !cmp.Equal(got, want) {
		t.Errorf("states: got %v, want %v", got, want)
	}
}

func TestAccept_L5_SkipStoresTheGoodLines(t *testing.T) {
	t.Parallel()
	h := open(t, 3, nil)
	lease := h.claim(t, 3)
	acceptance, err := h.NewAcceptance(t.Context(), queue.AcceptanceRequest{Organism: fern, PipelineVersion: 1, SubmittedBy: "pipeline", Skip: true})
	if err != nil {
		t.Fatal(err)
	}
	lost := good(t, lease, 1)
	lost.AttemptID = seqlease.NewAttemptID()
	for i, r := range []*seqlease.Result{good(t, lease, 0), lost, good(t, lease, 0)} {
		if err := acceptance.Add(i+1, r); err != nil {
			t.Fatal(err)
		}
	}
	if err := acceptance.Refuse(4, seqlease.AccessionVersion{}, "no JSON: \x1b[31m\x00"); err != nil {
		t.Fatal(err)
	}
	accepted, err := acceptance.Commit(t.Context())
	if err != nil || accepted.Stored != 1 {
		t.Errorf("got %+v and %v, want one line stored", accepted, err)
	}
	check(t, refusals(t, &seqlease.RefusedError{Refused: accepted.Refused}, lease), []string{
		"2 1 lease-lost: ", "3 0 duplicate: lines 1 and 3", "4 ? invalid: no JSON: \uFFFD",
	})
	if got, want := h.states(t), map[string]int{"PROCESSED NO_ISSUES": 1, "IN_PROCESSING ": 2}; !cmp.Equal(got, want) {
		t.Errorf("states: got %v, want %v", got, want)
	}
}

// TestAccept_ResultsWithErrorsMayHoldAnything: what made the pipeline give up
// must not keep the report from being stored.
func TestAccept_ResultsWithErrorsMayHoldAnything(t *testing.T) {
	t.Parallel()
	h := open(t, 1, nil)
	lease := h.claim(t, 1)
	if err := h.send(t, result(t, lease, 0, `{"data":{"metadata":{"alien":{"x":1},"height":"tall"},"alignedNucleotideSequences":{"east":"??"},
		"files":{}},"errors":[{"message":"literally \\u0000"}]}`)); err != nil {
		t.Fatal(err)
	}
	if got, want := h.states(t), map[string]int{"PROCESSED HAS_ERRORS": 1}; !cmp.Equal(got, want) {
		t.Errorf("states: got %v, want %v", got, want)
	}
}

func TestAccept_L6_RepetitionIsHarmlessAnythingElseIsNot(t *testing.T) {
	t.Parallel()
	h := open(t, 2, nil)
	lease := h.claim(t, 2)
	if err := h.send(t, good(t, lease, 0), good(t, lease, 1)); err != nil {
		t.Fatal(err)
	}
	if err := h.send(t, good(t, lease, 1), good(t, lease, 0)); err != nil {
		t.Errorf("the same again: %v", err)
	}
	// Written differently, but the same in the normal form of storage.
	same := result(t, lease, 0, `{"data":{"metadata":{"height":3,"valley":"\u0047reen"},"unalignedNucleotideSequences":{"main":"ACGTACGT"},
		"alignedNucleotideSequences":{"main":"ACGT-CGT"},"nucleotideInsertions":{"main":["3:GG"]},"sequenceNameToFastaId":{"main":"s"},
		"aminoAcidInsertions":{"env":[]}},"errors":[],"warnings":null}`)
	if err := h.send(t, same); err != nil {
		t.Errorf("the same in other words: %v", err)
	}
	different := good(t, lease, 0)
	different.Warnings = []seqlease.Annotation{{Message: "on second thoughts"}}
	check(t, refusals(t, h.send(t, different, good(t, lease, 1)), lease), []string{"1 0 different-results: "})
}

func TestAccept_DuplicateLines(t *testing.T) {
	t.Parallel()
	for _, equal := range []bool{true, false} {
		h := open(t, 3, nil)
		lease := h.claim(t, 3)
		again := good(t, lease, 0)
		if !equal {
			again.Data.Metadata["height"] = []byte("4")
			again.AttemptID = seqlease.NewAttemptID()
		}
		err := h.send(t, good(t, lease, 0), good(t, lease, 1), again, good(t, lease, 2))
		check(t, refusals(t, err, lease), []string{
			"3 0 duplicate: lines 1 and 3 both hold a result of " + lease.Entries[0].String() + ": send one result for each entry",
		})
		if got, want := h.states(t), map[string]int{"IN_PROCESSING ": 3}; !cmp.Equal(got, want) {
			t.Errorf("equal %t: states: got %v, want %v", equal, got, want)
		}
	}
}

func TestAccept_LinesOfTheDoorAreReportedInOrder(t *testing.T) {
	t.Parallel()
	h := open(t, 1, nil)
	lease := h.claim(t, 1)
	acceptance, err := h.NewAcceptance(t.Context(), queue.AcceptanceRequest{Organism: fern, PipelineVersion: 1, SubmittedBy: "pipeline"})
	if err != nil {
		t.Fatal(err)
	}
	if err := acceptance.Add(2, good(t, lease, 0)); err != nil {
		t.Fatal(err)
	}
	for _, number := range []int{3, 1} {
		if err := acceptance.Refuse(number, seqlease.AccessionVersion{}, strings.Repeat("no JSON ", 1000)); err != nil {
			t.Fatal(err)
		}
	}
	_, err = acceptance.Commit(t.Context())
	got := refusals(t, err, lease)
	check(t, got, []string{"1 ? invalid: no JSON", "3 ? invalid: no JSON"})
	if len(got[0]) > 2100 {
		t.Errorf("a detail of %d bytes, want it cut", len(got[0]))
	}
}

func TestAccept_OtherOrganismOrUser(t *testing.T) {
	t.Parallel()
	h := open(t, 1, nil)
	lease := h.claim(t, 1)
	for _, tc := range []struct {
		request queue.AcceptanceRequest
		want    string
	}{
		{queue.AcceptanceRequest{Organism: "other", PipelineVersion: 1, SubmittedBy: "pipeline"}, "1 0 wrong-organism: "},
		{queue.AcceptanceRequest{Organism: fern, PipelineVersion: 1, SubmittedBy: "somebody"}, "1 0 lease-lost: "},
		{queue.AcceptanceRequest{Organism: fern, PipelineVersion: 2, SubmittedBy: "pipeline"}, "1 0 lease-lost: "},
	} {
		acceptance, err := h.NewAcceptance(t.Context(), tc.request)
		if err != nil {
			t.Fatal(err)
		}
		failed := result(t, lease, 0, `{"errors":[{"message":"so that no rule of the organism is asked"}]}`)
		if err := acceptance.Add(1, failed); err != nil {
			t.Fatal(err)
		}
		_, err = acceptance.Commit(t.Context())
		check(t, refusals(t, err, lease), []string{tc.want})
	}
	if _, err := h.NewAcceptance(t.Context(), queue.AcceptanceRequest{Organism: "fern"}); !errors.Is(err, seqlease.ErrUnknownOrganism) {
		t.Errorf("unknown organism: got %v, want %v", err, seqlease.ErrUnknownOrganism)
	}
	if err := h.send(t, good(t, lease, 0)); err != nil {
		t.Errorf("afterwards the holder is refused: %v", err)
	}
}

func TestAccept_NoLinesChangeNothing(t *testing.T) {
	t.Parallel()
	h := open(t, 0, nil)
	if err := h.send(t); err != nil {
		t.Error(err)
	}
}

func TestAccept_TooManyLines(t *testing.T) {
	t.Parallel()
	h := open(t, 0, nil)
	acceptance, err := h.NewAcceptance(t.Context(), queue.AcceptanceRequest{Organism: fern, PipelineVersion: 1})
	if err != nil {
		t.Fatal(err)
	}
	for number := range queue.MaxResultLines {
		if err := acceptance.Refuse(number+1, seqlease.AccessionVersion{}, "x"); err != nil {
			t.Fatal(err)
		}
	}
	if err := acceptance.Add(queue.MaxResultLines+1, &seqlease.Result{}); !errors.Is(err, seqlease.ErrTooLarge) {
		t.Errorf("got %v, want %v", err, seqlease.ErrTooLarge)
	}
}

// Incompressible text is what a body can hold most of in memory.
func TestAccept_PackedBytesAreBounded(t *testing.T) {
	t.Parallel()
	h := open(t, 1, nil)
	lease := h.claim(t, 1)
	acceptance, err := h.NewAcceptance(t.Context(), queue.AcceptanceRequest{Organism: fern, PipelineVersion: 1})
	if err != nil {
		t.Fatal(err)
	}
	random := rand.NewChaCha8([32]byte{})
	noise := make([]byte, 6<<20)
	for number := 1; number <= 2*queue.MaxPackedBytes/len(noise); number++ {
		_, _ = random.Read(noise) // never fails
		r := good(t, lease, 0)
		r.Version = seqlease.Version(number)
		r.Errors = []seqlease.Annotation{{Message: base64.StdEncoding.EncodeToString(noise)}}
		if err = acceptance.Add(number, r); err != nil {
			break
		}
	}
	if !errors.Is(err, seqlease.ErrTooLarge) || !strings.Contains(seqlease.Explanation(err), "16 MiB") {
		t.Errorf("got %v, want it refused as too large, naming the limit", err)
	}
}
