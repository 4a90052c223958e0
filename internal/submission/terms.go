package submission

import (
	"context"
	"fmt"
	"iter"
	"slices"
	"time"

	"github.com/seqlease/seqlease"
)

// TermsStore is what data use terms need of storage.
type TermsStore interface {
	// ChangeTerms adds the terms to the history of each accession, with one instant,
	// all or nothing, under the locks of the entries: a [*StateError] if some have no
	// entry, else what [RefuseTerms] says. The mark of what is released
	// changes, of every organism that has one of the accessions.
	ChangeTerms(ctx context.Context, c TermsChange) error
	// TermsHistory returns up to limit changes of an accession's terms, oldest first:
	// those whose number is above after. The first is how the accession was
	// submitted. The history outlives the entries.
	TermsHistory(ctx context.Context, accession seqlease.Accession, after int64, limit int) ([]TermsRecord, error)
}

// TermsChange is a change of data use terms, ready to be stored.
type TermsChange struct {
	Accessions []seqlease.Accession // in order, once each, at least one
	Terms      seqlease.DataUseTerms
	By         string
}

// TermsRecord is one step in the history of an accession's data use terms.
type TermsRecord struct {
	Number    int64 // ascends within an accession; 0 where nothing has changed since it was submitted
	ChangedAt time.Time
	By        string
	Terms     seqlease.DataUseTerms
}

// TermsRequest asks for other data use terms. TermsType and RestrictedUntil are
// as in the request: OPEN or RESTRICTED, and a day YYYY-MM-DD.
type TermsRequest struct {
	Accessions      []seqlease.Accession
	TermsType       string
	RestrictedUntil string
}

// ChangeTerms changes the data use terms of accessions, all or nothing, with all
// their versions and at once. Errors, in this order: a [*seqlease.InvalidError] for
// terms that can't be; [seqlease.ErrState] for accessions without an entry;
// [seqlease.ErrForbidden]; [seqlease.ErrState] for a change that isn't allowed.
// Where terms aren't enabled all that is submitted is open, and the same rules hold.
func (s *Submissions) ChangeTerms(ctx context.Context, p seqlease.Person, r TermsRequest) error {
	terms, err := s.readTerms(ctx, "newDataUseTerms.type", "newDataUseTerms.restrictedUntil", r.TermsType, r.RestrictedUntil)
	if err != nil {
		return err
	}
	accessions := slices.Compact(slices.Sorted(slices.Values(r.Accessions)))
	if len(accessions) == 0 {
		return nil
	}
	found, err := s.store.NewestStandings(ctx, accessions)
	if err != nil {
		return fmt.Errorf("where %d accessions stand: %w", len(accessions), err)
	}
	if unknown := unknownOf(accessions, found); len(unknown) > 0 {
		return &StateError{Unknown: unknown}
	}
	groupOf := make(map[seqlease.AccessionVersion]int64, len(found))
	for _, st := range found {
		groupOf[st.AccessionVersion] = st.GroupID
	}
	if err := s.mayActForGroups(ctx, p, groupOf); err != nil {
		return err
	}
	if err := s.store.ChangeTerms(ctx, TermsChange{Accessions: accessions, Terms: terms, By: p.Name}); err != nil {
		return fmt.Errorf("change data use terms: %w", err)
	}
	return nil
}

// RefuseTerms returns why the terms can't follow those that are stored, by
// accession, or nil: open data stays open, and a restriction never gets longer.
func RefuseTerms(next seqlease.DataUseTerms, stored map[seqlease.Accession]seqlease.DataUseTerms) error {
	var open, longer []seqlease.Accession
	for accession, terms := range stored {
		switch {
		case terms.Type == seqlease.TermsOpen:
			open = append(open, accession)
		case next.Type == seqlease.TermsRestricted && next.RestrictedUntil.After(terms.RestrictedUntil):
			longer = append(longer, accession)
		}
	}
	slices.Sort(longer)
	switch {
	case len(open) > 0 && next.Type == seqlease.TermsOpen:
		return seqlease.Explain(seqlease.ErrState, "the data use terms of %s are OPEN already: leave them out", firstOf(open))
	case len(open) > 0:
		return seqlease.Explain(seqlease.ErrState, "the data use terms of %s are OPEN, and open data can't be restricted: leave them out", firstOf(open))
	case len(longer) > 0:
		end := stored[longer[0]].RestrictedUntil
		return seqlease.Explain(seqlease.ErrState, "a restriction can't be extended to %s: that of %s ends on %s (cannot extend: %s)",
			day(next.RestrictedUntil), longer[0], day(end), firstOf(longer))
	default:
		return nil
	}
}

