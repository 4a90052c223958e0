package queue

import (
	"crypto/sha256"
	"fmt"
	"strings"

	"github.com/seqlease/seqlease"
)

// packer compresses documents for storage.
type packer interface {
	Pack(o seqlease.Organism, document []byte) (seqlease.Packed, error)
}

// packVerdict returns the result that shows a quarantine: no data and the reason
// as the one error.
func packVerdict(store packer, o seqlease.Organism, reason string) (PackedResult, error) {
	document, err := encode(nil, &seqlease.Result{Errors: []seqlease.Annotation{{Message: reason}}}, false)
	if err != nil {
		return PackedResult{}, err
	}
	packed, err := store.Pack(o, document)
	if err != nil {
		return PackedResult{}, fmt.Errorf("pack verdict: %w", err)
	}
	digest := sha256.Sum256(document)
	return PackedResult{Packed: packed, Digest: [16]byte(digest[:16])}, nil
}

// operatorVerdict is what submitters read when an operator quarantines.
func operatorVerdict(reason string) string {
	const text = "an operator took this entry out of preprocessing"
	if reason == "" {
		return text
	}
	return cleanText(text+": "+reason, MaxReasonBytes)
}

// The words of workers in a verdict: how many different ones, and how long.
const (
	maxQuoted      = 3
	maxQuotedBytes = 300
)

// verdictOn says in words for the submitter why preprocessing gave up: how often
// it was tried and what went wrong, the latest first.
func verdictOn(t SpentTicket, r Retry) string {
	var text strings.Builder
	fmt.Fprintf(&text, "preprocessing gave up on this entry after %s with pipeline version %d", times(t.Attempts, "attempt"), t.PipelineVersion)
	if t.Attempts < r.Attempts { // it was the hand-outs
		fmt.Fprintf(&text, " and %s that cost no attempt", times(t.HandOuts-t.Attempts, "hand-out"))
	}
	kinds, quoted := summarise(t.Failures)
	if len(kinds) > 0 {
		text.WriteString("; what happened, the latest first: " + strings.Join(kinds, ", "))
	}
	if len(quoted) > 0 {
		text.WriteString(". The reasons given: " + strings.Join(quoted, "; "))
	}
	text.WriteString(". An operator can have it processed again; editing the entry does so, too")
	return cleanText(text.String(), MaxReasonBytes)
}

// summarise counts the failures by kind, and quotes the different reasons.
func summarise(failures []Failure) (kinds, quoted []string) {
	counts := map[FailureKind]int{}
	var order []FailureKind
	seen := map[string]bool{}
	for _, f := range failures {
		if counts[f.Kind]++; counts[f.Kind] == 1 {
			order = append(order, f.Kind)
		}
		reason := strings.Join(strings.Fields(cleanText(f.Reason, maxQuotedBytes)), " ")
		if reason != "" && !seen[reason] && len(quoted) < maxQuoted {
			seen[reason] = true
			quoted = append(quoted, `"`+reason+`"`)
		}
	}
	for _, kind := range order {
		kinds = append(kinds, fmt.Sprintf("%s (%s)", kind.words(), times(counts[kind], "time")))
	}
	return kinds, quoted
}

// words say to a submitter what a kind of failure is.
func (k FailureKind) words() string {
	switch k {
	case FailureExpired:
		return "the pipeline didn't answer before its time was over"
	case FailureGivenBack:
		return "the pipeline gave the entry back"
	case FailureUndelivered:
		return "the entry didn't reach the pipeline"
	case FailureRefused:
		return "the pipeline's result broke a rule and was refused"
	case FailureFreed:
		return "an operator ended the attempt"
	case FailureDamaged:
		return damagedReason
	default:
		return string(k)
	}
}

// times writes a number with its noun.
func times(n int, noun string) string {
	if n == 1 {
		return "1 " + noun
	}
	return fmt.Sprintf("%d %ss", n, noun)
}
