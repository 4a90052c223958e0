package httpapi

import (
	"reflect"
	"strings"
	"testing"

	json "github.com/go-json-experiment/json"
	"github.com/google/go-cmp/cmp"
)

// long is a text that is taken out of a line.
var long = strings.Repeat("ACGT", longText/4)

// wantSame checks that a line is read as JSON says.
func wantSame(t *testing.T, line string) {
	t.Helper()
	var want resultLine
	wantErr := json.Unmarshal([]byte(line), &want, lenient)
	got, err := new(lineDecoder).unmarshal([]byte(line))
	if (err == nil) != (wantErr == nil) || err != nil && err.Error() != wantErr.Error() {
		t.Errorf("%.300q: got error %v, want %v", line, err, wantErr)
	}
	if err == nil && !reflect.DeepEqual(got, want) { // cmp takes another way each time, which keeps the fuzzer busy
		t.Errorf("%.300q: got/want %s", line, cmp.Diff(got, want))
	}
}

// TestLineDecoder_ReadsLongTextsAsTheyAre has long texts wherever a text can be, and
// lines that are no JSON because of what is in or beside them.
func TestLineDecoder_ReadsLongTextsAsTheyAre(t *testing.T) {
	t.Parallel()
	whole := strings.NewReplacer(
		`"unalignedNucleotideSequences":{}`, `"unalignedNucleotideSequences":{"main":"`+long+`","other":"`+long+`x","short":"A"}`,
		`"alignedAminoAcidSequences":{}`, `"alignedAminoAcidSequences":{"E":"`+long+`"}`,
	).Replace(goodLine())
	for name, line := range map[string]string{
		"sequences":          whole,
		"a key":              strings.Replace(whole, `"other"`, `"`+long+`"`, 1),
		"twice the same key": strings.Replace(whole, `"other"`, `"main"`, 1),
		"two long keys":      strings.Replace(strings.Replace(whole, `"other"`, `"`+long+`"`, 1), `"short"`, `"`+long+`"`, 1),
		"metadata":           strings.Replace(whole, `"metadata":{`, `"metadata":{"x":"`+long+`",`, 1),
		"an unknown member":  strings.Replace(whole, `{"accession"`, `{"x":["`+long+`"],"accession"`, 1),
		"the accession":      strings.Replace(whole, `"LOC_000001Y"`, `"`+long+`"`, 1),
		"an escape":          strings.Replace(whole, long+"x", long+`\u0041`+long, 1),
		"escaped quotes":     strings.Replace(whole, long+"x", `\"`+long+`\\\"`+long+`\\`, 1),
		"a bad escape":       strings.Replace(whole, long+"x", long+`\x`+long, 1),
		"not ASCII":          strings.Replace(whole, long+"x", long+"é", 1),
		"not UTF-8":          strings.Replace(whole, long+"x", long+"\xff", 1),
		"a control":          strings.Replace(whole, long+"x", long+"\x1f", 1),
		"DEL":                strings.Replace(whole, long+"x", long+"\x7f", 1),
		"no end":             whole[:strings.Index(whole, long)+len(long)],
		"no end of the line": strings.TrimSuffix(whole, "}"),
		"two in a row":       strings.Replace(whole, long+"x", long+`""`+long, 1),
		"no colon":           strings.Replace(whole, `"other":`, `"other"`, 1),
		"a quote too much":   strings.Replace(whole, `"other"`, `""other"`, 1),
		"outside":            `\"` + whole,
		"data is no object":  `{"data":"` + long + `"}`,
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			wantSame(t, line)
		})
	}
}

// TestHollow_LeavesNothingLong checks that the decoder is spared the sequences.
func TestHollow_LeavesNothingLong(t *testing.T) {
	t.Parallel()
	line := sizes[0].resultLine(t, coronavirus())
	var h hollow
	h.empty(line)
	if got, limit := len(h.line), len(line)/20; got > limit {
		t.Errorf("%d bytes are left of %d, want at most %d", got, len(line), limit)
	}
	var d lineDecoder
	for number := range 3 { // what is kept from line to line does no harm
		if _, err := d.decode(number, line); err != nil {
			t.Fatal(err)
		}
		if _, err := d.decode(number, line[:len(line)-1]); err == nil {
			t.Errorf("a line without its end is read")
		}
	}
}

func FuzzLineDecoder(f *testing.F) {
	f.Add(goodLine(), uint8(3))
	f.Add(`{"data":{"alignedNucleotideSequences":{"a":"@","b":"\"@","@":"\\"},"metadata":{"m":"@"}},"x":["@\u0041"]}`, uint8(200))
	f.Fuzz(func(t *testing.T, line string, repeat uint8) {
		wantSame(t, strings.ReplaceAll(line, "@", strings.Repeat("A", int(repeat))))
	})
}
