package seqlease

import (
	"cmp"
	"fmt"
	"strconv"
	"strings"
	"unicode/utf8"
)

// Organism is the key of an organism in the configuration and in URLs, such as
// "zika". Case matters.
type Organism string

// Accession names a sequence entry across all organisms and versions, such as
// "LOC_000001Y". It never contains a dot.
type Accession string

// MaxAccessionLength is how many characters an accession has at most, as every
// other id of the protocol.
const MaxAccessionLength = 255

// Fault says what keeps an accession that came from outside from being one: that it
// can't be stored (L18), or that it is endless. It is empty for any other, whether
// or not there is such an entry.
func (a Accession) Fault() string {
	switch {
	case len(a) > MaxAccessionLength && utf8.RuneCountInString(string(a)) > MaxAccessionLength:
		return fmt.Sprintf("has more than %d characters", MaxAccessionLength)
	case !IsStorable(string(a)):
		return "holds a NUL character or broken Unicode, which can't be stored"
	default:
		return ""
	}
}

// Version counts the versions of an entry from 1.
type Version int64

// AccessionVersion names one version of an entry.
type AccessionVersion struct {
	Accession Accession `json:"accession"`
	Version   Version   `json:"version"`
}

// String returns the form that people and pipelines write: "ACC.1".
func (av AccessionVersion) String() string {
	return string(av.Accession) + "." + strconv.FormatInt(int64(av.Version), 10)
}

// Compare orders by accession byte by byte, then by version as a number.
func (av AccessionVersion) Compare(other AccessionVersion) int {
	return cmp.Or(strings.Compare(string(av.Accession), string(other.Accession)), cmp.Compare(av.Version, other.Version))
}

// ParseAccessionVersion reads "ACC.1": exactly one dot, a non-empty accession
// and a version of at least 1. The error is an [*InvalidError].
func ParseAccessionVersion(s string) (AccessionVersion, error) {
	accession, version, found := strings.Cut(s, ".")
	n, err := strconv.ParseInt(version, 10, 64)
	if !found || accession == "" || err != nil || n < 1 {
		return AccessionVersion{}, Invalid(Problem{Value: s, Message: fmt.Sprintf("%q is not an accession version; write ACCESSION.VERSION, such as LOC_000001Y.1", s)})
	}
	return AccessionVersion{Accession: Accession(accession), Version: Version(n)}, nil
}

// accessionAlphabet has the digits and the capital letters without I and O,
// which are easily misread (protocol, accession algorithm).
const accessionAlphabet = "0123456789ABCDEFGHJKLMNPQRSTUVWXYZ"

// accessionBodyLength is the least number of symbols before the check symbol.
const accessionBodyLength = 6

// NewAccession writes the n-th accession (n from 1) with the given prefix: n in
// base 34, padded to six symbols, then a Luhn mod 34 check symbol that finds
// every single mistyped symbol.
func NewAccession(prefix string, n int64) Accession {
	base := int64(len(accessionAlphabet))
	body := ""
	for ; n > 0 || len(body) < accessionBodyLength; n /= base {
		body = string(accessionAlphabet[n%base]) + body
	}
	check := (len(accessionAlphabet) - luhnSum(body, 2)) % len(accessionAlphabet)
	return Accession(prefix + body + string(accessionAlphabet[check]))
}

// HasValidCheckSymbol says whether the accession, written with the given prefix,
// has only symbols of the alphabet and ends in the right check symbol.
func (a Accession) HasValidCheckSymbol(prefix string) bool {
	code, found := strings.CutPrefix(string(a), prefix)
	if !found || len(code) <= accessionBodyLength || strings.Trim(code, accessionAlphabet) != "" {
		return false
	}
	return luhnSum(code, 1) == 0
}

// luhnSum adds the symbol values from the right, multiplied by first and the
// other of 1 and 2 in turn, each product folded into one symbol, modulo 34.
func luhnSum(code string, first int) int {
	base := len(accessionAlphabet)
	sum, factor := 0, first
	for i := len(code) - 1; i >= 0; i-- {
		product := strings.IndexByte(accessionAlphabet, code[i]) * factor
		sum += product/base + product%base
		factor = 3 - factor
	}
	return sum % base
}
