package seqlease

import (
	"strings"
	"unicode/utf8"
)

// IsStorable says whether a text can be stored by every store: it is valid UTF-8
// and has no NUL character (L18). Texts that can't be stored are refused by name,
// never cleaned in silence.
func IsStorable(text string) bool {
	return strings.IndexByte(text, 0) < 0 && utf8.ValidString(text)
}
