package queue

import (
	"strings"
	"testing"

	"github.com/seqlease/seqlease"
)

func TestVerdict_L9_SaysWhatTheSubmitterNeeds(t *testing.T) {
	t.Parallel()
	av := seqlease.AccessionVersion{Accession: "MOSS_1", Version: 1}
	given := func(reason string) Failure { return Failure{Kind: FailureGivenBack, Counted: true, Reason: reason} }
	for _, tc := range []struct {
		name   string
		ticket SpentTicket
		want   string
	}{
		{
			"attempts",
			SpentTicket{AccessionVersion: av, PipelineVersion: 3, Attempts: 5, HandOuts: 5, Failures: []Failure{
				given("aligner crashed\n\x1b[31mat MOSS_1"), {Kind: FailureExpired}, given("aligner crashed at MOSS_1"), {Kind: FailureExpired}, given("out of memory"),
			}},
			"preprocessing gave up on this entry after 5 attempts with pipeline version 3; what happened, the latest first: " +
				"the pipeline gave the entry back (3 times), the pipeline didn't answer before its time was over (2 times). " +
				`The reasons given: "aligner crashed at MOSS_1"; "out of memory". An operator can have it processed again; editing the entry does so, too`,
		},
		{
			"hand-outs",
			SpentTicket{AccessionVersion: av, PipelineVersion: 1, Attempts: 1, HandOuts: 51, Failures: []Failure{{Kind: FailureUndelivered}}},
			"preprocessing gave up on this entry after 1 attempt with pipeline version 1 and 50 hand-outs that cost no attempt; " +
				"what happened, the latest first: the entry didn't reach the pipeline (1 time). " +
				"An operator can have it processed again; editing the entry does so, too",
		},
		{
			"nothing known",
			SpentTicket{AccessionVersion: av, PipelineVersion: 1, Attempts: 5, HandOuts: 5},
			"preprocessing gave up on this entry after 5 attempts with pipeline version 1. An operator can have it processed again; editing the entry does so, too",
		},
	} {
		if got := verdictOn(tc.ticket, DefaultRetry); got != tc.want {
			t.Errorf("%s:\n got %s\nwant %s", tc.name, got, tc.want)
		}
	}
}

func TestVerdict_WordsOfWorkersAreCut(t *testing.T) {
	t.Parallel()
	var failures []Failure
	for i := range 10 {
		failures = append(failures, Failure{Kind: FailureGivenBack, Reason: strings.Repeat(string(rune('a'+i)), MaxReasonBytes)})
	}
	got := verdictOn(SpentTicket{Attempts: 5, HandOuts: 5, Failures: failures}, DefaultRetry)
	if len(got) > MaxReasonBytes || !seqlease.IsStorable(got) {
		t.Errorf("%d bytes, want at most %d storable ones", len(got), MaxReasonBytes)
	}
	if !strings.Contains(got, "bbb…") || strings.Contains(got, "ddd") || !strings.HasSuffix(got, "does so, too") {
		t.Errorf("got %s", got)
	}
}

func TestVerdict_EveryKindHasWords(t *testing.T) {
	t.Parallel()
	for _, kind := range []FailureKind{FailureExpired, FailureGivenBack, FailureUndelivered, FailureRefused, FailureFreed, FailureDamaged} {
		if kind.words() == string(kind) || !strings.Contains(kind.words(), " ") {
			t.Errorf("%s has no words for submitters", kind)
		}
	}
}

func TestVerdict_OfAnOperator(t *testing.T) {
	t.Parallel()
	if got, want := operatorVerdict("broken\x00 upload"), "an operator took this entry out of preprocessing: broken\uFFFD upload"; got != want {
		t.Errorf("got %q, want %q", got, want)
	}
	if got := operatorVerdict(""); strings.Contains(got, ":") {
		t.Errorf("got %q", got)
	}
	if got := operatorVerdict(strings.Repeat("é", MaxReasonBytes)); len(got) > MaxReasonBytes || !seqlease.IsStorable(got) {
		t.Errorf("got %d bytes", len(got))
	}
}
