package sqlite

import (
	"regexp"
	"strings"
	"testing"
)

// explain returns the plan of a statement, one step a line.
func explain(t *testing.T, s *Store, name string) string {
	t.Helper()
	texts, err := statementTexts()
	if err != nil {
		t.Fatal(err)
	}
	text, found := texts[name]
	if !found {
		t.Fatalf("there is no statement %q", name)
	}
	text = regexp.MustCompile(`@\w+`).ReplaceAllString(text, "NULL") // plans don't depend on arguments
	text = strings.ReplaceAll(text, "?", "NULL")
	rows, err := outsider(t, s).QueryContext(t.Context(), "EXPLAIN QUERY PLAN "+text)
	if err != nil {
		t.Fatalf("%s: %v", name, err)
	}
	defer rows.Close() //nolint:errcheck // rows.Err tells
	var plan strings.Builder
	for rows.Next() {
		var id, parent, unused int
		var step string
		if err := rows.Scan(&id, &parent, &unused, &step); err != nil {
			t.Fatal(err)
		}
		plan.WriteString(step + "\n")
	}
	if err := rows.Err(); err != nil {
		t.Fatal(err)
	}
	return plan.String()
}

// The queue's statements go by its keys, whatever the tables hold: none sorts,
// none scans a table.
func TestPlans_GoByTheKeys(t *testing.T) {
	t.Parallel()
	s := newStore(t)
	scan := regexp.MustCompile(`(?m)^SCAN (ticket|lease|leased|entry|result|submitted|e|d|l|r|s|t)\b.*$`)
	for _, c := range []struct {
		statement string
		want      []string
		sorts     bool
	}{
		{"claim_state", []string{"SEARCH t USING PRIMARY KEY (organism_id=? AND pipeline_version=? AND entry_id>?", "USING COVERING INDEX lease_by_end"}, false},
		{"claim_take_tickets", []string{"SEARCH ticket USING PRIMARY KEY (organism_id=? AND pipeline_version=? AND entry_id>?"}, false},
		{"claim_cut_tickets", []string{"SEARCH ticket USING PRIMARY KEY (organism_id=? AND pipeline_version=? AND entry_id=?)"}, false},
		{"claim_take_ended", []string{"SEARCH l USING COVERING INDEX lease_by_end", "SEARCH d USING", "SEARCH leased USING PRIMARY KEY"}, true}, // what is taken, for its places
		{"claim_drop_ended", []string{"SEARCH l USING COVERING INDEX lease_by_end", "SEARCH lease USING PRIMARY KEY"}, false},
		{"read_claimed", []string{"SEARCH d USING INDEX leased_by_attempt (attempt_id=? AND position>?"}, false},
		{"read_claimed_keys", []string{"SEARCH d USING INDEX leased_by_attempt (attempt_id=? AND position>?"}, false},
		{"accept_results of 100", []string{"SEARCH d USING PRIMARY KEY (pipeline_version=? AND entry_id=?)"}, false},
		{"judge_results", []string{"SEARCH d USING PRIMARY KEY (pipeline_version=? AND entry_id=?)"}, false},
		{"cut_accepted", []string{"SEARCH leased USING INDEX leased_by_attempt"}, false},
		{"give_back", []string{"SEARCH leased USING INDEX leased_by_attempt"}, false},
		{"entry_states", []string{"SEARCH e USING INDEX sqlite_autoindex_entry_1 (accession=? AND version=?)"}, false},
		{"approve_all", []string{"SEARCH e USING INDEX entry_unreleased"}, false},
		{"approve_listed", []string{"(organism_id=? AND accession=? AND version=?)"}, false},
		{"list", []string{"SEARCH e USING INDEX entry_in_order (organism_id=?)"}, false},
		{"read_released", []string{"SEARCH e USING INDEX entry_in_order (organism_id=?)"}, false},
	} {
		t.Run(c.statement, func(t *testing.T) {
			t.Parallel()
			plan := explain(t, s, c.statement)
			for _, step := range c.want {
				if !strings.Contains(plan, step) {
					t.Errorf("the plan lacks %q:\n%s", step, plan)
				}
			}
			if strings.Contains(plan, "USE TEMP B-TREE") && !c.sorts {
				t.Errorf("the plan sorts:\n%s", plan)
			}
			plan = strings.ReplaceAll(plan, "SCAN r\n", "") // the rows of VALUES
			if found := scan.FindString(plan); found != "" && c.statement != "claim_take_tickets" {
				t.Errorf("the plan scans a table (%s):\n%s", found, plan)
			}
		})
	}
}
