package demo

import (
	"cmp"
	"fmt"
	"io"
	"slices"
	"strconv"
	"strings"

	"github.com/jedib0t/go-pretty/v6/table"
	"github.com/jedib0t/go-pretty/v6/text"
)

// Report says what happened. Its JSON form is a promise.
type Report struct {
	Organism string `json:"organism"`
	Store    string `json:"store"`   // "sqlite" or "postgres"
	Servers  int    `json:"servers"` // that shared the store
	Entries  int    `json:"entries"` // submitted
	// Processed counts entries with a result, with errors or without.
	Processed    int `json:"processed"`
	WithErrors   int `json:"withErrors"` // processed with errors; never released
	WithWarnings int `json:"withWarnings"`
	Released     int `json:"released"`
	Claims       int `json:"claims"` // that returned entries
	// ExpiredLeases counts claims whose entries were claimed anew.
	ExpiredLeases int `json:"expiredLeases"`
	// RefusedLateResults counts results that came after the lease was lost.
	RefusedLateResults int `json:"refusedLateResults"`
	// AcceptedTwice counts entries of which more than one result was accepted.
	AcceptedTwice int            `json:"acceptedTwice"`
	Seconds       float64        `json:"seconds"`
	Workers       []WorkerReport `json:"workers"`
	Messages      []message      `json:"messages"` // of the pipeline, most frequent first
	Failed        []string       `json:"failed"`   // checks that failed; empty if all is well
}

// WorkerReport says what one worker did.
type WorkerReport struct {
	Worker             int    `json:"worker"`
	Claims             int    `json:"claims"`
	Accepted           int    `json:"accepted"` // entries whose results were stored
	LostLeases         int    `json:"lostLeases"`
	RefusedLateResults int    `json:"refusedLateResults"`
	Fate               string `json:"fate"`
}

// count fills in what the ledger knows.
func (r *Report) count(l *ledger, fates []string) {
	r.Workers = make([]WorkerReport, len(fates))
	for i, fate := range fates {
		r.Workers[i] = WorkerReport{Worker: i + 1, Fate: fate}
	}
	for _, id := range l.order {
		c := l.claims[id]
		w := &r.Workers[c.worker-1]
		w.Claims++
		r.Claims++
		w.Accepted += c.accepted
		if c.retaken {
			w.LostLeases++
			r.ExpiredLeases++
		}
		w.RefusedLateResults += lost(c.refused)
		r.RefusedLateResults += lost(c.refused)
	}
	r.AcceptedTwice = l.acceptedTwice()
	for _, m := range l.messages {
		r.Messages = append(r.Messages, *m)
	}
	slices.SortFunc(r.Messages, func(a, b message) int {
		return cmp.Or(cmp.Compare(a.Severity, b.Severity), cmp.Compare(b.Entries, a.Entries), cmp.Compare(a.Text, b.Text))
	})
}

// columns is how wide the account is, as terminals are.
const columns = 80

// sampleMessages is how many messages of each severity are printed.
const sampleMessages = 4

// Print writes the report for people.
func (r *Report) Print(w io.Writer) error {
	t := table.NewWriter()
	t.SetStyle(table.StyleLight)
	t.Style().Format.Header = text.FormatDefault
	t.Style().Format.Footer = text.FormatDefault
	t.AppendHeader(table.Row{"worker", "claims", "entries\naccepted", "leases\nlost", "late results\nrefused", "fate"})
	accepted := 0
	for _, x := range r.Workers {
		t.AppendRow(table.Row{x.Worker, x.Claims, x.Accepted, x.LostLeases, x.RefusedLateResults, x.Fate})
		accepted += x.Accepted
	}
	t.AppendFooter(table.Row{"all", r.Claims, accepted, r.ExpiredLeases, r.RefusedLateResults, ""})
	if _, err := fmt.Fprintf(w, "\n%s\n\n", t.Render()); err != nil {
		return err
	}
	account := fmt.Sprintf("%d Zika genomes submitted, %d processed (%d with errors, %d with warnings), %d released, %d accepted twice, "+
		"by %s on one %s store and %d workers, in %.1f s. Leases ran for %s; every genome was held up for %s, "+
		"so that there is something to interrupt: aligning one takes milliseconds.",
		r.Entries, r.Processed, r.WithErrors, r.WithWarnings, r.Released, r.AcceptedTwice,
		count(r.Servers, "server", "servers"), r.Store, len(r.Workers), r.Seconds, Lease, Pace)
	if _, err := fmt.Fprintln(w, strings.Join(wrap(account, columns), "\n")); err != nil {
		return err
	}
	if err := r.printMessages(w); err != nil {
		return err
	}
	if len(r.Failed) == 0 {
		_, err := fmt.Fprintln(w, "\nEvery check passed.")
		return err
	}
	if _, err := fmt.Fprintf(w, "\n%s FAILED:\n", count(len(r.Failed), "check", "checks")); err != nil {
		return err
	}
	for _, f := range r.Failed {
		if _, err := fmt.Fprintf(w, "  %s\n", f); err != nil {
			return err
		}
	}
	return nil
}

func (r *Report) printMessages(w io.Writer) error {
	if len(r.Messages) > 0 {
		if _, err := fmt.Fprintln(w, "\nThe pipeline said, for example:"); err != nil {
			return err
		}
	}
	printed := map[string]int{}
	for _, m := range r.Messages {
		if printed[m.Severity]++; printed[m.Severity] > sampleMessages {
			continue
		}
		head := fmt.Sprintf("  %-7s  %-10s  ", m.Severity, count(m.Entries, "entry", "entries"))
		lines := wrap(m.Text, columns-len(head))
		if _, err := fmt.Fprintf(w, "%s%s\n", head, strings.Join(lines, "\n"+strings.Repeat(" ", len(head)))); err != nil {
			return err
		}
	}
	return nil
}

// wrap breaks a text between words.
func wrap(words string, width int) []string {
	lines := strings.Split(text.WrapSoft(words, width), "\n")
	for i, line := range lines {
		lines[i] = strings.TrimRight(line, " ")
	}
	return lines
}

// count writes a number with its noun.
func count(n int, one, many string) string {
	if n == 1 {
		return "1 " + one
	}
	return strconv.Itoa(n) + " " + many
}
