package organism

import (
	"encoding/json"
	"fmt"
	"maps"
	"regexp"
	"slices"
	"strconv"
	"strings"

	"github.com/go-json-experiment/json/jsontext"

	"github.com/seqlease/seqlease"
)

// metadata checks M1 to M4 of what is given for the fields.
func (c *check) metadata(fields []Field, given map[string]json.RawMessage) {
	known := 0
	for _, field := range fields {
		if _, ok := given[field.Name]; ok {
			known++
		}
	}
	if known < len(given) {
		unknown := maps.Clone(given)
		for _, field := range fields {
			delete(unknown, field.Name)
		}
		names := slices.Sorted(maps.Keys(unknown))
		c.add(onlyOne(names), listValues(names, unknown), "unknown metadata fields: %s", listNames(names)) // M1
	}
	for _, field := range fields {
		value, ok := given[field.Name]
		null := isNull(value)
		switch {
		case !ok && field.Required:
			c.add(field.Name, "", "the required metadata field %q is missing", field.Name) // M2
		case null && field.Required:
			c.add(field.Name, "null", "the required metadata field %q is null", field.Name) // M3
		case !null && !field.Type.accepts(value):
			c.add(field.Name, shorten(string(value)), "expected type %s for field %q, found value %s", // M4
				field.Type.shown(), field.Name, shorten(string(value)))
		}
	}
}

// onlyOne returns the name that a problem is of, or "" if it is of several.
func onlyOne(names []string) string {
	if len(names) == 1 {
		return shorten(names[0])
	}
	return ""
}

// listValues joins the values of the names by commas, cut to a readable length.
func listValues(names []string, values map[string]json.RawMessage) string {
	var list []byte
	for i, name := range names {
		if len(list) > maxShownName {
			break
		}
		if i > 0 {
			list = append(list, ", "...)
		}
		value := values[name]
		list = append(list, value[:min(len(value), maxShownName+1)]...)
	}
	return shorten(string(list))
}

func isNull(value json.RawMessage) bool { return len(value) == 0 || string(value) == "null" }

// shown is the name of the type in messages.
func (t FieldType) shown() string {
	switch t {
	case Int:
		return "integer"
	case Date:
		return "date, in the form yyyy-MM-dd,"
	default:
		return string(t)
	}
}

// date is YYYY-MM-DD with any day up to 31 in every month: what pipelines send
// is kept as it is (protocol, quirk 11). There is no year 0.
var date = regexp.MustCompile(`^\d{4}-(0[1-9]|1[0-2])-(0[1-9]|[12]\d|3[01])$`)

// accepts says whether a JSON value that isn't null has the type.
func (t FieldType) accepts(value json.RawMessage) bool {
	kind := jsontext.Value(value).Kind()
	switch t {
	case String, Authors:
		return kind == '"'
	case Int:
		_, err := strconv.ParseInt(string(value), 10, 32)
		return kind == '0' && err == nil
	case Float:
		return kind == '0' && strings.ContainsAny(string(value), ".eE") && isFinite(value)
	case Number:
		return kind == '0' && isFinite(value)
	case Boolean:
		return kind == 't' || kind == 'f'
	case Date:
		text, err := jsontext.AppendUnquote(nil, value)
		return err == nil && date.Match(text) && string(text[:4]) != "0000"
	default:
		return false
	}
}

// isFinite says whether a number is one that readers of JSON can hold: 1e400 isn't.
func isFinite(value json.RawMessage) bool {
	_, err := strconv.ParseFloat(string(value), 64)
	return err == nil
}

// add notes a problem of a field, segment or gene. A line may have millions of them,
// such as one for each insertion.
func (c *check) add(name, value, format string, args ...any) {
	if len(c.problems) == seqlease.MaxListedProblems {
		c.more++
		return
	}
	c.problems = append(c.problems, seqlease.Problem{Field: name, Value: value, Message: fmt.Sprintf(format, args...)})
}
