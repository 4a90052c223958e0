package pipeline

import (
	"encoding/json"
	"errors"
	"fmt"
	"maps"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/go-json-experiment/json/jsontext"

	"github.com/seqlease/seqlease/internal/organism"
)

// null stands for a missing value.
var null = json.RawMessage("null")

// readMetadata types the submitted values against the schema. Every field of the
// schema gets a value or null.
func (d *draft) readMetadata(o *organism.Organism, submitted map[string]string) {
	for _, f := range o.Metadata {
		d.Data.Metadata[f.Name] = d.readField(f, submitted[f.Name])
	}
	unknown := maps.Clone(submitted)
	for _, f := range o.Metadata {
		delete(unknown, f.Name)
	}
	if len(unknown) > 0 {
		columns := slices.Sorted(maps.Keys(unknown))
		about := field("")
		about.unprocessed, about.processed = columns, nil
		d.warn(about, "The database has no field for these columns, so that they are left out: %s.", strings.Join(columns, ", "))
	}
}

// readField returns the value of one field, null where there is none or a fault.
func (d *draft) readField(f organism.Field, submitted string) json.RawMessage {
	if isMissing(submitted) {
		if f.Required {
			d.fail(field(f.Name), "The field %q is required and has no value.", f.Name)
		}
		return null
	}
	value, err := typed(f.Type, submitted)
	switch {
	case err == nil:
		return value
	case f.Type == organism.Date && partialDate.MatchString(submitted) && !f.Required:
		d.warn(field(f.Name), "The field %q has the date %q without a day. It takes whole dates (YYYY-MM-DD) only and is left empty.",
			f.Name, submitted)
	default:
		d.fail(field(f.Name), "The field %q has the value %q, which is %v.", f.Name, shortened(submitted), err)
	}
	return null
}

// isMissing says whether a value stands for none: "?" is what public databases
// write for unknown.
func isMissing(value string) bool {
	value = strings.TrimSpace(value)
	return value == "" || value == "?"
}

// The forms in which numbers and incomplete dates are written.
var (
	decimal     = regexp.MustCompile(`^[+-]?(\d+\.?\d*|\.\d+)([eE][+-]?\d+)?$`)
	partialDate = regexp.MustCompile(`^\s*\d{4}(-(0[1-9]|1[0-2]|[Xx]{2})(-[Xx]{2})?)?\s*$`)
)

// typed writes a value in the form in which results carry its type (protocol,
// validation of processed data). The error says what the value is not.
func typed(t organism.FieldType, value string) (json.RawMessage, error) {
	if t == organism.String || t == organism.Authors {
		return quoted(value)
	}
	value = strings.TrimSpace(value)
	switch t {
	case organism.Int:
		n, err := strconv.ParseInt(value, 10, 32)
		if err != nil {
			return nil, fmt.Errorf("no whole number from %d to %d", -1<<31, 1<<31-1)
		}
		return json.RawMessage(strconv.FormatInt(n, 10)), nil
	case organism.Float:
		return float(value)
	case organism.Number:
		if n, err := strconv.ParseInt(value, 10, 64); err == nil {
			return json.RawMessage(strconv.FormatInt(n, 10)), nil
		}
		return float(value)
	case organism.Boolean:
		if b := strings.ToLower(value); b == "true" || b == "false" {
			return json.RawMessage(b), nil
		}
		return nil, errors.New("neither true nor false")
	case organism.Date:
		day, err := time.Parse(time.DateOnly, value)
		if err != nil || day.Year() < 1 {
			return nil, errors.New("no date in the form YYYY-MM-DD")
		}
		return quoted(value)
	default:
		return nil, fmt.Errorf("of the type %q, which this pipeline doesn't know", t)
	}
}

// float writes a number with a fraction or an exponent, by which readers tell it
// from a whole number.
func float(value string) (json.RawMessage, error) {
	x, err := strconv.ParseFloat(value, 64)
	if err != nil || !decimal.MatchString(value) {
		return nil, errors.New("no decimal number such as 36.5")
	}
	text := strconv.FormatFloat(x, 'g', -1, 64)
	if !strings.ContainsAny(text, ".e") {
		text += ".0"
	}
	return json.RawMessage(text), nil
}

func quoted(value string) (json.RawMessage, error) {
	text, err := jsontext.AppendQuote(nil, value)
	if err != nil {
		return nil, errors.New("no valid UTF-8 text")
	}
	return json.RawMessage(text), nil
}

// shortened cuts a value to what fits in a message.
func shortened(value string) string {
	const most = 80
	runes := []rune(value)
	if len(runes) <= most {
		return value
	}
	return string(runes[:most]) + "…"
}
