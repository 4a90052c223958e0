package measure

import (
	"fmt"
	"io"
	"strconv"
	"strings"
	"unicode/utf8"
)

// WriteTable writes the rows as a table in Markdown.
func WriteTable(w io.Writer, rows []Row) error {
	table := [][]string{{"what", "target", "figure", "low … high", "rounds", "met", "note"}}
	for _, r := range rows {
		figure, between := short(r.Figure)+after(r.Unit), short(r.Low)+" … "+short(r.High)
		rounds := strconv.Itoa(r.Rounds)
		if r.Worst {
			rounds += ", worst"
		}
		table = append(table, []string{r.Name, r.Target, figure, between, rounds, r.verdict(), r.Note})
	}
	widths := make([]int, len(table[0]))
	for _, line := range table {
		for i, cell := range line {
			widths[i] = max(widths[i], utf8.RuneCountInString(cell))
		}
	}
	for n, line := range table {
		if err := writeLine(w, line, widths, " "); err != nil {
			return err
		}
		if n > 0 {
			continue
		}
		if err := writeLine(w, make([]string, len(line)), widths, "-"); err != nil {
			return err
		}
	}
	return nil
}

func writeLine(w io.Writer, cells []string, widths []int, pad string) error {
	var b strings.Builder
	for i, cell := range cells {
		b.WriteString("| " + cell + strings.Repeat(pad, widths[i]-utf8.RuneCountInString(cell)) + " ")
	}
	_, err := fmt.Fprintln(w, b.String()+"|")
	return err
}

func (r Row) verdict() string {
	switch {
	case r.Met == nil:
		return ""
	case !*r.Met:
		return "NO"
	case r.AimMet != nil && *r.AimMet:
		return "yes, and the aim"
	default:
		return "yes"
	}
}
