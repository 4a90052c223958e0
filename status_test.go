package seqlease

import (
	"slices"
	"testing"
)

func TestStatusesAndResultsAreAsOnTheWire(t *testing.T) {
	t.Parallel()
	if got, want := Statuses(), []Status{"RECEIVED", "IN_PROCESSING", "PROCESSED", "APPROVED_FOR_RELEASE"}; !slices.Equal(got, want) {
		t.Errorf("got statuses %q, want %q", got, want)
	}
	if got, want := ProcessingResults(), []ProcessingResult{"NO_ISSUES", "HAS_WARNINGS", "HAS_ERRORS"}; !slices.Equal(got, want) {
		t.Errorf("got results %q, want %q", got, want)
	}
	Statuses()[0] = "changed"
	if Statuses()[0] != Received {
		t.Error("a caller can change the list of statuses")
	}
}

func TestDeletionScopesTakeWhatMayBeDeleted(t *testing.T) {
	t.Parallel()
	if got, want := DeletionScopes(), []DeletionScope{"ALL", "PROCESSED_WITH_ERRORS", "PROCESSED_WITH_WARNINGS"}; !slices.Equal(got, want) {
		t.Errorf("got scopes %q, want %q", got, want)
	}
	taken := map[DeletionScope][]string{}
	for _, scope := range append(DeletionScopes(), "SOME") {
		for _, status := range Statuses() {
			for _, result := range ProcessingResults() {
				if scope.Takes(status, result) {
					taken[scope] = append(taken[scope], string(status)+" "+string(result))
				}
			}
		}
	}
	for scope, want := range map[DeletionScope][]string{
		DeleteAll: {
			"RECEIVED NO_ISSUES", "RECEIVED HAS_WARNINGS", "RECEIVED HAS_ERRORS",
			"PROCESSED NO_ISSUES", "PROCESSED HAS_WARNINGS", "PROCESSED HAS_ERRORS",
		},
		DeleteWithErrors: {"PROCESSED HAS_ERRORS"}, DeleteWithWarnings: {"PROCESSED HAS_WARNINGS"}, "SOME": nil,
	} {
		if !slices.Equal(taken[scope], want) {
			t.Errorf("%s takes %q, want %q", scope, taken[scope], want)
		}
	}
}

func TestPersonHasRole(t *testing.T) {
	t.Parallel()
	p := Person{Name: "anna", Roles: []Role{"offline_access", SuperUser}}
	for role, want := range map[Role]bool{SuperUser: true, PreprocessingPipeline: false, ExternalMetadataUpdater: false, "": false} {
		if got := p.Has(role); got != want {
			t.Errorf("role %q: got %t, want %t", role, got, want)
		}
	}
	if (Person{}).Has(SuperUser) {
		t.Error("nobody is a super user")
	}
}

func TestIsStorable(t *testing.T) {
	t.Parallel()
	for text, want := range map[string]bool{
		"": true, "plain": true, "\U0001f9a0\u2028\ufeff\u0001": true, `\u0000`: true, "\ufffd": true,
		"\x00": false, "a\x00b": false, "\xff": false, "\xed\xa0\x80": false, "\xc0\x80": false, "caf\xe9": false,
	} {
		if got := IsStorable(text); got != want {
			t.Errorf("%q: got %t, want %t", text, got, want)
		}
	}
}
