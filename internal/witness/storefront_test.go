package witness_test

import (
	"context"
	"crypto/sha256"
	"encoding/json"
	"errors"
	"fmt"
	"iter"
	"sync"
	"time"

	"github.com/seqlease/seqlease"
	"github.com/seqlease/seqlease/internal/organism"
	"github.com/seqlease/seqlease/internal/queue"
	"github.com/seqlease/seqlease/internal/submission"
	"github.com/seqlease/seqlease/internal/witness"
)

const fern seqlease.Organism = "fern"

// ferns is the organism of all histories: entries are a tag and nothing else.
func ferns() []*organism.Organism {
	return []*organism.Organism{{
		Key: fern, DisplayName: "Fern virus", Metadata: []organism.Field{{Name: "tag", Type: organism.String}},
	}}
}

// store is what both stores are.
type store interface {
	queue.Store
	submission.Store
	Register(ctx context.Context, organisms []*organism.Organism) error
}

// storefront lets workers call a store.
type storefront struct{ store }

func document(v any) []byte {
	b, err := json.Marshal(v)
	if err != nil {
		panic(err)
	}
	return b
}

// data is the document of an entry.
func data(tag string) []byte {
	return document(seqlease.SubmittedData{Metadata: map[string]string{"tag": tag}})
}

// result is the document of a result.
func result(tag string) []byte {
	return document(seqlease.StoredResult{
		Data:   seqlease.ProcessedData{Metadata: map[string]json.RawMessage{"tag": document(tag)}},
		Errors: []seqlease.Annotation{}, Warnings: []seqlease.Annotation{},
	})
}

func (f storefront) claim(ctx context.Context, v seqlease.PipelineVersion, n int, lease time.Duration, user string) (claimed, error) {
	asked := queue.Claim{Organism: fern, PipelineVersion: v, Entries: n, AttemptID: seqlease.NewAttemptID(), Lease: lease, ClaimedBy: user}
	l, err := f.Claim(ctx, asked)
	if err != nil {
		return claimed{attempt: asked.AttemptID}, err
	}
	c := claimed{attempt: l.AttemptID, until: l.Until}
	for _, e := range l.Entries {
		packed, err := f.Unpack(context.WithoutCancel(ctx), e.Packed)
		if err != nil {
			return c, err
		}
		var d seqlease.SubmittedData
		if err := json.Unmarshal(packed, &d); err != nil {
			return c, err
		}
		c.parts = append(c.parts, witness.Part{AccessionVersion: e.AccessionVersion, Tag: d.Metadata["tag"], Try: e.Attempt})
	}
	return c, nil
}

func (f storefront) submit(ctx context.Context, v seqlease.PipelineVersion, user string, lines []witness.Part, skip bool) ([]witness.Answer, error) {
	s := queue.Submission{Organism: fern, PipelineVersion: v, ClaimedBy: user, Skip: skip}
	for i, line := range lines {
		packed, err := f.Pack(fern, result(line.Tag))
		if err != nil {
			return nil, err
		}
		digest := sha256.Sum256(result(line.Tag))
		s.Lines = append(s.Lines, queue.Line{
			AccessionVersion: line.AccessionVersion, Number: i + 1, AttemptID: line.Attempt,
			Result: seqlease.NoIssues, Digest: [16]byte(digest[:]), Packed: packed,
		})
	}
	accepted, err := f.AcceptResults(ctx, s)
	return answers(len(lines), accepted.Stored, accepted.Refused, skip, err)
}

// answers says what became of each line.
func answers(lines, stored int, refused []seqlease.Refusal, skip bool, err error) ([]witness.Answer, error) {
	var all *seqlease.RefusedError
	isRefused := errors.As(err, &all)
	switch {
	case isRefused && skip:
		return nil, fmt.Errorf("refused though the good lines were to be stored: %s", all.Error())
	case isRefused:
		refused = all.Refused
	case err != nil:
		return nil, err
	}
	list := make([]witness.Answer, lines)
	for i := range list {
		list[i] = witness.Stored
		if isRefused {
			list[i] = witness.Aborted
		}
	}
	for _, r := range refused {
		list[r.Line-1] = witness.Answer(r.Reason)
	}
	if !isRefused && stored != lines-len(refused) {
		return nil, fmt.Errorf("%d lines stored and %d refused of %d", stored, len(refused), lines)
	}
	return list, nil
}

func (f storefront) renew(ctx context.Context, id seqlease.AttemptID, user string, lease time.Duration) (renewed, error) {
	r, err := f.Renew(ctx, queue.Renew{Organism: fern, AttemptID: id, ClaimedBy: user, Lease: lease})
	return renewed{until: r.Until, held: r.Held, lost: r.Lost}, err
}

func (f storefront) giveBack(ctx context.Context, id seqlease.AttemptID, user string, entries []seqlease.AccessionVersion, counted bool) (int, error) {
	return f.GiveBack(ctx, queue.GiveBack{AttemptID: id, Organism: fern, ClaimedBy: user, Entries: entries, CountsAsAttempt: counted, Reason: "tired"})
}

