package storetest

import (
	"errors"
	"regexp"
	"testing"
	"time"

	"github.com/seqlease/seqlease"
	"github.com/seqlease/seqlease/internal/queue"
	"github.com/seqlease/seqlease/internal/submission"
)

// wordCases check what people read when something is refused: every store says
// it in the same words.
func wordCases() []testCase {
	return []testCase{
		{name: "L5_RefusalsSayTheSameWhateverTheStore", check: wordsOfRefusals},
		{name: "L3_ALeaseThatEndedIsNamedWithItsEnd", check: wordsOfEndedLease},
		{name: "ErrorsSayTheSameWhateverTheStore", check: wordsOfErrors},
	}
}

// wantWords checks the details of the refused lines.
func wantWords(t *testing.T, err error, want ...string) {
	t.Helper()
	var refusal *seqlease.RefusedError
	if !errors.As(err, &refusal) {
		t.Fatalf("got error %v, want a refusal of %d lines", err, len(want))
	}
	got := make([]string, len(refusal.Refused))
	for i, r := range refusal.Refused {
		got[i] = r.Detail
	}
	wantSame(t, "details", got, want)
}

func wordsOfRefusals(t *testing.T, h Harness) {
	f := newFixture(t, h)
	f.submit(t, 4)
	foreign := f.submitTo(t, CCHF, 1)
	lease := f.claim(t, 4)
	lines := f.lines(t, lease)
	f.mustAccept(t, lines[0], lines[1])
	f.mustEdit(t, lines[1].AccessionVersion, submitted(1))
	missing := seqlease.AccessionVersion{Accession: seqlease.NewAccession(prefix, 999_999), Version: 1}
	stranger := f.line(t, 7, lines[3].AccessionVersion, seqlease.NewAttemptID(), "x", seqlease.NoIssues)
	wrong := []queue.Line{
		f.line(t, 1, lines[0].AccessionVersion, lease.AttemptID, "different", seqlease.NoIssues),
		f.line(t, 2, lines[1].AccessionVersion, lease.AttemptID, "of the old data", seqlease.NoIssues),
		f.line(t, 3, missing, lease.AttemptID, "of nothing", seqlease.NoIssues),
		f.line(t, 4, foreign[0], lease.AttemptID, "of another organism", seqlease.NoIssues),
		f.line(t, 5, lines[2].AccessionVersion, lease.AttemptID, "first", seqlease.NoIssues),
		f.line(t, 6, lines[2].AccessionVersion, lease.AttemptID, "second", seqlease.NoIssues),
		stranger,
	}
	attempt := stranger.AttemptID.String()
	wantWords(t, f.accept(t, wrong...),
		"another result of "+lines[0].String()+" was accepted from this attempt and stays: drop this one",
		lines[1].String()+" was edited after it was claimed: drop the result; the entry is handed out again",
		missing.String()+" doesn't exist, or was deleted: drop the result",
		foreign[0].String()+" is of organism "+string(CCHF)+", not "+string(WestNile)+": send its result there",
		"lines 5 and 6 both hold a result of "+lines[2].String()+": send one result for each entry",
		"attempt "+attempt+" of this user doesn't hold "+stranger.String()+" any more, or never did: drop the result; "+
			"what isn't processed is handed out again")

	other := results(lines[2])
	other.PipelineVersion = 2
	wantWords(t, f.submitResults(t, other),
		"attempt "+lease.AttemptID.String()+" claimed "+lines[2].String()+" for pipeline version 1, not 2: send the result with that version")
	f.mustAccept(t, lines[2], lines[3])
}

func wordsOfEndedLease(t *testing.T, h Harness) {
	f := newFixture(t, h)
	f.submit(t, 1)
	lease := f.claim(t, 1)
	f.age(t, leaseTime)
	err := f.accept(t, f.lines(t, lease)...)
	var refusal *seqlease.RefusedError
	if !errors.As(err, &refusal) || len(refusal.Refused) != 1 {
		t.Fatalf("got error %v, want one refused line", err)
	}
	detail := refusal.Refused[0].Detail
	parts := regexp.MustCompile(`^the lease of attempt (\S+) ended at (\S+): drop the result; (\S+) is handed out again, ` +
		`ask for a longer lease if it takes longer$`).FindStringSubmatch(detail)
	if parts == nil || parts[1] != lease.AttemptID.String() || parts[3] != refusal.Refused[0].String() {
		t.Fatalf("detail %q", detail)
	}
	end, err := time.Parse(time.RFC3339, parts[2])
	if err != nil {
		t.Fatalf("detail %q: %v", detail, err)
	}
	wantBetween(t, "the end", end, lease.Until.Add(-leaseTime-time.Second), lease.Until.Add(-leaseTime))
}

func wordsOfErrors(t *testing.T, h Harness) {
	f := newFixture(t, h)
	outdated, unknown := ask(1), ask(1)
	outdated.PipelineVersion, unknown.PipelineVersion = 0, 2
	foreign := ask(1)
	foreign.Organism = "fern"
	claim := func(c queue.Claim) error { _, err := f.Claim(t.Context(), c); return err }
	submit := func(change func(*submission.Upload)) error {
		upload := f.upload(1)
		change(&upload)
		_, err := f.Submit(t.Context(), upload)
		return err
	}
	_, _, noGroup := f.Group(t.Context(), 999)
	lost := f.claim(t, 1).AttemptID
	const lostLease = " of this user holds nothing in " + string(WestNile) + ": "
	const handedOut = "; what isn't processed is handed out again"
	_, notRenewed := f.Renew(t.Context(), queue.Renew{Organism: WestNile, AttemptID: lost, ClaimedBy: worker})
	_, notReturned := f.GiveBack(t.Context(), returned(lost))
	const unknownGroup = "there is no group 999: create a group, or name one that you are a member of"
	const unknownOrganism = `organism "fern" is not registered in this store: start a server whose configuration names it`
	for _, c := range []struct {
		want string
		err  error
	}{
		{"pipeline version 0 of " + string(WestNile) + " is outdated, version 1 is current: update the pipeline", claim(outdated)},
		{"pipeline version 2 of " + string(WestNile) + " is not registered, version 1 is current: claim with that", claim(unknown)},
		{unknownOrganism, claim(foreign)},
		{unknownOrganism, submit(func(u *submission.Upload) { u.Organism = "fern" })},
		{unknownGroup, submit(func(u *submission.Upload) { u.GroupID = 999 })},
		{unknownGroup, noGroup},
		{"attempt " + lost.String() + lostLease + "stop working on its entries" + handedOut, notRenewed},
		{"attempt " + lost.String() + lostLease + "nothing is left to give back" + handedOut, notReturned},
	} {
		if got := seqlease.Explanation(c.err); got != c.want {
			t.Errorf("got  %q\nwant %q", got, c.want)
		}
	}
}
