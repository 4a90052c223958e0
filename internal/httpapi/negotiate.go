package httpapi

import (
	"mime"
	"net/http"
	"slices"
	"strconv"
	"strings"
)

// errNotAcceptable names what there is instead.
func errNotAcceptable(r *http.Request, produced []string) error {
	return &statusError{http.StatusNotAcceptable, "Accept: " + cut(strings.Join(r.Header.Values("Accept"), ", "), maxShown) +
		" leaves out what this answers with: " + strings.Join(produced, " or ")}
}

// acceptable says whether a client takes one of the types that an operation
// produces (RFC 9110, section 12.5.1). Only those are turned away who plainly want
// something else: what can't be read counts as anything, and types that are as
// good as ours count as ours, since there is no other form to choose.
func acceptable(accept, produced []string) bool {
	ranges := mediaRanges(accept)
	if len(ranges) == 0 || len(produced) == 0 {
		return true
	}
	return slices.ContainsFunc(produced, func(t string) bool {
		return slices.ContainsFunc(append([]string{t}, equivalents(t)...), func(t string) bool { return quality(ranges, t) > 0 })
	})
}

// equivalents lists what clients also ask for when they mean a type.
func equivalents(t string) []string {
	switch t {
	case "application/x-ndjson":
		return []string{
			"application/ndjson", "application/jsonl", "application/jsonlines", "application/x-jsonlines", "application/json",
			"text/plain", "application/octet-stream", "application/zstd", "application/problem+json",
		}
	case "application/json":
		return []string{"text/json", "text/plain", "application/octet-stream", "application/problem+json", "application/hal+json"}
	case "application/zip":
		return []string{
			"application/x-zip-compressed", "application/x-zip", "application/octet-stream", "application/json", "text/plain",
			"application/problem+json",
		}
	default:
		return nil
	}
}

// mediaRange is a range such as "application/*" with its quality.
type mediaRange struct {
	kind    string
	quality float64
}

func mediaRanges(accept []string) []mediaRange {
	var ranges []mediaRange
	for part := range strings.SplitSeq(strings.Join(accept, ","), ",") {
		if part = strings.TrimSpace(part); part == "" {
			continue
		}
		kind, parameters, err := mime.ParseMediaType(part)
		if major, minor, found := strings.Cut(kind, "/"); err != nil || !found || major == "" || minor == "" {
			kind = "*/*"
		}
		q := 1.0
		if text, given := parameters["q"]; given {
			if number, err := strconv.ParseFloat(text, 64); err == nil {
				q = number
			}
		}
		ranges = append(ranges, mediaRange{kind, q})
	}
	return ranges
}

// quality is that of the most specific range that a type is in.
func quality(ranges []mediaRange, t string) float64 {
	major, _, _ := strings.Cut(t, "/")
	for _, kind := range []string{t, major + "/*", "*/*"} {
		best, found := 0.0, false
		for _, r := range ranges {
			if r.kind == kind {
				best, found = max(best, r.quality), true
			}
		}
		if found {
			return best
		}
	}
	return 0
}

// maxShown is how many bytes of a text out of a request an answer repeats.
const maxShown = 300

// cut shortens a text to at most n bytes and a sign that something is missing.
func cut(text string, n int) string {
	if len(text) <= n {
		return text
	}
	return strings.ToValidUTF8(text[:n], "") + "…"
}
