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

	first, second, third = seqlease.NewAttemptID(), seqlease.NewAttemptID(), seqlease.NewAttemptID()
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
	for _, test := range []struct {
		name    string
		falsify func(*evidence.Evidence)
		want    []evidence.Kind
	}{
		{"nothing", func(*evidence.Evidence) {}, nil},
		{"the late result is accepted too", func(e *evidence.Evidence) {
			e.Lines[3] = line("slow", evidence.CallSubmit, 13, 204, held(one, first))
		}, []evidence.Kind{evidence.Twice}},
		{"the late result overwrites the accepted one", func(e *evidence.Evidence) {
			e.Stored[0].Result, e.Released[0] = first, released(one, first)
		}, []evidence.Kind{evidence.Lost, evidence.StoredRefused}},
		{"skipped as refused, and stored", func(e *evidence.Evidence) {
			e.Lines[6] = refused(line("quick", evidence.CallSubmit, 17, 200, held(two, third)), seqlease.RefusedLeaseLost)
			e.Lines[7] = e.Lines[6]
		}, []evidence.Kind{evidence.StoredRefused, evidence.StoredRefused}},
		{"different results refused after the first were stored", func(e *evidence.Evidence) {
			e.Lines[7] = refused(line("quick", evidence.CallSubmit, 18, 422, held(two, third)), seqlease.RefusedDifferentResults)
		}, nil},
		{"an accepted result is lost", func(e *evidence.Evidence) {
			e.Stored[1].Result, e.Stored[1].Tickets = seqlease.AttemptID{}, 1
			e.Listed[two], e.Released = seqlease.Received, e.Released[:1]
		}, []evidence.Kind{evidence.Lost, evidence.Unfinished, evidence.Unfinished}},
		{"an accepted entry is gone", func(e *evidence.Evidence) {
			e.Stored, e.Released, e.Uploads = e.Stored[:1], e.Released[:1], nil
			delete(e.Listed, two)
		}, []evidence.Kind{evidence.Lost}},
		{"a result is stored for an attempt that nobody had", func(e *evidence.Evidence) {
			e.Lines, e.Stored[1].Result, e.Released[1] = e.Lines[:4], first, released(two, first)
		}, []evidence.Kind{evidence.Unclaimed}},
		{"an accepted entry is quarantined", func(e *evidence.Evidence) {
			e.Stored[1].Quarantined, e.Stored[1].Result = true, seqlease.NewAttemptID()
			e.Listed[two], e.Released = seqlease.Processed, e.Released[:1]
		}, []evidence.Kind{evidence.Lost, evidence.Unclaimed}},
		{"an entry that nobody finished is quarantined", func(e *evidence.Evidence) {
			e.Lines, e.Stored[1].Quarantined, e.Stored[1].Result = e.Lines[:5], true, seqlease.NewAttemptID()
			e.Listed[two], e.Released = seqlease.Processed, e.Released[:1]
		}, nil},
		{"an entry is handed out again while its lease runs", func(e *evidence.Evidence) {
			e.Lines[1].Sent, e.Lines[1].Got = 9, 9.1
		}, []evidence.Kind{evidence.HeldAtOnce}},
		{"handed out again after the database's clock was put ahead", func(e *evidence.Evidence) {
			e.Lines[1].Sent, e.Lines[1].Got = 9, 9.1
			e.Jumps = []float64{5}
		}, nil},
		{"handed out again after it was given back", func(e *evidence.Evidence) {
			e.Lines[1].Sent, e.Lines[1].Got = 9, 9.1
			e.Lines = append(e.Lines, line("slow", evidence.CallGiveBack, 8, 200, []evidence.Held{{AttemptID: first}}))
		}, nil},
		{"handed out again after a cut claim", func(e *evidence.Evidence) {
			e.Lines[0].Whole = false
			e.Lines[1].Sent, e.Lines[1].Got = 9, 9.1
		}, nil},
		{"a result beside a ticket", func(e *evidence.Evidence) { e.Stored[0].Tickets = 1 }, []evidence.Kind{evidence.TwoPlaces}},
		{"a result beside a lease", func(e *evidence.Evidence) {
			e.Stored[0].Leases = []seqlease.AttemptID{first}
		}, []evidence.Kind{evidence.TwoPlaces}},
		{"two leases", func(e *evidence.Evidence) {
			e.Stored[0].Leases = []seqlease.AttemptID{first, second}
		}, []evidence.Kind{evidence.TwoLeases}},
		{"in no place", func(e *evidence.Evidence) {
			e.Lines, e.Stored[1].Result, e.Released = e.Lines[:5], seqlease.AttemptID{}, e.Released[:1]
			e.Listed[two] = seqlease.Received
		}, []evidence.Kind{evidence.NoPlace, evidence.Unfinished, evidence.Unfinished}},
		{"not listed", func(e *evidence.Evidence) { delete(e.Listed, two) }, []evidence.Kind{evidence.Disagreement}},
		{"listed and not stored", func(e *evidence.Evidence) {
			e.Listed[seqlease.AccessionVersion{Accession: "A3", Version: 1}] = seqlease.Processed
		}, []evidence.Kind{evidence.Disagreement}},
		{"released as of another attempt", func(e *evidence.Evidence) { e.Released[1] = released(two, first) }, []evidence.Kind{evidence.Disagreement}},
		{"released with another entry's result", func(e *evidence.Evidence) {
			e.Released[1].Proof = evidence.Proof(one, third)
		}, []evidence.Kind{evidence.Disagreement}},
		{"released twice", func(e *evidence.Evidence) {
			e.Released = append(e.Released, e.Released[0])
		}, []evidence.Kind{evidence.Disagreement}},
		{"approved and not released", func(e *evidence.Evidence) { e.Released = e.Released[:1] }, []evidence.Kind{evidence.Disagreement}},
		{"an accepted upload is gone", func(e *evidence.Evidence) {
			e.Uploads[1].Stored = map[string]seqlease.AccessionVersion{"v1": {Accession: "A3", Version: 1}}
		}, []evidence.Kind{evidence.UploadLost}},
		{"an upload is stored in part", func(e *evidence.Evidence) {
			e.Uploads[1].SubmissionIDs = []string{"u1", "v1"}
		}, []evidence.Kind{evidence.UploadTorn}},
		{"a refused upload is stored", func(e *evidence.Evidence) {
			e.Uploads[0].Stored, e.Uploads[0].Refused = nil, true
		}, []evidence.Kind{evidence.UploadTorn}},
		{"a poisoned entry is quarantined", func(e *evidence.Evidence) {
			e.Lines, e.Stored[1].Quarantined, e.Stored[1].Result = e.Lines[:5], true, seqlease.NewAttemptID()
			e.Listed[two], e.Released, e.Uploads[0].Poisoned = seqlease.Processed, e.Released[:1], "u2"
		}, nil},
		{"a poisoned entry is processed", func(e *evidence.Evidence) { e.Uploads[0].Poisoned = "u2" }, []evidence.Kind{evidence.Spared}},
		{"an upload is stored twice", func(e *evidence.Evidence) {
			e.Stored[1].SubmissionID = "u1"
			e.Uploads = []evidence.Upload{{SubmissionIDs: []string{"u1"}}}
		}, []evidence.Kind{evidence.UploadTwice}},
	} {
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
