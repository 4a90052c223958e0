package submission

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"maps"
	"slices"
	"unicode/utf8"

	"github.com/go-json-experiment/json/jsontext"

	"github.com/seqlease/seqlease"
	"github.com/seqlease/seqlease/internal/organism"
)

// ExternalStore is what metadata that comes after the release needs of storage.
type ExternalStore interface {
	// SetExternalMetadata replaces what an updater says of entries, all or nothing,
	// with one note in the audit log. Each entry must exist, be of the organism and be
	// released, which is tested under its lock: else nothing is changed and the error
	// is a [*StateError]. What is released has changed only if a document is another
	// than before.
	SetExternalMetadata(ctx context.Context, u ExternalUpdate) error
}

// ExternalUpdate is what an updater says of entries.
type ExternalUpdate struct {
	Organism seqlease.Organism
	Updater  string
	User     string          // of the token
	Entries  []ExternalEntry // in order, once each
	// CheckOnly has the entries looked at and nothing changed.
	CheckOnly bool
}

// ExternalEntry is what an updater says of one entry.
type ExternalEntry struct {
	seqlease.AccessionVersion
	Body []byte // a JSON object, its members in order of their names
}

// ExternalDocument is the same as it is kept beside the entry.
type ExternalDocument struct {
	Updater string
	Body    []byte
}

// The limits of one call.
const (
	// MaxExternalLines is how many lines it may have.
	MaxExternalLines = 100_000
	// MaxUpdaterName is the longest name of an updater in characters.
	MaxUpdaterName = 255
)

// ExternalMetadata takes in the lines of an updater's call, checks them, and stores
// all of them or none. It is for one goroutine.
type ExternalMetadata struct {
	submissions *Submissions
	organism    *organism.Organism
	user        string
	updater     string
	lines       []externalLine
	entries     map[seqlease.AccessionVersion][]byte
	bytes       int64
	// problems of the first faulty lines, by line; faulty lines beyond are only counted.
	problems map[int]*seqlease.InvalidError
	more     int
}

// externalLine is a line that could be read.
type externalLine struct {
	number int
	seqlease.AccessionVersion
	uncounted int // problems of it that are only counted
}

// NewExternalMetadata begins a call. Errors: [seqlease.ErrUnknownOrganism], and a
// [*seqlease.InvalidError] if no updater can be called so.
func (s *Submissions) NewExternalMetadata(p seqlease.Person, o seqlease.Organism, updater string) (*ExternalMetadata, error) {
	configured, err := s.organisms.Get(o)
	if err != nil {
		return nil, err
	}
	if updater == "" || utf8.RuneCountInString(updater) > MaxUpdaterName || !seqlease.IsStorable(updater) {
		return nil, seqlease.InvalidParameter("externalMetadataUpdater",
			fmt.Sprintf("externalMetadataUpdater must be a name of 1 to %d characters", MaxUpdaterName))
	}
	return &ExternalMetadata{
		submissions: s, organism: configured, user: p.Name, updater: updater,
		entries: map[seqlease.AccessionVersion][]byte{}, problems: map[int]*seqlease.InvalidError{},
	}, nil
}

// Add takes in a line (from 1): the metadata of an entry. Of several lines for one
// entry the last counts, as if each had come alone. What is wrong with the line is
// told by Commit. The error is [seqlease.ErrTooLarge] if there are too many lines.
func (x *ExternalMetadata) Add(line int, entry seqlease.AccessionVersion, metadata map[string]json.RawMessage) error {
	if len(x.lines) == MaxExternalLines {
		return seqlease.Explain(seqlease.ErrTooLarge, "a call may have at most %d lines of external metadata: send several", MaxExternalLines)
	}
	if !seqlease.IsStorable(string(entry.Accession)) {
		x.refuse(line, seqlease.Invalid(seqlease.Problem{Line: line, Field: "accession", Message: fmt.Sprintf("no accession can be %q", entry.Accession)}))
		return nil
	}
	x.lines = append(x.lines, externalLine{number: line, AccessionVersion: entry})
	if found := x.check(line, entry, metadata); len(found.Problems) > 0 {
		before := x.more
		x.refuse(line, found)
		x.lines[len(x.lines)-1].uncounted = x.more - before
		return nil
	}
	body := documentOf(metadata)
	x.bytes += int64(len(body) - len(x.entries[entry]))
	x.entries[entry] = body
	return nil
}

// lineBytes is about what is kept of a line beside its document.
const lineBytes = 200

// Memory is about how many bytes are kept until Commit, which takes some four times
// as much.
func (x *ExternalMetadata) Memory() int64 { return x.bytes + lineBytes*int64(len(x.lines)) }

// Refuse notes a line that can't be read at all.
func (x *ExternalMetadata) Refuse(line int, fault *seqlease.InvalidError) { x.refuse(line, fault) }

