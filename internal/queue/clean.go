package queue

import (
	"strings"
	"unicode"
	"unicode/utf8"
)

// CleanReason makes any text one that can be stored and shown: what a worker or
// an operator says of a failure, so that the failure can always be noted (L18).
//
// NUL characters and broken UTF-8 become U+FFFD. Escape sequences of terminals are
// taken out, and so are control characters but newline and tab; other line ends
// become newlines. The result has at most [MaxReasonBytes] bytes and ends between
// two characters, with an ellipsis if something was cut.
func CleanReason(text string) string { return cleanText(text, MaxReasonBytes) }

// cleanText is [CleanReason] with another limit.
func cleanText(text string, limit int) string {
	// What is far behind the limit isn't looked at, whatever is taken out before it.
	if most := 4*limit + utf8.UTFMax; len(text) > most {
		text = shorten(text[:most], most-1)
	}
	var clean strings.Builder
	for len(text) > 0 {
		r, size := utf8.DecodeRuneInString(text)
		switch {
		case r == 0x1b:
			size = escapeSequence(text)
		case r == '\r':
			if !strings.HasPrefix(text[size:], "\n") {
				clean.WriteByte('\n')
			}
		case r == 0:
			clean.WriteRune(utf8.RuneError)
		case r == '\n' || r == '\t' || !unicode.IsControl(r):
			clean.WriteRune(r) // U+FFFD where the text is broken
		}
		text = text[size:]
	}
	s := strings.TrimSpace(clean.String())
	if len(s) <= limit {
		return s
	}
	return shorten(s, limit-len("…"))
}

// escapeSequence returns how many bytes at the start of the text are the escape
// character and what belongs to it by ECMA-48: the parameters and the last byte of
// a control sequence ("ESC [ 31 m"). Of anything else it is the escape alone,
// without which the rest is harmless.
func escapeSequence(text string) int {
	if len(text) < 2 || text[1] != '[' {
		return 1
	}
	for i := 2; i < len(text); i++ {
		switch b := text[i]; {
		case b >= 0x40 && b <= 0x7e:
			return i + 1
		case b < 0x20 || b > 0x3f:
			return i // cut short: what follows is text
		}
	}
	return len(text)
}