// storeDesk works on a store that it shares with the workers or with servers.
type storeDesk struct {
	store
	backdoor
	group int64
}

// ids are the store's numbers of entries, also of those that are deleted since.
type ids struct {
	mu    sync.Mutex
	known map[int64]seqlease.AccessionVersion
}

func (i *ids) put(id int64, av seqlease.AccessionVersion) {
	i.mu.Lock()
	defer i.mu.Unlock()
	if i.known == nil {
		i.known = map[int64]seqlease.AccessionVersion{}
	}
	i.known[id] = av
}

// part is what a record says of an entry.
func (i *ids) part(id int64, try int) witness.Part {
	i.mu.Lock()
	defer i.mu.Unlock()
	return witness.Part{AccessionVersion: i.known[id], Try: try}
}

// backdoor is what a desk needs to know that no store tells, in SQL of its own.
type backdoor interface {
	// secondVersion makes pipeline version 2 live, before there are entries.
	secondVersion(ctx context.Context) error
	results(ctx context.Context, v seqlease.PipelineVersion) ([]witness.Part, error)
	running(ctx context.Context) ([]batch, error)
	quarantined(ctx context.Context) ([]witness.Place, error)
	learn(ctx context.Context) error
	records(ctx context.Context) ([]witness.Record, error)
	shorten(ctx context.Context, id seqlease.AttemptID, within time.Duration) (time.Time, []witness.Part, error)
}

const submitter = "anna"

func newStoreDesk(ctx context.Context, s store, b backdoor) (*storeDesk, error) {
	if err := s.Register(ctx, ferns()); err != nil {
		return nil, err
	}
	if err := b.secondVersion(ctx); err != nil {
		return nil, err
	}
	g, err := s.CreateGroup(ctx, seqlease.NewGroup{GroupName: "Fernery", ContactEmail: "fern@example.org"}, submitter)
	return &storeDesk{store: s, backdoor: b, group: g.GroupID}, err
}

func (d *storeDesk) now(ctx context.Context) (time.Time, error) { return d.Now(ctx) }

// keepOnce is a small sweep, and judges what is used up.
func (d *storeDesk) keepOnce(ctx context.Context) error {
	_, _, err := d.Sweep(ctx, 5)
	return errors.Join(err, storeConsole{d.store}.judgeSpent(ctx))
}

func (d *storeDesk) create(ctx context.Context, tags []string) ([]seqlease.AccessionVersion, error) {
	entries := func(yield func(submission.PackedEntry, error) bool) {
		for _, tag := range tags {
			packed, err := d.Pack(fern, data(tag))
			if !yield(submission.PackedEntry{SubmissionID: tag, Data: packed}, err) {
				return
			}
		}
	}
	mappings, err := d.Submit(ctx, submission.Upload{
		Organism: fern, GroupID: d.group, Submitter: submitter, AccessionPrefix: "A_",
		Terms: seqlease.DataUseTerms{Type: seqlease.TermsOpen}, Entries: iter.Seq2[submission.PackedEntry, error](entries),
	})
	list := make([]seqlease.AccessionVersion, len(mappings))
	for i, m := range mappings {
		list[i] = m.AccessionVersion
	}
	return list, err
}

func (d *storeDesk) edit(ctx context.Context, av seqlease.AccessionVersion, tag string) error {
	return d.Edit(ctx, submission.Edit{Organism: fern, AccessionVersion: av, Data: data(tag)})
}

func (d *storeDesk) remove(ctx context.Context, av seqlease.AccessionVersion) error {
	_, err := d.Delete(ctx, submission.Deletion{Organism: fern, User: submitter, Scope: seqlease.DeleteAll, Entries: []seqlease.AccessionVersion{av}})
	return err
}

func (d *storeDesk) statuses(ctx context.Context) ([]witness.Part, error) {
	var parts []witness.Part
	_, err := d.List(ctx, submission.ListFilter{Organism: fern}, func(e submission.ListedEntry) error {
		parts = append(parts, witness.Part{AccessionVersion: e.AccessionVersion, Status: e.Status})
		return nil
	})
	return parts, err
}

func (d *storeDesk) released(ctx context.Context) ([]witness.Part, error) {
	if _, err := d.Approve(ctx, submission.Approval{Organism: fern, Approver: submitter, Scope: seqlease.ApproveAll}); err != nil {
		return nil, err
	}
	var parts []witness.Part
	err := d.ReadReleased(ctx, fern, func(submission.ReleasedHead) error { return nil }, func(e submission.ReleasedEntry) error {
		var r seqlease.StoredResult
		if err := json.Unmarshal(e.Result, &r); err != nil {
			return err
		}
		part, err := releasedPart(e.AccessionVersion, r.Data.Metadata)
		parts = append(parts, part)
		return err
	})
	return parts, err
}

func releasedPart(av seqlease.AccessionVersion, metadata map[string]json.RawMessage) (witness.Part, error) {
	part := witness.Part{AccessionVersion: av}
	return part, json.Unmarshal(metadata["tag"], &part.Tag)
}
