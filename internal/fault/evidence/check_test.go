package evidence_test

import (
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/seqlease/seqlease"
	"github.com/seqlease/seqlease/internal/fault/evidence"
)

var (
	one = seqlease.AccessionVersion{Accession: "A1", Version: 1}
	two = seqlease.AccessionVersion{Accession: "A2", Version: 1}

	first, second, third, fourth = seqlease.NewAttemptID(), seqlease.NewAttemptID(), seqlease.NewAttemptID(), seqlease.NewAttemptID()
)

func held(av seqlease.AccessionVersion, attempt seqlease.AttemptID) []evidence.Held {
	return []evidence.Held{{AccessionVersion: av, AttemptID: attempt, LeaseSeconds: 10}}
}

// line is a call that took a tenth of a second and was answered whole.
func line(worker, call string, at float64, status int, entries []evidence.Held) evidence.Line {
	return evidence.Line{Call: call, Worker: worker, Sent: at, Got: at + 0.1, Status: status, Whole: true, Entries: entries}
}

func refused(l evidence.Line, reason seqlease.RefusalReason) evidence.Line {
	for _, h := range l.Entries {
		l.Refused = append(l.Refused, seqlease.Refusal{AccessionVersion: h.AccessionVersion, Reason: reason})
	}
	return l
}

func released(av seqlease.AccessionVersion, attempt seqlease.AttemptID) evidence.Released {
	return evidence.Released{AccessionVersion: av, Attempt: attempt.String(), Proof: evidence.Proof(av, attempt)}
}

// good is a run in which a worker was late: its result of the first entry was
// refused, and that of the one that claimed the entry after the lease end counts.
// The second entry was repeated, since its answer got lost.
func good() evidence.Evidence {
	return evidence.Evidence{
		Lines: []evidence.Line{
			line("slow", evidence.CallClaim, 0, 200, held(one, first)),
			line("quick", evidence.CallClaim, 11, 200, held(one, second)),
			line("quick", evidence.CallSubmit, 12, 204, held(one, second)),
			refused(line("slow", evidence.CallSubmit, 13, 422, held(one, first)), seqlease.RefusedLeaseLost),
			line("quick", evidence.CallClaim, 14, 200, held(two, third)),
			{Call: evidence.CallSubmit, Worker: "quick", Sent: 15, Got: 16, Entries: held(two, third)},
			line("quick", evidence.CallSubmit, 17, 204, held(two, third)),
			line("quick", evidence.CallSubmit, 18, 204, held(two, third)),
		},
		Uploads: []evidence.Upload{
			{SubmissionIDs: []string{"u1", "u2"}, Stored: map[string]seqlease.AccessionVersion{"u1": one, "u2": two}},
			{SubmissionIDs: []string{"v1"}}, // no answer, and not stored
		},
		Listed:   map[seqlease.AccessionVersion]seqlease.Status{one: seqlease.ApprovedForRelease, two: seqlease.ApprovedForRelease},
		Released: []evidence.Released{released(one, second), released(two, third)},
		Stored: []evidence.Stored{
			{AccessionVersion: one, SubmissionID: "u1", Result: second},
			{AccessionVersion: two, SubmissionID: "u2", Result: third},
		},
	}
}

// TestCheck falsifies a good run in every way that the checker is to find.
func TestCheck(t *testing.T) {
	t.Parallel()
	for _, test := range falsifications {
		t.Run(test.name, func(t *testing.T) {
			t.Parallel()
			e := good()
			test.falsify(&e)
			var got []evidence.Kind
			found := evidence.Check(e)
			for _, v := range found {
				got = append(got, v.Kind)
			}
			slices.Sort(got)
			if diff := cmp.Diff(test.want, got); diff != "" {
				t.Errorf("(-want +got)\n%s%v", diff, found)
			}
		})
	}
}

// TestCheckPlaces_V9: only an entry that is processed again has an old result
// beside its place.
func TestCheckPlaces_V9(t *testing.T) {
	t.Parallel()
	again := map[seqlease.AccessionVersion]int{one: 1}
	for _, test := range []struct {
		stored evidence.Stored
		want   int // violations
	}{
		{evidence.Stored{AccessionVersion: one, Tickets: 1, Result: first}, 0},
		{evidence.Stored{AccessionVersion: one, Leases: []seqlease.AttemptID{second}, Result: first}, 0},
		{evidence.Stored{AccessionVersion: one, Result: first}, 0},
		{evidence.Stored{AccessionVersion: one}, 1},
		{evidence.Stored{AccessionVersion: one, Tickets: 1, Leases: []seqlease.AttemptID{second}, Result: first}, 1},
		{evidence.Stored{AccessionVersion: two, Tickets: 1, Result: first}, 1},
	} {
		if found := evidence.CheckPlaces([]evidence.Stored{test.stored}, again); len(found) != test.want {
			t.Errorf("%+v: found %v, want %d", test.stored, found, test.want)
		}
	}
}

// TestLog: a line without an end is read when it has one.
func TestLog(t *testing.T) {
	t.Parallel()
	log := evidence.Log{Path: filepath.Join(t.TempDir(), "w.ndjson")}
	file, err := os.OpenFile(log.Path, os.O_APPEND|os.O_CREATE|os.O_WRONLY, 0o600)
	if err != nil {
		t.Fatal(err)
	}
	defer file.Close() //nolint:errcheck // the test reads what was written
	claim := fmt.Sprintf(`{"call":"extract-unprocessed-data","status":200,"whole":true,"entries":[{"accession":"A1","version":1,"processingAttemptId":%q}]}`, first)
	for _, step := range []struct {
		write      string
		lines, own int
	}{
		{"", 0, 0},
		{claim[:20], 0, 0},
		{claim[20:] + "\n", 1, 1},
		{`{"call":"extract-unprocessed-data","status":0}` + "\n", 2, 1},
		{`{"call":"submitting"}` + "\n", 3, 0},
		{claim + "\n" + claim + "\n", 5, 1},
	} {
		if _, err := file.WriteString(step.write); err != nil {
			t.Fatal(err)
		}
		if err := log.Read(); err != nil {
			t.Fatal(err)
		}
		if len(log.Lines) != step.lines || len(log.Open()) != step.own {
			t.Errorf("after %q: %d lines and %d entries of its own, want %d and %d", step.write, len(log.Lines), len(log.Open()), step.lines, step.own)
		}
	}
	if _, err := file.WriteString("nonsense\n"); err != nil {
		t.Fatal(err)
	}
	if err := log.Read(); err == nil {
		t.Error("nonsense is read without an error")
	}
}
