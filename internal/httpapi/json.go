package httpapi

import (
	"context"
	"errors"
	"fmt"
	"io"
	"net/http"
	"strconv"
	"strings"

	json "github.com/go-json-experiment/json"
	"github.com/go-json-experiment/json/jsontext"

	"github.com/seqlease/seqlease"
)

// lenient reads scalars as the protocol does: a number or a truth value where a
// text is wanted, and a text of digits where a number is. Unknown members are
// ignored, but for operations that refuse them ([strict]); names count by case, and
// none may occur twice in an object.
var lenient = json.WithUnmarshalers(lenientTypes)

var lenientTypes = json.JoinUnmarshalers(
	json.UnmarshalFromFunc(func(d *jsontext.Decoder, text *string) error {
		switch d.PeekKind() {
		case '0', 't', 'f':
			value, err := d.ReadValue()
			*text = string(value)
			return err
		default:
			return errors.ErrUnsupported
		}
	}),
	json.UnmarshalFromFunc(func(d *jsontext.Decoder, n *int64) error {
		if d.PeekKind() != '"' {
			return errors.ErrUnsupported
		}
		token, err := d.ReadToken()
		if err != nil {
			return err
		}
		text := token.String()
		if *n, err = strconv.ParseInt(text, 10, 64); err != nil {
			return fmt.Errorf("%.40q is not a whole number", text)
		}
		return nil
	}),
	json.UnmarshalFromFunc(func(d *jsontext.Decoder, _ *seqlease.Insertion) error {
		if d.PeekKind() == 'n' {
			return errors.New("null is not an insertion; write POSITION:SEQUENCE, such as 248:GAC")
		}
		return errors.ErrUnsupported
	}),
)

// smallJSON is how much of a JSON body is read without a place, and mediumJSON how
// much without asking for much memory.
const (
	smallJSON  = 64 << 10
	mediumJSON = 1 << 20
)

// jsonBody names such a body in errors.
const jsonBody = "JSON body"

// readJSON reads the JSON body of a request, of at most limit bytes. Long ones
// wait until there is memory for them and what comes of them.
func (s *server) readJSON(r *http.Request, into any, limit int64, options ...json.Options) error {
	if t := mediaType(r); t != "application/json" && !strings.HasSuffix(t, "+json") {
		return unsupportedMediaType("send the body as Content-Type: application/json")
	}
	if err := checkLength(r, limit, jsonBody); err != nil {
		return err
	}
	body := bodyOf(r)
	if err := body.fetch(); err != nil {
		return err
	}
	source := limited(body, limit, jsonBody)
	var text []byte
	for _, step := range []struct {
		upTo int64
		ask  func(context.Context) error
	}{
		{smallJSON, func(context.Context) error { return nil }},
		{mediumJSON, func(ctx context.Context) error { return body.hold(ctx, s.budget.json) }},
		{maxJSONBody + 1, body.holdLarge},
	} {
		if err := step.ask(r.Context()); err != nil {
			return err
		}
		more, err := io.ReadAll(io.LimitReader(source, step.upTo-int64(len(text))))
		if err != nil {
			return bodyError(err)
		}
		if text = append(text, more...); int64(len(text)) < step.upTo {
			break
		}
	}
	options = append(options, lenient, json.RejectUnknownMembers(body.strict != nil))
	if err := json.Unmarshal(text, into, options...); err != nil {
		if refused, is := unknownMember(err, body.strict); is {
			return refused
		}
		return invalidJSON(0, err)
	}
	return nil
}

// readOptionalJSON does the same for a body that needn't be there.
func (s *server) readOptionalJSON(r *http.Request, into any, limit int64) error {
	if r.ContentLength == 0 {
		return nil
	}
	return s.readJSON(r, into, limit)
}

// What errors call a body and a line that don't hold what they should, in the
// protocol's words.
const (
	unreadableBody = "the body could not be deserialised"
	unreadableLine = "the line could not be deserialised"
)

// missingMember is what a body without a required member gets.
func missingMember(name string) *seqlease.InvalidError {
	e := missingInLine(name)
	e.Problems[0].Message = unreadableBody + ": " + e.Problems[0].Message
	return e
}

// missingInLine is the same for a line, of which [atLine] says so.
func missingInLine(name string) *seqlease.InvalidError {
	return seqlease.InvalidParameter(name, name+" is missing or null")
}

// invalidJSON says in the protocol's words what is wrong with a line (from 1; 0
// for a body that has no lines).
func invalidJSON(line int, err error) *seqlease.InvalidError {
	p := seqlease.Problem{Line: line, Message: unreadableBody}
	if line > 0 {
		p.Message = unreadableLine
	}
	var semantic *json.SemanticError
	var syntactic *jsontext.SyntacticError
	switch {
	case errors.As(err, &semantic):
		p.Field = memberName(semantic.JSONPointer)
		if semantic.Err != nil {
			p.Message += ": " + semantic.Err.Error()
		} else {
			p.Message += ": a " + semantic.JSONKind.String() + " can't stand here"
		}
	case errors.As(err, &syntactic):
		p.Field = memberName(syntactic.JSONPointer)
		p.Message += fmt.Sprintf(": not valid JSON at byte %d: %v", syntactic.ByteOffset+1, syntactic.Err)
	default:
		p.Message += ": " + err.Error()
	}
	p.Message = cut(p.Message, 2*maxShown)
	return &seqlease.InvalidError{Kind: seqlease.InvalidRequest, Problems: []seqlease.Problem{p}}
}

// memberName writes a pointer as "data.metadata.country", cut to a readable length.
func memberName(pointer jsontext.Pointer) string {
	var name strings.Builder
	for token := range pointer.Tokens() {
		if name.Len() > maxShown {
			break
		}
		if name.Len() > 0 {
			name.WriteByte('.')
		}
		name.WriteString(token)
	}
	return cut(name.String(), maxShown)
}

// orEmpty makes an empty list of none, which JSON would show as null.
func orEmpty[T any](list []T) []T {
	if list == nil {
		return []T{}
	}
	return list
}

// listOf converts a list; the result is never nil.
func listOf[T, U any](list []T, convert func(T) U) []U {
	converted := make([]U, len(list))
	for i, x := range list {
		converted[i] = convert(x)
	}
	return converted
}
