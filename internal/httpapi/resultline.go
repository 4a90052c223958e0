package httpapi

import (
	"bytes"
	"errors"
	"fmt"
	"slices"

	json "github.com/go-json-experiment/json"
	"github.com/go-json-experiment/json/jsontext"

	"github.com/seqlease/seqlease"
)

// resultLine is a line of results as it comes in. A nil member is missing or null.
type resultLine struct {
	Accession *string                 `json:"accession"`
	Version   *int64                  `json:"version"`
	AttemptID jsontext.Value          `json:"processingAttemptId"`
	Data      *seqlease.ProcessedData `json:"data"`
	Errors    []annotationBody        `json:"errors"`
	Warnings  []annotationBody        `json:"warnings"`
}

type annotationBody struct {
	UnprocessedFields []sourceBody `json:"unprocessedFields"`
	ProcessedFields   []sourceBody `json:"processedFields"`
	Message           *string      `json:"message"`
}

type sourceBody struct {
	Type *string `json:"type"`
	Name *string `json:"name"`
}

// decodedResult is a line that can be read. attemptFault says what is wrong with
// an attempt id that is there but isn't one: a matter of this line alone.
type decodedResult struct {
	result       seqlease.Result
	attemptFault string
}

// lineDecoder reads the lines of a body. It is for one goroutine.
type lineDecoder struct{ hollow hollow }

// maxHollow is how much of a line may be kept to be written over by the next.
const maxHollow = 64 << 10

// unmarshal reads the members of a line. What is wrong with it is told of the line as it
// came.
func (d *lineDecoder) unmarshal(line []byte) (body resultLine, err error) {
	d.hollow.empty(line)
	err = json.Unmarshal(d.hollow.line, &body, lenientResult)
	whole := err == nil && (len(d.hollow.texts) == 0 || body.Data != nil && d.hollow.fill(body.Data))
	if cap(d.hollow.line) > maxHollow {
		d.hollow = hollow{}
	}
	if whole {
		return body, nil
	}
	body = resultLine{}
	return body, json.Unmarshal(line, &body, lenientResult)
}

// lenientResult is lenient, but tells a map of FASTA ids that is null, which the protocol
// forbids, from one that is left out. Nothing else in a line is of that type.
var lenientResult = json.WithUnmarshalers(json.JoinUnmarshalers(
	json.UnmarshalFromFunc(func(d *jsontext.Decoder, _ *map[string]string) error {
		if d.PeekKind() == 'n' {
			return errors.New("it may be left out, but not be null")
		}
		return errors.ErrUnsupported
	}),
	lenientTypes,
))

// decode reads a line. The error names the line and the member.
func (d *lineDecoder) decode(number int, line []byte) (decodedResult, error) {
	body, err := d.unmarshal(line)
	if err != nil {
		return decodedResult{}, invalidJSON(number, err)
	}
	if missing := body.missing(); missing != "" {
		return decodedResult{}, atLine(number, missingInLine(missing))
	}
	decoded := decodedResult{result: seqlease.Result{
		AccessionVersion: seqlease.AccessionVersion{
			Accession: seqlease.Accession(*body.Accession), Version: seqlease.Version(*body.Version),
		},
		Data: *body.Data,
	}}
	var fault *seqlease.InvalidError
	if decoded.result.Errors, fault = annotations("errors", body.Errors); fault != nil {
		return decoded, atLine(number, fault)
	}
	if decoded.result.Warnings, fault = annotations("warnings", body.Warnings); fault != nil {
		return decoded, atLine(number, fault)
	}
	decoded.result.AttemptID, decoded.attemptFault = attemptID(body.AttemptID)
	return decoded, nil
}

// namedEntry returns which entry a line that can't be decoded is about, as far as
// it can be read. Parts that can't are empty.
func namedEntry(line []byte) seqlease.AccessionVersion {
	var body struct {
		Accession string `json:"accession"`
		Version   int64  `json:"version"`
	}
	_ = json.Unmarshal(line, &body, lenient) // what came before the fault is there
	return seqlease.AccessionVersion{Accession: seqlease.Accession(body.Accession), Version: seqlease.Version(body.Version)}
}

