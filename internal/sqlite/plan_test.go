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
		{"claim_state", []string{
			"SEARCH t USING PRIMARY KEY (organism_id=? AND pipeline_version=? AND lane<?)", "USING COVERING INDEX ticket_run_in_order",
			"USING COVERING INDEX lease_by_end",
		}, false},
		{"claim_take_tickets", []string{"SEARCH ticket USING PRIMARY KEY (organism_id=? AND pipeline_version=? AND lane>? AND lane<?)"}, false},
		{"claim_cut_tickets", []string{"SEARCH ticket USING INDEX ticket_by_entry (pipeline_version=? AND entry_id=?)"}, false},
		{"claim_nth_rank", []string{"SEARCH ticket USING PRIMARY KEY (organism_id=? AND pipeline_version=? AND lane=?)"}, false},
		{"claim_note", []string{"SEARCH leased USING INDEX leased_by_attempt (attempt_id=? AND position>?)"}, false},
		{"ticket_runs", []string{"ticket_run_in_order (organism_id=? AND pipeline_version=?)"}, false},
		{"ticket_heads", []string{"SEARCH ticket USING PRIMARY KEY (organism_id=? AND pipeline_version=? AND lane=?)"}, false},
		{"claim_take_run", []string{
			"SEARCH e USING INTEGER PRIMARY KEY (rowid>? AND rowid<?)", "SEARCH t USING COVERING INDEX ticket_by_entry (pipeline_version=? AND entry_id=?)",
			"SEARCH d USING PRIMARY KEY (pipeline_version=? AND entry_id=?)", "SEARCH r USING INDEX sqlite_autoindex_result_1 (pipeline_version=? AND entry_id=?)",
		}, false},
		{"claim_run_untouched", []string{
			"SEARCH t USING COVERING INDEX ticket_by_entry (pipeline_version=? AND entry_id>? AND entry_id<?)",
			"SEARCH d USING PRIMARY KEY (pipeline_version=? AND entry_id>? AND entry_id<?)",
			"SEARCH r USING COVERING INDEX sqlite_autoindex_result_1 (pipeline_version=? AND entry_id>? AND entry_id<?)",
		}, false},
		{"claim_take_untouched", []string{"SEARCH e USING INTEGER PRIMARY KEY (rowid>? AND rowid<?)"}, false},
		{"claim_take_runs", []string{
			"SEARCH t USING PRIMARY KEY (organism_id=? AND pipeline_version=? AND lane=? AND rank<?)",
			"ticket_run_in_order (organism_id=? AND pipeline_version=? AND rank<?)", "SEARCH e USING INTEGER PRIMARY KEY (rowid>? AND rowid<?)",
		}, true}, // by rank: what the claim takes
		{"claim_close_gaps", []string{"SEARCH d USING COVERING INDEX leased_by_attempt (attempt_id=? AND position>?)"}, false},
		{"write_out_tickets", []string{"ticket_run_in_order (organism_id=? AND pipeline_version=? AND rank<?)", "SEARCH e USING INTEGER PRIMARY KEY"}, false},
		{"end_runs", []string{"ticket_run_in_order (organism_id=? AND pipeline_version=? AND rank<?)"}, false},
		{"shorten_runs", []string{"ticket_run_in_order (organism_id=? AND pipeline_version=? AND rank<?)"}, false},
		{"ended_places", []string{"SEARCH l USING COVERING INDEX lease_by_end", "SEARCH d USING"}, false},
		{"wait_again", []string{"SEARCH d USING PRIMARY KEY (pipeline_version=? AND entry_id=?)"}, false},
		{"note_failures", []string{"SEARCH d USING PRIMARY KEY (pipeline_version=? AND entry_id=?)"}, false},
		{"note_lost", []string{"SEARCH e USING INTEGER PRIMARY KEY"}, false},
		{"lost", []string{"SEARCH lost USING PRIMARY KEY (attempt_id=?)"}, false},
		{"select_entries", []string{"SEARCH e USING INTEGER PRIMARY KEY (rowid>?)"}, false},
		{"cut_places", []string{"SEARCH leased USING PRIMARY KEY (pipeline_version=? AND entry_id=?)"}, false},
		{"first_rank", []string{"SEARCH t USING PRIMARY KEY (organism_id=? AND pipeline_version=? AND lane=?)", "ticket_run_in_order"}, false},
		{"renew", []string{"SEARCH lease USING PRIMARY KEY"}, false},
		{"stirred", []string{"SEARCH l USING COVERING INDEX lease_by_end"}, true}, // the awaited queues
		{"give_back_places", []string{"SEARCH leased USING COVERING INDEX leased_by_attempt (attempt_id=?)"}, false},
		{"give_back_listed", []string{"SEARCH d USING PRIMARY KEY (pipeline_version=? AND entry_id=?)"}, true},           // the listed entries
		{"submit_turns", []string{"SEARCH t USING PRIMARY KEY (organism_id=? AND pipeline_version=? AND lane=?)"}, true}, // the group and all
		{"submit_ticket_runs", []string{"SEARCH r USING INDEX upload_run_by_upload"}, true},                              // the runs of the upload
		{"edit_tickets", []string{"SEARCH t USING PRIMARY KEY (organism_id=? AND pipeline_version=? AND lane=?)"}, false},
		{"end_quarantine", []string{"SEARCH quarantine USING PRIMARY KEY (pipeline_version=? AND entry_id=?)"}, false},
		{"note_refusals", []string{"SEARCH d USING PRIMARY KEY (pipeline_version=? AND entry_id=?)"}, false},
		{"spent", []string{"SEARCH t USING PRIMARY KEY (organism_id=? AND pipeline_version=? AND lane=?)"}, false},
		{"failures", []string{"SEARCH x USING INDEX failure_by_entry (entry_id=?)"}, true}, // of one entry
		{"quarantine_spent of 100", []string{"SEARCH t USING INDEX ticket_by_entry (pipeline_version=? AND entry_id=?)"}, false},
		{"quarantine_results of 100", []string{"SEARCH q USING PRIMARY KEY (pipeline_version=? AND entry_id=?)"}, false},
		{"quarantine_cut_tickets", []string{"SEARCH ticket USING INDEX ticket_by_entry (pipeline_version=? AND entry_id=?)"}, false},
		{"trim_claims", []string{"claim_record_by_start"}, false},
		{"trim_failures", []string{"failure_by_time"}, false},
		{"reconcile_find", []string{"SEARCH t USING COVERING INDEX ticket_by_entry (pipeline_version=? AND entry_id=?)"}, true}, // one page
		{"requeue_tickets", []string{"SEARCH t USING PRIMARY KEY (organism_id=? AND pipeline_version=? AND lane=?)"}, true},
		{"put_in_quarantine", []string{"SEARCH t USING INDEX ticket_by_entry (pipeline_version=? AND entry_id=?)"}, false},
		{"reprocess_tickets", []string{"SEARCH t USING COVERING INDEX ticket_by_entry (pipeline_version=? AND entry_id=?)"}, true}, // one page
		{"failed_results", []string{"result_with_errors (pipeline_version=? AND entry_id>?)"}, false},
		{"quarantined", []string{"quarantine_in_order (organism_id=? AND entry_id>?"}, true},              // one page
		{"history_claims", []string{"claim_record_by_entries (organism_id=? AND last_entry_id>?)"}, true}, // one entry's
		{"history_failures", []string{"failure_by_entry (entry_id=?)"}, true},                             // one entry's
		{"failing_workers", []string{"failure_by_time (at>?)"}, true},                                     // the recent ones
		{"judge_results", []string{"failure_by_entry (entry_id=?)"}, false},
		{"read_claimed", []string{"SEARCH d USING INDEX leased_by_attempt (attempt_id=? AND position>?"}, false},
		{"read_claimed_keys", []string{"SEARCH d USING INDEX leased_by_attempt (attempt_id=? AND position>?"}, false},
		{"return_turns", []string{"SEARCH t USING COVERING INDEX ticket_by_entry (pipeline_version=? AND entry_id=?)", "SEARCH turn"}, true},
		{"judge_results", []string{"SEARCH d USING PRIMARY KEY (pipeline_version=? AND entry_id=?)"}, false},
		{"accept_results of 100", []string{
			"SEARCH e USING INDEX sqlite_autoindex_entry_1 (accession=? AND version=?)",
			"SEARCH d USING PRIMARY KEY (pipeline_version=? AND entry_id=?)", "SCALAR SUBQUERY", "SEARCH l USING PRIMARY KEY (attempt_id=?)",
		}, false},
		{"accept_state", []string{"quarantine_in_order (organism_id=?)"}, false},
		{"lease_holds", []string{"SEARCH leased USING COVERING INDEX leased_by_attempt (attempt_id=?)"}, false},
		{"bump_released_by_lease", []string{
			"SEARCH d USING COVERING INDEX leased_by_attempt (attempt_id=?)", "SEARCH e USING INTEGER PRIMARY KEY", "SEARCH change USING PRIMARY KEY",
		}, false},
		{"cut_lease", []string{"SEARCH leased USING INDEX leased_by_attempt (attempt_id=?)"}, false},
		{"end_lease", []string{"SEARCH lease USING PRIMARY KEY (attempt_id=?)"}, false},
		{"accepted_entries of 100", []string{
			"SEARCH e USING COVERING INDEX sqlite_autoindex_entry_1 (accession=? AND version=?)",
			"SEARCH d USING PRIMARY KEY (pipeline_version=? AND entry_id=?)", "SEARCH s USING INDEX sqlite_autoindex_result_1 (pipeline_version=? AND entry_id=?)",
		}, false},
		{"cut_accepted", []string{"SEARCH leased USING PRIMARY KEY (pipeline_version=? AND entry_id=?)"}, false},
		{"entry_states", []string{"SEARCH e USING INDEX sqlite_autoindex_entry_1 (accession=? AND version=?)"}, false},
		{"approvable_all", []string{"SEARCH e USING INDEX entry_unreleased", "SEARCH r USING INDEX sqlite_autoindex_result_1"}, false},
		{"approvable_listed", []string{"(organism_id=? AND accession=? AND version=?)"}, false},
		{"approval_runs", []string{"approval_run_by_approval (approval_id=?)"}, false},
		{"approval_let_go", []string{"SEARCH approval_run USING"}, false},
		{"approval_write", []string{"SEARCH entry USING INTEGER PRIMARY KEY", "SEARCH e USING INTEGER PRIMARY KEY (rowid>? AND rowid<?)"}, false},
		{"deletion_still", []string{"SEARCH n USING", "SEARCH e USING COVERING INDEX entry_unreleased (organism_id=? AND id>? AND id<?)"}, false},
		{"deletion_leased", []string{"SEARCH d USING PRIMARY KEY (pipeline_version=? AND entry_id>? AND entry_id<?)"}, true}, // of a part
		{"deletion_runs", []string{"upload_run_by_upload (upload_id=?)"}, false},
		{"deletion_let_go", []string{"SEARCH upload_run USING"}, false},
		{"deletion_ticket_runs", []string{"SEARCH u USING PRIMARY KEY (pipeline_version=? AND first_entry_id>? AND first_entry_id<?)"}, false},
		{"deletion_turns", []string{
			"SEARCH t USING COVERING INDEX ticket_by_entry (pipeline_version=? AND entry_id>? AND entry_id<?)",
			"SEARCH u USING PRIMARY KEY (pipeline_version=? AND first_entry_id>? AND first_entry_id<?)", "SEARCH turn",
		}, true}, // of a part
		{"deletion_withdraw", []string{"SEARCH t USING INDEX ticket_by_entry (pipeline_version=? AND entry_id>? AND entry_id<?)"}, false},
		{"deletion_cut_tickets", []string{"SEARCH ticket USING INDEX ticket_by_entry (pipeline_version=? AND entry_id=?)"}, false},
		{"deletion_changed", []string{"SEARCH changed_entry USING PRIMARY KEY (upload_id=?)"}, false},
		{"deletion_note", []string{"SEARCH e USING INTEGER PRIMARY KEY (rowid>? AND rowid<?)"}, true}, // of a part
		{"deletion_restore", []string{"SEARCH e USING INTEGER PRIMARY KEY", "SEARCH r USING"}, false},
		{"deletion_forget_runs", []string{"SEARCH withdrawn_run USING PRIMARY KEY (pipeline_version=? AND first_entry_id>? AND first_entry_id<?)"}, false},
		{"deletion_results", []string{
			"SEARCH result USING INTEGER PRIMARY KEY", "SEARCH r USING COVERING INDEX sqlite_autoindex_result_1 (pipeline_version=? AND entry_id>? AND entry_id<?)",
		}, false},
		{"deletion_data", []string{"SEARCH submitted USING PRIMARY KEY (entry_id=? AND revision=?)", "SEARCH d USING PRIMARY KEY (entry_id>? AND entry_id<?)"}, false},
		{"deletion_failures", []string{"SEARCH f USING COVERING INDEX failure_by_entry (entry_id>? AND entry_id<?)"}, false},
		{"deletion_entries", []string{"SEARCH entry USING INTEGER PRIMARY KEY", "SEARCH e USING INTEGER PRIMARY KEY (rowid>? AND rowid<?)"}, false},
		{"approve_listed", []string{"(organism_id=? AND accession=? AND version=?)"}, false},
		{"list", []string{"SEARCH e USING INDEX entry_in_order (organism_id=?)", "SEARCH l USING COVERING INDEX lease_by_end"}, false},
		{"list_unreleased", []string{"SEARCH e USING INDEX entry_unreleased (organism_id=?)", "SEARCH e USING INTEGER PRIMARY KEY (rowid=?)"}, true},
		{"list_counts", []string{
			"SEARCH e USING COVERING INDEX entry_in_order (organism_id=?)", "SEARCH e USING COVERING INDEX entry_unreleased (organism_id=?)",
			"SEARCH l USING COVERING INDEX lease_by_end", "SEARCH r USING INDEX sqlite_autoindex_result_1 (pipeline_version=? AND entry_id=?)",
		}, false},
		{"read_released", []string{"SEARCH e USING INDEX entry_in_order (organism_id=?)"}, false},
		{"count_submitted", []string{"SEARCH e USING INDEX entry_in_order (organism_id=?)"}, false},
		{"read_submitted", []string{"SEARCH e USING INDEX entry_in_order (organism_id=?)", "SEARCH d USING PRIMARY KEY (entry_id=? AND revision=?)"}, false},
		{"count_revisable", []string{"SEARCH e USING INDEX entry_in_order (organism_id=?)"}, false},
		{"read_revisable", []string{"SEARCH e USING INDEX entry_in_order (organism_id=?)", "SEARCH d USING PRIMARY KEY (entry_id=? AND revision=?)"}, false},
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
