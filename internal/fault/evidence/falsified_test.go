package evidence_test

import (
	"github.com/seqlease/seqlease"
	"github.com/seqlease/seqlease/internal/fault/evidence"
)

// late has the first worker send its result at 13, when its lease has ended and
// nobody else has claimed the entry.
func late(e *evidence.Evidence) {
	e.Lines[3] = line("slow", evidence.CallSubmit, 13, 204, held(one, first))
	e.Lines = append(e.Lines[:1], e.Lines[3:]...)
	e.Stored[0].Result, e.Released[0] = first, released(one, first)
}

// again has the second entry processed by another attempt too.
func again(e *evidence.Evidence) {
	e.Lines = append(e.Lines, line("quick", evidence.CallClaim, 20, 200, held(two, fourth)), line("quick", evidence.CallSubmit, 21, 204, held(two, fourth)))
	e.Stored[1].Result, e.Released[1] = fourth, released(two, fourth)
}

// falsifications are the ways in which a good run can be falsified, and what is to
// be found.
var falsifications = []struct {
	name    string
	falsify func(*evidence.Evidence)
	want    []evidence.Kind
}{
	{"nothing", func(*evidence.Evidence) {}, nil},
	{"the late result is accepted too", func(e *evidence.Evidence) {
		e.Lines[3] = line("slow", evidence.CallSubmit, 13, 204, held(one, first))
	}, []evidence.Kind{evidence.Twice, evidence.Late}},
	{"the late result overwrites the accepted one", func(e *evidence.Evidence) {
		e.Stored[0].Result, e.Released[0] = first, released(one, first)
	}, []evidence.Kind{evidence.Lost, evidence.StoredRefused, evidence.Late}},
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
	{"handed out again after a crash just after the claim", func(e *evidence.Evidence) {
		e.Lines[1].Sent, e.Lines[1].Got = 9, 9.1
		e.Crashes = []evidence.Span{{From: 1, Until: 2}}
	}, nil},
	{"handed out again after a crash long after the claim", func(e *evidence.Evidence) {
		e.Lines[1].Sent, e.Lines[1].Got = 9, 9.1
		e.Crashes = []evidence.Span{{From: 5, Until: 6}}
	}, []evidence.Kind{evidence.HeldAtOnce}},
	{"handed out again after a crash just before the claim", func(e *evidence.Evidence) {
		e.Lines[0].Sent, e.Lines[0].Got = 2.1, 2.2
		e.Lines[1].Sent, e.Lines[1].Got = 9, 9.1
		e.Crashes = []evidence.Span{{From: 1, Until: 2}}
	}, []evidence.Kind{evidence.HeldAtOnce}},
	{"handed out again after a crash that the claim survived", func(e *evidence.Evidence) {
		e.Lines[1].Sent, e.Lines[1].Got = 9, 9.1
		e.Crashes = []evidence.Span{{From: 1, Until: 2}}
		e.Lines = append(e.Lines, line("slow", evidence.CallRenew, 5, 200, []evidence.Held{{AttemptID: first, LeaseSeconds: 10}}))
	}, []evidence.Kind{evidence.HeldAtOnce}},
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
	{"sent first after the lease end", late, []evidence.Kind{evidence.Late}},
	{"stored without an answer, and sent first after the lease end", func(e *evidence.Evidence) {
		late(e)
		e.Lines[1].Status = 0
	}, []evidence.Kind{evidence.Late}},
	{"sent late, but the lease was renewed", func(e *evidence.Evidence) {
		late(e)
		e.Lines = append(e.Lines, line("slow", evidence.CallRenew, 5, 200, []evidence.Held{{AttemptID: first, LeaseSeconds: 10}}))
	}, nil},
	{"sent late, and renewing was refused", func(e *evidence.Evidence) {
		late(e)
		e.Lines = append(e.Lines, line("slow", evidence.CallRenew, 9, 409, []evidence.Held{{AttemptID: first}}))
	}, []evidence.Kind{evidence.Late}},
	{"sent late, but renewing got no answer", func(e *evidence.Evidence) {
		late(e)
		e.Lines = append(e.Lines, line("slow", evidence.CallRenew, 9, 0, []evidence.Held{{AttemptID: first}}))
	}, nil},
	{"sent first too late, and in time before", func(e *evidence.Evidence) {
		late(e)
		e.Lines = append(e.Lines, line("slow", evidence.CallSubmit, 9, 0, held(one, first)))
	}, nil},
	{"sent after the database's clock was put ahead", func(e *evidence.Evidence) {
		e.Jumps = []float64{11.5}
	}, []evidence.Kind{evidence.Late}},
	{"sent after the lease was freed", func(e *evidence.Evidence) {
		e.Endings = []evidence.Ending{{Span: evidence.Span{From: 11.2, Until: 11.5}, Held: evidence.Held{AttemptID: second}}}
	}, []evidence.Kind{evidence.Late}},
	{"freed without an answer", func(e *evidence.Evidence) {
		e.Endings = []evidence.Ending{{Span: evidence.Span{From: 11.2}, Held: evidence.Held{AttemptID: second}}}
	}, nil},
	{"sent after the entry was put in quarantine", func(e *evidence.Evidence) {
		e.Endings = []evidence.Ending{{Span: evidence.Span{From: 11.2, Until: 11.5}, Held: evidence.Held{AccessionVersion: one}}}
	}, []evidence.Kind{evidence.Late}},
	{"put in quarantine before the claim", func(e *evidence.Evidence) {
		e.Endings = []evidence.Ending{{Span: evidence.Span{From: 10.2, Until: 10.5}, Held: evidence.Held{AccessionVersion: one}}}
	}, nil},
	{"handed out again after the lease was freed", func(e *evidence.Evidence) {
		e.Lines[1].Sent, e.Lines[1].Got = 9, 9.1
		e.Endings = []evidence.Ending{{Span: evidence.Span{From: 8, Until: 8.1}, Held: evidence.Held{AttemptID: first}}}
	}, nil},
	{"handed out again after another's lease was freed", func(e *evidence.Evidence) {
		e.Lines[1].Sent, e.Lines[1].Got = 9, 9.1
		e.Endings = []evidence.Ending{{Span: evidence.Span{From: 8, Until: 8.1}, Held: evidence.Held{AttemptID: third}}}
	}, []evidence.Kind{evidence.HeldAtOnce}},
	{"handed out while paused", func(e *evidence.Evidence) {
		e.Pauses = []evidence.Span{{From: 10.9, Until: 12}}
	}, []evidence.Kind{evidence.PausedClaim}},
	{"handed out before the pause and after it", func(e *evidence.Evidence) {
		e.Pauses = []evidence.Span{{From: 11.05, Until: 14}}
	}, nil},
	{"accepted twice, as it was processed again", func(e *evidence.Evidence) {
		again(e)
		e.Reprocessed = map[seqlease.AccessionVersion]int{two: 1}
	}, nil},
	{"accepted twice, without being processed again", again, []evidence.Kind{evidence.Twice}},
	{"processed again, and the old result came back", func(e *evidence.Evidence) {
		again(e)
		e.Reprocessed = map[seqlease.AccessionVersion]int{two: 1}
		e.Stored[1].Result, e.Released[1] = third, released(two, third)
	}, []evidence.Kind{evidence.Lost}},
	{"processed again without an answer", func(e *evidence.Evidence) {
		again(e)
		e.Lines[len(e.Lines)-1].Status = 0
		e.Reprocessed = map[seqlease.AccessionVersion]int{two: 1}
	}, nil},
}