// missing names the first required member that is missing or null.
func (b *resultLine) missing() string {
	switch {
	case b.Accession == nil:
		return "accession"
	case b.Version == nil:
		return "version"
	case b.Data == nil:
		return "data"
	case b.Data.Metadata == nil:
		return "data.metadata"
	case b.Data.UnalignedNucleotideSequences == nil:
		return "data.unalignedNucleotideSequences"
	case b.Data.AlignedNucleotideSequences == nil:
		return "data.alignedNucleotideSequences"
	case b.Data.NucleotideInsertions == nil:
		return "data.nucleotideInsertions"
	case b.Data.AlignedAminoAcidSequences == nil:
		return "data.alignedAminoAcidSequences"
	case b.Data.AminoAcidInsertions == nil:
		return "data.aminoAcidInsertions"
	default:
		return ""
	}
}

// attemptID reads the attempt id. The zero id stands for one that is missing,
// null or empty.
func attemptID(value jsontext.Value) (id seqlease.AttemptID, fault string) {
	switch {
	case len(value) == 0, value.Kind() == 'n', bytes.Equal(value, []byte(`""`)):
		return id, ""
	case value.Kind() != '"':
		return id, "processingAttemptId must be the text that came with the entry, not a JSON " + value.Kind().String()
	}
	text, err := jsontext.AppendUnquote(nil, value)
	if err == nil {
		id, err = seqlease.ParseAttemptID(string(text))
	}
	if err != nil {
		return id, fmt.Sprintf("processingAttemptId: %v; copy it unchanged from the entry's line", err)
	}
	return id, ""
}

// annotations checks errors or warnings, of which every member is required.
func annotations(list string, bodies []annotationBody) ([]seqlease.Annotation, *seqlease.InvalidError) {
	result := make([]seqlease.Annotation, len(bodies))
	for i, body := range bodies {
		name := fmt.Sprintf("%s.%d.", list, i)
		if body.Message == nil {
			return nil, missingInLine(name + "message")
		}
		result[i].Message = *body.Message
		var fault *seqlease.InvalidError
		if result[i].UnprocessedFields, fault = sources(name+"unprocessedFields", body.UnprocessedFields); fault != nil {
			return nil, fault
		}
		if result[i].ProcessedFields, fault = sources(name+"processedFields", body.ProcessedFields); fault != nil {
			return nil, fault
		}
	}
	return result, nil
}

func sources(list string, bodies []sourceBody) ([]seqlease.Source, *seqlease.InvalidError) {
	if bodies == nil {
		return nil, missingInLine(list)
	}
	known := []seqlease.SourceType{seqlease.MetadataSource, seqlease.NucleotideSequenceSource, seqlease.FileSource}
	result := make([]seqlease.Source, len(bodies))
	for i, body := range bodies {
		name := fmt.Sprintf("%s.%d.", list, i)
		switch {
		case body.Type == nil:
			return nil, missingInLine(name + "type")
		case body.Name == nil:
			return nil, missingInLine(name + "name")
		case !slices.Contains(known, seqlease.SourceType(*body.Type)):
			return nil, seqlease.InvalidParameter(name+"type", fmt.Sprintf("%stype: %.40q is none of %v", name, *body.Type, known))
		}
		result[i] = seqlease.Source{Type: seqlease.SourceType(*body.Type), Name: *body.Name}
	}
	return result, nil
}

// atLine adds the line to the problems of an error about it.
func atLine(number int, e *seqlease.InvalidError) *seqlease.InvalidError {
	for i := range e.Problems {
		e.Problems[i].Line = number
		e.Problems[i].Message = unreadableLine + ": " + e.Problems[i].Message
	}
	return e
}