// firstOf lists the first maxNamed accessions.
func firstOf(list []seqlease.Accession) string {
	return first(slices.Sorted(slices.Values(list)), func(a seqlease.Accession) string { return string(a) })
}

// recordsAtOnce is how many changes of terms are read at a time: who repeats one
// adds to the history each time.
const recordsAtOnce = 500

// TermsHistory yields the history of an accession's data use terms, oldest first,
// read page by page; a change that is made meanwhile may be missing. An error is
// the last that comes: [seqlease.ErrNotFound], alone, for an accession that never was.
func (s *Submissions) TermsHistory(ctx context.Context, accession seqlease.Accession) iter.Seq2[TermsRecord, error] {
	return func(yield func(TermsRecord, error) bool) {
		var after int64
		for first := true; ; first = false {
			var page []TermsRecord
			var err error
			if accession.Fault() == "" {
				page, err = s.store.TermsHistory(ctx, accession, after, recordsAtOnce)
			}
			if err == nil && first && len(page) == 0 {
				err = seqlease.Explain(seqlease.ErrNotFound, "there are no data use terms of %.255q: no such accession was ever submitted", accession)
			}
			if err != nil {
				yield(TermsRecord{}, fmt.Errorf("data use terms: %w", err))
				return
			}
			for _, record := range page {
				if !yield(record, nil) {
					return
				}
				after = record.Number
			}
			if len(page) < recordsAtOnce {
				return
			}
		}
	}
}

// uploadTerms reads the data use terms of an upload.
func (s *Submissions) uploadTerms(ctx context.Context, kind, until string) (seqlease.DataUseTerms, error) {
	if !s.options.DataUseTerms.Enabled {
		return seqlease.DataUseTerms{Type: seqlease.TermsOpen}, nil
	}
	return s.readTerms(ctx, "dataUseTermsType", "restrictedUntil", kind, until)
}

// readTerms reads data use terms, whose parts the request calls so. Today is the
// database's (L11).
func (s *Submissions) readTerms(ctx context.Context, kindName, untilName, kind, until string) (seqlease.DataUseTerms, error) {
	open := seqlease.DataUseTerms{Type: seqlease.TermsOpen}
	switch seqlease.TermsType(kind) {
	case seqlease.TermsOpen:
		return open, nil
	case seqlease.TermsRestricted:
	case "":
		return open, seqlease.InvalidParameter(kindName, kindName+" is missing: write OPEN or RESTRICTED")
	default:
		return open, seqlease.InvalidParameter(kindName, fmt.Sprintf("%s must be OPEN or RESTRICTED, not %.40q", kindName, kind))
	}
	if until == "" {
		return open, seqlease.InvalidParameter(untilName, untilName+" is missing: RESTRICTED needs a day, YYYY-MM-DD")
	}
	end, err := time.Parse(time.DateOnly, until)
	if err != nil {
		return open, seqlease.InvalidParameter(untilName, fmt.Sprintf("%s must be a day, YYYY-MM-DD, not %.40q", untilName, until))
	}
	now, err := s.store.Now(ctx)
	if err != nil {
		return open, fmt.Errorf("database clock: %w", err)
	}
	first := now.UTC().Truncate(24 * time.Hour)
	if last := first.AddDate(1, 0, 0); end.Before(first) || end.After(last) {
		return open, seqlease.InvalidParameter(untilName, fmt.Sprintf("%s must be from today, %s, to a year from now, %s, not %s",
			untilName, day(first), day(last), until))
	}
	return seqlease.DataUseTerms{Type: seqlease.TermsRestricted, RestrictedUntil: end}, nil
}
