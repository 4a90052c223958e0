package seqlease

import (
	"cmp"
	"errors"
	"slices"
	"strings"
	"testing"

	"pgregory.net/rapid"
)

// The table of the protocol's accession algorithm.
func TestNewAccession(t *testing.T) {
	t.Parallel()
	for n, want := range map[int64]Accession{
		1:          "000001Y",
		2:          "000002W",
		3:          "000003U",
		10:         "00000AE",
		34:         "000010Z",
		37:         "000013T",
		1000:       "0000VEB",
		3537:       "000321Q",
		123456:     "0034T2S",
		1544804415: "ZZZZZZ6", // 34^6 - 1
		1544804417: "1000001W",
		1<<63 - 1:  "3VDVL1X8K6VRRR", // reckoned by another program
	} {
		if got := NewAccession("", n); got != want {
			t.Errorf("accession %d: got %s, want %s", n, got, want)
		}
		if got, want := NewAccession("LOC_", n), "LOC_"+want; got != want {
			t.Errorf("accession %d with a prefix: got %s, want %s", n, got, want)
		}
		if !NewAccession("LOC_", n).HasValidCheckSymbol("LOC_") {
			t.Errorf("accession %d: the check symbol of %s is refused", n, NewAccession("LOC_", n))
		}
	}
}

func TestHasValidCheckSymbol(t *testing.T) {
	t.Parallel()
	for _, c := range []struct {
		name      string
		accession Accession
		prefix    string
		want      bool
	}{
		{"right", "LOC_000001Y", "LOC_", true},
		{"no prefix asked for", "000001Y", "", true},
		{"longer body", "LOC_1000001W", "LOC_", true},
		{"wrong check symbol", "LOC_000001X", "LOC_", false},
		{"another prefix", "LOD_000001Y", "LOC_", false},
		{"prefix missing", "000001Y", "LOC_", false},
		{"prefix left on", "LOC_000001Y", "", false},
		{"small letters", "LOC_000001y", "LOC_", false},
		{"a letter that isn't in the alphabet", "LOC_00000I1", "LOC_", false},
		{"another letter that isn't", "LOC_OOOOO1Y", "LOC_", false},
		{"too short, though the sum is right", "LOC_00001Y", "LOC_", false},
		{"nothing after the prefix", "LOC_", "LOC_", false},
		{"empty", "", "", false},
		{"a version left on", "LOC_000001Y.1", "LOC_", false},
		{"letters beyond ASCII", "LOC_00000é1", "LOC_", false},
	} {
		if got := c.accession.HasValidCheckSymbol(c.prefix); got != c.want {
			t.Errorf("%s: got %t for %q with prefix %q, want %t", c.name, got, c.accession, c.prefix, c.want)
		}
	}
}

func TestCheckSymbolFindsEverySubstitution(t *testing.T) {
	t.Parallel()
	rapid.Check(t, func(t *rapid.T) {
		right := string(NewAccession("", rapid.Int64Range(1, 1<<62).Draw(t, "n")))
		for i := range right {
			for _, symbol := range []byte(accessionAlphabet) {
				wrong := right[:i] + string(symbol) + right[i+1:]
				if got, want := Accession(wrong).HasValidCheckSymbol(""), symbol == right[i]; got != want {
					t.Fatalf("%s read as %s: valid is %t, want %t", right, wrong, got, want)
				}
			}
		}
	})
}

func TestAccessionsAscendAndDiffer(t *testing.T) {
	t.Parallel()
	rapid.Check(t, func(t *rapid.T) {
		n := rapid.Int64Range(1, 1544804414).Draw(t, "n") // as long as the body has six symbols
		m := rapid.Int64Range(n+1, 1544804415).Draw(t, "m")
		if a, b := NewAccession("LOC_", n), NewAccession("LOC_", m); a >= b {
			t.Fatalf("accession %d is %s, not before %s of %d", n, a, b, m)
		}
	})
}

func TestParseAccessionVersion(t *testing.T) {
	t.Parallel()
	for _, c := range []struct {
		text string
		want AccessionVersion // zero: an error
	}{
		{"LOC_000001Y.1", AccessionVersion{"LOC_000001Y", 1}},
		{"a.9223372036854775807", AccessionVersion{"a", 1<<63 - 1}},
		{"é .2", AccessionVersion{"é ", 2}},
		{"", AccessionVersion{}},
		{".", AccessionVersion{}},
		{"LOC_000001Y", AccessionVersion{}},
		{"LOC_000001Y.", AccessionVersion{}},
		{".1", AccessionVersion{}},
		{"LOC_000001Y.0", AccessionVersion{}},
		{"LOC_000001Y.-1", AccessionVersion{}},
		{"LOC_000001Y.1.2", AccessionVersion{}},
		{"LOC_000001Y.1 ", AccessionVersion{}},
		{"LOC_000001Y.one", AccessionVersion{}},
		{"LOC_000001Y.9223372036854775808", AccessionVersion{}},
		{"LOC_000001Y.1e3", AccessionVersion{}},
		{"LOC_000001Y.0x1", AccessionVersion{}},
		{"LOC_000001Y.1_0", AccessionVersion{}},
	} {
		got, err := ParseAccessionVersion(c.text)
		if got != c.want || (err == nil) != (c.want != AccessionVersion{}) {
			t.Errorf("%q: got %v and error %v, want %v", c.text, got, err, c.want)
		}
		var invalid *InvalidError
		if err != nil && (!errors.As(err, &invalid) || !strings.Contains(err.Error(), "ACCESSION.VERSION")) {
			t.Errorf("%q: got error %v, want one that says what to write", c.text, err)
		}
	}
}

func FuzzParseAccessionVersion(f *testing.F) {
	for _, s := range []string{"LOC_000001Y.1", "LOC_000001Y.01", "a.+1", "..", "a.b.1", "\x00.1", "\xff.2"} {
		f.Add(s)
	}
	f.Fuzz(func(t *testing.T, s string) {
		av, err := ParseAccessionVersion(s)
		if err != nil {
			if av != (AccessionVersion{}) {
				t.Errorf("%q: got %v beside error %v", s, av, err)
			}
			return
		}
		if av.Accession == "" || strings.Contains(string(av.Accession), ".") || av.Version < 1 {
			t.Errorf("%q was read as %+v", s, av)
		}
		again, err := ParseAccessionVersion(av.String())
		if err != nil || again != av {
			t.Errorf("%q: %s was read as %v with error %v", s, av, again, err)
		}
	})
}

func TestAccessionVersionsSortByNumber(t *testing.T) {
	t.Parallel()
	want := []AccessionVersion{{"B", 1}, {"a", 2}, {"a", 10}, {"a_", 1}, {"ä", 1}}
	got := slices.Clone(want)
	slices.Reverse(got)
	slices.SortFunc(got, AccessionVersion.Compare)
	if !slices.Equal(got, want) {
		t.Errorf("got %v, want %v", got, want)
	}
	rapid.Check(t, func(t *rapid.T) {
		draw := func(name string) AccessionVersion {
			return AccessionVersion{Accession(rapid.String().Draw(t, name)), Version(rapid.Int64().Draw(t, name))}
		}
		a, b := draw("a"), draw("b")
		if a.Compare(b) != -b.Compare(a) || (a.Compare(b) == 0) != (a == b) {
			t.Errorf("%v and %v: %d, the other way %d", a, b, a.Compare(b), b.Compare(a))
		}
		if c := cmp.Compare(a.Accession, b.Accession); c != 0 && c != a.Compare(b) {
			t.Errorf("%v and %v: got %d, want %d", a, b, a.Compare(b), c)
		}
	})
}