func (x *ExternalMetadata) refuse(line int, found *seqlease.InvalidError) {
	if len(x.problems) < seqlease.MaxListedProblems {
		x.problems[line] = found
		return
	}
	x.more += len(found.Problems) + found.More
}

// check returns what is wrong with the metadata of a line.
func (x *ExternalMetadata) check(line int, entry seqlease.AccessionVersion, metadata map[string]json.RawMessage) *seqlease.InvalidError {
	found := &seqlease.InvalidError{}
	add := func(p seqlease.Problem) {
		p.Line, p.Record = line, entry.String()
		found.Add(p)
	}
	problems, more := x.organism.CheckExternal(x.updater, metadata)
	for _, p := range problems {
		add(p)
	}
	found.More += more
	if len(found.Problems) > 0 {
		return found
	}
	for _, name := range slices.Sorted(maps.Keys(metadata)) {
		value := jsontext.Value(metadata[name])
		if value.Kind() != '"' {
			continue
		}
		if text, err := jsontext.AppendUnquote(nil, value); err != nil || !seqlease.IsStorable(string(text)) {
			add(seqlease.Problem{Field: name, Message: "holds a NUL character or broken Unicode, which can't be stored; remove it"})
		}
	}
	return found
}

// documentOf writes metadata in one way, whatever the order and the blanks were.
func documentOf(metadata map[string]json.RawMessage) []byte {
	document := []byte{'{'}
	for i, name := range slices.Sorted(maps.Keys(metadata)) {
		if i > 0 {
			document = append(document, ',')
		}
		value := metadata[name]
		if len(value) == 0 {
			value = json.RawMessage("null")
		}
		document = append(append(appendText(document, name), ':'), value...)
	}
	return append(document, '}')
}

// Commit stores what came in, or nothing: then the error is a
// [*seqlease.InvalidError] with the problems in the order of the lines, each with its
// line and entry. Its kind is that of the first. A line's entry is judged before its
// metadata: it must exist, be released and be of the organism.
func (x *ExternalMetadata) Commit(ctx context.Context) error {
	if len(x.lines) == 0 && len(x.problems) == 0 {
		return nil
	}
	faulty := len(x.problems) > 0
	var state *StateError
	if len(x.lines) > 0 {
		err := x.submissions.store.SetExternalMetadata(ctx, ExternalUpdate{
			Organism: x.organism.Key, Updater: x.updater, User: x.user, Entries: x.update(faulty), CheckOnly: faulty,
		})
		if err != nil && !errors.As(err, &state) {
			return fmt.Errorf("external metadata of %s: %w", x.organism.Key, err)
		}
	}
	if !faulty && state == nil {
		return nil
	}
	return x.refusal(state)
}

// update returns the entries in order; of a call that is refused anyway also those
// whose metadata is wrong.
func (x *ExternalMetadata) update(faulty bool) []ExternalEntry {
	if faulty {
		for _, l := range x.lines {
			if _, known := x.entries[l.AccessionVersion]; !known {
				x.entries[l.AccessionVersion] = nil
			}
		}
	}
	list := make([]ExternalEntry, 0, len(x.entries))
	for entry, body := range x.entries {
		list = append(list, ExternalEntry{entry, body})
	}
	slices.SortFunc(list, func(a, b ExternalEntry) int { return a.Compare(b.AccessionVersion) })
	return list
}

// refusal lists the problems by line. state may be nil.
func (x *ExternalMetadata) refusal(state *StateError) error {
	byLine, more := maps.Clone(x.problems), x.more
	refused := &seqlease.InvalidError{}
	faults := state.byEntry()
	for _, l := range x.lines {
		if message, found := faults[l.AccessionVersion]; found {
			byLine[l.number] = seqlease.Invalid(seqlease.Problem{Line: l.number, Record: l.String(), Message: message})
			more -= l.uncounted
		}
	}
	for i, line := range slices.Sorted(maps.Keys(byLine)) {
		found := byLine[line]
		if i == 0 {
			refused.Kind = found.Kind
		}
		for _, p := range found.Problems {
			refused.Add(p)
		}
		refused.More += found.More
	}
	refused.More += more
	return refused
}

// byEntry says of each entry the first thing that is wrong with its state.
func (e *StateError) byEntry() map[seqlease.AccessionVersion]string {
	faults := map[seqlease.AccessionVersion]string{}
	if e == nil {
		return faults
	}
	for of, entries := range e.Foreign {
		for _, entry := range entries {
			faults[entry] = fmt.Sprintf("it is of organism %s", of)
		}
	}
	for entry, status := range e.WrongStatus {
		faults[entry] = fmt.Sprintf("entries must be in status %v, but %s - %s", e.WantStatuses, entry, status)
	}
	for _, entry := range e.Missing {
		faults[entry] = "it does not exist"
	}
	return faults
}
