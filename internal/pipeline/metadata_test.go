package pipeline

import (
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/seqlease/seqlease"
	"github.com/seqlease/seqlease/internal/organism"
)

func TestReadField(t *testing.T) {
	t.Parallel()
	tests := []struct {
		fieldType organism.FieldType
		required  bool
		submitted string
		want      string // JSON
		fault     string // "": none; else words of the one message
		warning   bool   // the message is a warning
	}{
		{fieldType: organism.String, submitted: ` a "b" é `, want: `" a \"b\" é "`},
		{fieldType: organism.String, submitted: "2013-12-XX", want: `"2013-12-XX"`},
		{fieldType: organism.String, submitted: "007", want: `"007"`},
		{fieldType: organism.Authors, submitted: "Metsky et al", want: `"Metsky et al"`},
		{fieldType: organism.String, submitted: "", want: "null"},
		{fieldType: organism.String, submitted: "  ", want: "null"},
		{fieldType: organism.String, submitted: "?", want: "null"},
		{fieldType: organism.String, required: true, submitted: "", want: "null", fault: "required"},
		{fieldType: organism.Date, required: true, submitted: "?", want: "null", fault: "required"},
		{fieldType: organism.String, submitted: "\xff", want: "null", fault: "UTF-8"},

		{fieldType: organism.Int, submitted: "42", want: "42"},
		{fieldType: organism.Int, submitted: " +042 ", want: "42"},
		{fieldType: organism.Int, submitted: "-2147483648", want: "-2147483648"},
		{fieldType: organism.Int, submitted: "2147483648", want: "null", fault: `"2147483648"`},
		{fieldType: organism.Int, submitted: "1.0", want: "null", fault: "whole number"},
		{fieldType: organism.Int, submitted: "many", want: "null", fault: "whole number"},

		{fieldType: organism.Float, submitted: "5", want: "5.0"},
		{fieldType: organism.Float, submitted: "36.50", want: "36.5"},
		{fieldType: organism.Float, submitted: "-.5", want: "-0.5"},
		{fieldType: organism.Float, submitted: "1e300", want: "1e+300"},
		{fieldType: organism.Float, submitted: "1e999", want: "null", fault: "decimal number"},
		{fieldType: organism.Float, submitted: "NaN", want: "null", fault: "decimal number"},
		{fieldType: organism.Float, submitted: "0x1p4", want: "null", fault: "decimal number"},
		{fieldType: organism.Float, submitted: "3,5", want: "null", fault: `"3,5"`},

		{fieldType: organism.Number, submitted: "5", want: "5"},
		{fieldType: organism.Number, submitted: "5.25", want: "5.25"},
		{fieldType: organism.Number, submitted: "99999999999999999999", want: "1e+20"},
		{fieldType: organism.Number, submitted: "five", want: "null", fault: "decimal number"},

		{fieldType: organism.Boolean, submitted: "TRUE", want: "true"},
		{fieldType: organism.Boolean, submitted: "false", want: "false"},
		{fieldType: organism.Boolean, submitted: "yes", want: "null", fault: "neither true nor false"},

		{fieldType: organism.Date, submitted: "2016-02-29", want: `"2016-02-29"`},
		{fieldType: organism.Date, submitted: "2015-02-29", want: "null", fault: "YYYY-MM-DD"},
		{fieldType: organism.Date, submitted: "2016-13-45", want: "null", fault: "YYYY-MM-DD"},
		{fieldType: organism.Date, submitted: "9/28/16", want: "null", fault: `"9/28/16"`},
		{fieldType: organism.Date, submitted: "2016-2-9", want: "null", fault: "YYYY-MM-DD"},
		{fieldType: organism.Date, submitted: "0000-01-01", want: "null", fault: "YYYY-MM-DD"},
		{fieldType: organism.Date, submitted: "2013", want: "null", fault: `"2013"`, warning: true},
		{fieldType: organism.Date, submitted: "2013-12", want: "null", fault: "without a day", warning: true},
		{fieldType: organism.Date, submitted: "2013-12-XX", want: "null", fault: `"field"`, warning: true},
		{fieldType: organism.Date, submitted: "2013-xx-xx", want: "null", fault: "without a day", warning: true},
		{fieldType: organism.Date, submitted: "2013-13", want: "null", fault: "YYYY-MM-DD"},
		{fieldType: organism.Date, required: true, submitted: "2013-12-XX", want: "null", fault: "YYYY-MM-DD"},
	}
	for _, tt := range tests {
		t.Run(string(tt.fieldType)+" "+tt.submitted, func(t *testing.T) {
			t.Parallel()
			o := &organism.Organism{Metadata: []organism.Field{{Name: "field", Type: tt.fieldType, Required: tt.required}}}
			d := newDraft(seqlease.Entry{})
			d.readMetadata(o, map[string]string{"field": tt.submitted})
			if got := string(d.Data.Metadata["field"]); got != tt.want {
				t.Errorf("value %s, want %s", got, tt.want)
			}
			with, without := d.Errors, d.Warnings
			if tt.warning {
				with, without = without, with
			}
			if text := messages(with); len(without) > 0 || (tt.fault == "") != (text == "") || !strings.Contains(text, tt.fault) {
				t.Errorf("errors %q, warnings %q, want %q", messages(d.Errors), messages(d.Warnings), tt.fault)
			}
			if problems, _ := o.CheckProcessed(&d.Data); len(d.Errors) == 0 && len(problems) > 0 {
				t.Errorf("the value breaks the rules for results: %v", problems)
			}
		})
	}
}

func TestReadMetadata(t *testing.T) {
	t.Parallel()
	o := &organism.Organism{Metadata: []organism.Field{
		{Name: "date", Type: organism.Date}, {Name: "country", Type: organism.String, Required: true},
	}}
	d := newDraft(seqlease.Entry{})
	d.readMetadata(o, map[string]string{"virus": "zika", "city": "", "date": "today"})
	if diff := cmp.Diff(map[string]string{"date": "null", "country": "null"}, texts(d)); diff != "" {
		t.Errorf("metadata (-want +got):\n%s", diff)
	}
	source := func(name string) []seqlease.Source {
		return []seqlease.Source{{Type: seqlease.MetadataSource, Name: name}}
	}
	wantErrors := []seqlease.Annotation{
		{
			UnprocessedFields: source("date"), ProcessedFields: source("date"),
			Message: `The field "date" has the value "today", which is no date in the form YYYY-MM-DD.`,
		},
		{
			UnprocessedFields: source("country"), ProcessedFields: source("country"),
			Message: `The field "country" is required and has no value.`,
		},
	}
	if diff := cmp.Diff(wantErrors, d.Errors); diff != "" {
		t.Errorf("errors (-want +got):\n%s", diff)
	}
	wantWarnings := []seqlease.Annotation{{
		UnprocessedFields: append(source("city"), source("virus")...), ProcessedFields: []seqlease.Source{},
		Message: "The database has no field for these columns, so that they are left out: city, virus.",
	}}
	if diff := cmp.Diff(wantWarnings, d.Warnings); diff != "" {
		t.Errorf("warnings (-want +got):\n%s", diff)
	}
}

func texts(d *draft) map[string]string {
	values := map[string]string{}
	for name, value := range d.Data.Metadata {
		values[name] = string(value)
	}
	return values
}

func TestShortened(t *testing.T) {
	t.Parallel()
	if got, want := shortened(strings.Repeat("é", 90_000)), strings.Repeat("é", 80)+"…"; got != want {
		t.Errorf("got %q, want %q", got, want)
	}
}
