package httpapi

import (
	"fmt"
	"net/http"
	"slices"
	"strconv"
	"strings"

	"github.com/seqlease/seqlease"
)

// list reads a list parameter: repeated values, which are not split, or one
// comma-separated value. An empty value is an empty list, nil is an absent one.
func list[T any](name string, values *[]string, parse func(string) (T, error)) ([]T, error) {
	if values == nil {
		return nil, nil
	}
	texts := *values
	if len(texts) == 1 {
		if texts[0] == "" {
			return []T{}, nil
		}
		texts = strings.Split(texts[0], ",")
	}
	result := make([]T, 0, len(texts))
	for _, text := range texts {
		value, err := parse(strings.TrimSpace(text))
		if err != nil {
			return nil, seqlease.InvalidParameter(name, fmt.Sprintf("%s: %v", name, err))
		}
		result = append(result, value)
	}
	return result, nil
}

// number parses an element of a list of ids.
func number(text string) (int64, error) {
	n, err := strconv.ParseInt(text, 10, 64)
	if err != nil {
		return 0, fmt.Errorf("%q is not a whole number", text)
	}
	return n, nil
}

// oneOf parses an element of an enumeration: exactly one of the known values.
func oneOf[T ~string](known []T) func(string) (T, error) {
	return func(text string) (T, error) {
		if !slices.Contains(known, T(text)) {
			return "", fmt.Errorf("%q is none of %v", text, known)
		}
		return T(text), nil
	}
}

// wantsZstd reads the parameter compression. Empty counts as absent.
func wantsZstd(compression *string) (bool, error) {
	switch {
	case compression == nil || *compression == "":
		return false, nil
	case strings.EqualFold(*compression, "zstd"):
		return true, nil
	default:
		return false, seqlease.InvalidParameter("compression", fmt.Sprintf("compression can be zstd, not %q", *compression))
	}
}

// knownTag returns the tag that a client holds. Proxies that compress may have
// made it a weak one.
func knownTag(r *http.Request) string {
	return strings.TrimPrefix(r.Header.Get("If-None-Match"), "W/")
}

// orZero returns what p points to, or the zero value.
func orZero[T any](p *T) T {
	if p == nil {
		var zero T
		return zero
	}
	return *p
}
