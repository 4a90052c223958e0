package queue_test

import (
	"strings"
	"testing"
	"unicode"
	"unicode/utf8"

	"github.com/seqlease/seqlease"
	"github.com/seqlease/seqlease/internal/queue"
)

func TestCleanReason_B019(t *testing.T) {
	t.Parallel()
	for _, tc := range []struct{ name, text, want string }{
		{"nothing", "", ""},
		{"plain", "aligner crashed: ÄÖÜ 🧬", "aligner crashed: ÄÖÜ 🧬"},
		{"lines and tabs", "a\tb\nc", "a\tb\nc"},
		{"other line ends", "a\r\nb\rc", "a\nb\nc"},
		{"NUL", "a\x00b", "a\uFFFDb"},
		{"broken UTF-8", "a\xff\xc3(b", "a\uFFFD\uFFFD(b"},
		{"half a character at the end", "a\xf0\x9f", "a\uFFFD\uFFFD"},
		{"control characters", "a\a\b\x7f\u0085b", "ab"},
		{"colours", "\x1b[1;31mred\x1b[0m", "red"},
		{"moving the cursor", "\x1b[2J\x1b[?25lgone\x1b[1A", "gone"},
		{"window title", "\x1b]0;pwned\abye", "]0;pwnedbye"},
		{"C1 control sequence", "\u009b31mred", "31mred"},
		{"escape at the end", "a\x1b", "a"},
		{"sequence cut short by a line end", "a\x1b[31\nb", "a\nb"},
		{"sequence without an end", "a\x1b[31", "a"},
		{"blanks around", "  \n a \x00", "a \uFFFD"},
	} {
		if got := queue.CleanReason(tc.text); got != tc.want {
			t.Errorf("%s: got %q, want %q", tc.name, got, tc.want)
		}
	}
}

func TestCleanReason_B019_IsCutBetweenCharacters(t *testing.T) {
	t.Parallel()
	for shift := range 4 {
		got := queue.CleanReason(strings.Repeat("x", shift) + strings.Repeat("🧬", 5<<20/4))
		if len(got) > queue.MaxReasonBytes || len(got) < queue.MaxReasonBytes-8 || !utf8.ValidString(got) || !strings.HasSuffix(got, "🧬…") {
			t.Errorf("shift %d: got %d bytes that end with %q", shift, len(got), got[len(got)-8:])
		}
	}
	exact := strings.Repeat("y", queue.MaxReasonBytes)
	if got := queue.CleanReason(exact); got != exact {
		t.Errorf("a text of just the limit was changed to %d bytes", len(got))
	}
	// What is behind much that is taken out is still found, if it isn't too far.
	if got := queue.CleanReason(strings.Repeat("\x1b[0m", 1000) + "why"); got != "why" {
		t.Errorf("got %q", got)
	}
}

func FuzzCleanReason(f *testing.F) {
	for _, seed := range []string{"", "a\x00b", "\x1b[31mred", "\xff\xfe", "\u009b1m", "a\r\n", strings.Repeat("\xf0\x9f\xa7\xac", 600), "\x1b[\x1b[0m0m"} {
		f.Add(seed)
	}
	f.Fuzz(func(t *testing.T, text string) {
		got := queue.CleanReason(text)
		if !seqlease.IsStorable(got) || len(got) > queue.MaxReasonBytes {
			t.Errorf("%q gives %q: %d bytes, or not storable", text, got, len(got))
		}
		for _, r := range got {
			if unicode.IsControl(r) && r != '\n' && r != '\t' {
				t.Errorf("%q gives %q, which has the control character %U", text, got, r)
			}
		}
		if again := queue.CleanReason(got); again != got {
			t.Errorf("%q gives %q, cleaned again %q", text, got, again)
		}
	})
}
