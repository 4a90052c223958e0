package submission

import (
	"errors"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/seqlease/seqlease"
)

// TestNewVersionCheck_TellsTheFirstKindOfAllPages has faults of all kinds on both pages: a
// later page may have what comes first.
func TestNewVersionCheck_TellsTheFirstKindOfAllPages(t *testing.T) {
	t.Parallel()
	standing := func(accession seqlease.Accession, o seqlease.Organism, status seqlease.Status) Standing {
		return Standing{AccessionVersion: seqlease.AccessionVersion{Accession: accession, Version: 1}, Organism: o, Status: status}
	}
	good, foreign := standing("A", "zika", seqlease.ApprovedForRelease), standing("B", "cchf", seqlease.ApprovedForRelease)
	received, both := standing("C", "zika", seqlease.Received), standing("D", "cchf", seqlease.Processed)
	further := standing("E", "cchf", seqlease.ApprovedForRelease)
	wrongStatus := StateError{
		WrongStatus:  map[seqlease.AccessionVersion]seqlease.Status{received.AccessionVersion: seqlease.Received, both.AccessionVersion: seqlease.Processed},
		WantStatuses: []seqlease.Status{seqlease.ApprovedForRelease},
	}
	for name, tt := range map[string]struct {
		pages [][]Standing
		asked [][]seqlease.Accession // that don't exist, by page
		want  *StateError
	}{
		"nothing":               {[][]Standing{{good}, {}}, nil, nil},
		"organism on both":      {[][]Standing{{foreign, good}, {further}}, nil, &StateError{Foreign: map[seqlease.Organism][]seqlease.AccessionVersion{"cchf": {foreign.AccessionVersion, further.AccessionVersion}}}},
		"status after organism": {[][]Standing{{foreign, received}, {both, further}}, nil, &wrongStatus},
		"unknown last":          {[][]Standing{{foreign, received}, {both}}, [][]seqlease.Accession{nil, {"Z", "Y"}}, &StateError{Unknown: []seqlease.Accession{"Z", "Y"}}},
		"unknown on both":       {[][]Standing{{received}, {both}}, [][]seqlease.Accession{{"Z"}, {"Y"}}, &StateError{Unknown: []seqlease.Accession{"Z", "Y"}}},
	} {
		check := NewVersionCheck{Organism: "zika"}
		for i, page := range tt.pages {
			var accessions []seqlease.Accession
			if tt.asked != nil {
				accessions = append(accessions, tt.asked[i]...)
			}
			for _, st := range page {
				accessions = append(accessions, st.Accession)
			}
			check.Add(accessions, page)
		}
		var got *StateError
		if err := check.Err(); err != nil && !errors.As(err, &got) {
			t.Fatalf("%s: %v", name, err)
		}
		if diff := cmp.Diff(tt.want, got); diff != "" {
			t.Errorf("%s (-want +got):\n%s", name, diff)
		}
	}
}

func TestInOrderOf(t *testing.T) {
	t.Parallel()
	a := Standing{AccessionVersion: seqlease.AccessionVersion{Accession: "A", Version: 3}, GroupID: 1}
	b := Standing{AccessionVersion: seqlease.AccessionVersion{Accession: "B", Version: 2}, GroupID: 2}
	if diff := cmp.Diff([]Standing{b, {}, a}, InOrderOf([]seqlease.Accession{"B", "X", "A"}, []Standing{a, b})); diff != "" {
		t.Errorf("(-want +got):\n%s", diff)
	}
}
