package sqlite

import (
	"strconv"

	"github.com/go-json-experiment/json/jsontext"

	"github.com/seqlease/seqlease"
)

// Lists go to statements as JSON texts, which json_each reads: any number of
// values in one argument (a statement takes 32,766 arguments at most).

// appendText writes a JSON string. What isn't UTF-8 is replaced: nothing that is
// stored contains it (L18).
func appendText[T ~string](b []byte, text T) []byte {
	quoted, err := jsontext.AppendQuote(b, text)
	if err != nil && quoted == nil {
		return append(b, `""`...)
	}
	return quoted
}

// separator begins the i-th element of a JSON list.
func separator(i int) byte {
	if i == 0 {
		return '['
	}
	return ','
}

// jsonList writes a list, element by element.
func jsonList[T any](values []T, appendValue func(b []byte, v T) []byte) string {
	b := make([]byte, 0, 2+32*len(values))
	for i, v := range values {
		b = appendValue(append(b, separator(i)), v)
	}
	if len(values) == 0 {
		b = append(b, '[')
	}
	return string(append(b, ']'))
}

func jsonTexts[T ~string](values []T) string { return jsonList(values, appendText[T]) }

func jsonIDs(values []int64) string {
	return jsonList(values, func(b []byte, id int64) []byte { return strconv.AppendInt(b, id, 10) })
}

// jsonEntries writes [["ACC",1],…].
func jsonEntries(entries []seqlease.AccessionVersion) string {
	return jsonList(entries, func(b []byte, av seqlease.AccessionVersion) []byte {
		b = appendText(append(b, '['), av.Accession)
		return append(strconv.AppendInt(append(b, ','), int64(av.Version), 10), ']')
	})
}

// orNull is for filters, in which a nil list takes everything.
func orNull[T any](values []T, list func([]T) string) any {
	if values == nil {
		return nil
	}
	return list(values)
}
