package sqlite

import (
	"regexp"
	"strings"
	"testing"
)

// V8: the counts come from the index of results, and from entry, which has no
// documents.
func TestPlans_V8_StatisticsReadNoDocuments(t *testing.T) {
	t.Parallel()
	plan := explain(t, newStore(t), "pipeline_statistics")
	for _, want := range []string{"SCAN r USING COVERING INDEX sqlite_autoindex_result_1", "SEARCH e USING INTEGER PRIMARY KEY (rowid=?)"} {
		if !strings.Contains(plan, want) {
			t.Errorf("no %q in:\n%s", want, plan)
		}
	}
}

// A journey is looked up by the keys of the entry, however large the tables are.
func TestPlans_JourneyGoesByTheEntry(t *testing.T) {
	t.Parallel()
	plan := explain(t, newStore(t), "journey")
	if scans := regexp.MustCompile(`(?m)^SCAN [acdepqrx]\b.*$`).FindAllString(plan, -1); len(scans) > 0 {
		t.Errorf("%q in:\n%s", scans, plan)
	}
	for _, want := range []string{
		"SEARCH a USING INDEX audit_by_entry (accession=? AND version=?)", "SEARCH r USING INDEX sqlite_autoindex_result_1 (pipeline_version=? AND entry_id=?)",
		"SEARCH d USING PRIMARY KEY (accession=? AND change_number>?)", "SEARCH x USING PRIMARY KEY (entry_id=?)",
	} {
		if !strings.Contains(plan, want) {
			t.Errorf("no %q in:\n%s", want, plan)
		}
	}
}
