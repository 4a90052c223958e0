package witness

import "github.com/seqlease/seqlease"

// Tally counts the calls by kind, with result lines by answer, so that a test
// can say what its history is made of. Claims that brought nothing count apart
// ("claim of nothing"), as do calls that were refused ("renew refused") or got no
// answer ("submit unanswered"; of all kinds "unanswered"), and claimed entries whose attempt isn't the first
// ("claimed again"), and results of no claim at the last reading ("quarantined").
func (h History) Tally() map[string]int {
	n := map[string]int{}
	claims := map[seqlease.AttemptID]bool{}
	for _, e := range h.Events {
		name := string(e.Kind)
		switch {
		case e.Unanswered:
			name += " unanswered"
		case e.Refused:
			name += " refused"
		case e.Kind == Claim && len(e.Parts) == 0, e.byOperator() && e.Count == 0:
			name += " of nothing"
		}
		n[name]++
		switch e.Kind {
		case Claim:
			claims[e.Attempt] = true
		case Results:
			for _, part := range e.Parts {
				if !claims[part.Attempt] {
					n["quarantined"]++
				}
			}
		default:
		}
		if e.Unanswered {
			n["unanswered"]++
			continue
		}
		for _, part := range e.Parts {
			switch {
			case e.Kind == Submit:
				n["line "+string(part.Answer)]++
			case e.Kind == Claim && part.Try > 1:
				n["claimed again"]++
			case e.Kind == Renew:
				n["lost"]++
			}
		}
	}
	return n
}
