package intake

import (
	"fmt"
	"strings"
)

// The name endings of the two parts; each may be followed by a compression suffix.
var (
	metadataEndings    = []string{"tsv"}
	sequenceEndings    = []string{"fa", "fasta", "seq", "fna", "fas"}
	compressedSuffixes = []string{".zst", ".xz", ".gz", ".zip", ".bz2", ".lzma"}
)

// nameFault applies the rule of name endings, which are compared case-sensitively: it
// says what is wrong with a file's name, or "".
func nameFault(name string, endings []string) string {
	base := name
	for _, suffix := range compressedSuffixes {
		if s, found := strings.CutSuffix(name, suffix); found {
			base = s
			break
		}
	}
	for _, ending := range endings {
		if strings.HasSuffix(base, ending) {
			return ""
		}
	}
	hint := ""
	switch lower := strings.ToLower(name); {
	case strings.HasSuffix(lower, ".xlsx"), strings.HasSuffix(lower, ".xls"), strings.HasSuffix(lower, ".ods"):
		hint = "this looks like an Excel or other spreadsheet file: save it as tab-separated text (UTF-8). "
	case strings.HasSuffix(lower, ".csv"):
		hint = "a comma-separated file can't be read: save it as tab-separated text (UTF-8). "
	}
	return fmt.Sprintf("%sthe file name %s must end in %s (in lower case), alone or followed by %s",
		hint, quoted(name), strings.Join(endings, ", "), strings.Join(compressedSuffixes, ", "))
}
