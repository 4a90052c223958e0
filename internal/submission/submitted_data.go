package submission

import (
	"context"
	"fmt"
	"io"

	"github.com/seqlease/seqlease"
	"github.com/seqlease/seqlease/internal/spool"
)

// MaxSubmittedData is how many entries a download of submitted data may have
// (protocol §8.10).
const MaxSubmittedData = 500

// maxArchives is how many downloads are made at once; others wait. Each has a
// document of at most some 30 MiB and its metadata in memory.
const maxArchives = 2

// maxNameBytes bounds what of a download is in memory for all its entries at once:
// the names of columns and sequences, with what is around each.
const (
	maxNameBytes = 16 << 20
	nameOverhead = 64
)

// largeDocument is from what size on a document needs [SubmittedDataRequest.Large].
const largeDocument = 1 << 20

// SubmittedDataRequest says which entries to download. A nil or empty list of
// accessions takes all of the group that can be revised.
type SubmittedDataRequest struct {
	Organism   seqlease.Organism
	GroupID    int64
	Accessions []seqlease.Accession
	// Large, if set, is called before more memory is taken than nearly every download
	// needs, and may wait until there is some. Its error ends the download.
	Large func(context.Context) error
}

// SubmittedData is a zip file of what was submitted, in the form that a revision is
// uploaded in. Close it.
type SubmittedData struct {
	Name string // of the file
	Size int64  // bytes
	file *spool.Scratch
}

// Open returns the file's bytes, valid until Close.
func (d *SubmittedData) Open() io.Reader { return d.file.Open() }

// Close removes the file.
func (d *SubmittedData) Close() { _ = d.file.Close() } // nothing of it is needed any more

// SubmittedData makes a file of what was submitted with a group's entries that can be
// revised, as of one instant. What is stored is copied to disk at database speed and
// the file made from there, entry by entry, so that memory holds one of them. Errors:
// [seqlease.ErrUnknownOrganism], [seqlease.ErrNotFound] and [seqlease.ErrForbidden]
// for the group, a [*seqlease.InvalidError] for more than [MaxSubmittedData] entries,
// the store's.
func (s *Submissions) SubmittedData(ctx context.Context, p seqlease.Person, r SubmittedDataRequest) (*SubmittedData, error) {
	o, err := s.organisms.Get(r.Organism)
	if err != nil {
		return nil, err
	}
	if err := checkAccessions("accessionsFilter", r.Accessions); err != nil {
		return nil, err
	}
	if _, err := s.visibleGroups(ctx, p, []int64{r.GroupID}); err != nil {
		return nil, err
	}
	if err := s.archives.Acquire(ctx, 1); err != nil {
		return nil, fmt.Errorf("submitted data of %s: wait for a place: %w", r.Organism, err)
	}
	defer s.archives.Release(1)
	kept, err := s.keepRevisable(ctx, RevisableFilter{Organism: r.Organism, GroupID: r.GroupID, Accessions: orNil(r.Accessions)})
	if err != nil {
		return nil, fmt.Errorf("submitted data of %s: %w", r.Organism, err)
	}
	defer kept.close()
	kept.large = r.Large
	a := &archive{organism: o, kept: kept}
	d, err := a.write(ctx, s.options.Spool)
	if err != nil {
		return nil, fmt.Errorf("submitted data of %s: %w", r.Organism, err)
	}
	d.Name = fmt.Sprintf("%s_submitted_data_%s.zip", r.Organism, kept.head.Now.UTC().Format("20060102T150405Z"))
	return d, nil
}

// keptEntries are entries whose documents lie on disk as they were stored.
type keptEntries struct {
	store   SubmittedStore
	head    SubmittedHead
	entries []keptEntry
	file    *spool.Scratch
	large   func(context.Context) error
}

// keptEntry has its document's place in the file instead of the bytes.
type keptEntry struct {
	SubmittedEntry
	offset int64
	size   int
}

// keepRevisable copies what the store has to disk (L12).
func (s *Submissions) keepRevisable(ctx context.Context, f RevisableFilter) (*keptEntries, error) {
	file, err := s.options.Spool.CreateScratch()
	if err != nil {
		return nil, err
	}
	kept := &keptEntries{store: s.store, file: file}
	err = s.store.ReadRevisable(ctx, f, func(head SubmittedHead) error {
		kept.head = head
		if head.Count > MaxSubmittedData {
			return tooManyEntries(head.Count)
		}
		return nil
	}, kept.add)
	if err != nil {
		kept.close()
		return nil, err
	}
	return kept, nil
}

func tooManyEntries(n int64) error {
	return seqlease.Invalid(seqlease.Problem{Field: "accessionsFilter", Message: fmt.Sprintf(
		"%d entries match, but a download may have at most %d: name some of them in accessionsFilter", n, MaxSubmittedData)})
}

func (k *keptEntries) add(e SubmittedEntry) error {
	entry := keptEntry{SubmittedEntry: e, offset: k.file.Size(), size: len(e.Data.Bytes)}
	if _, err := k.file.Write(e.Data.Bytes); err != nil {
		return err
	}
	entry.Data.Bytes = nil
	k.entries = append(k.entries, entry)
	return nil
}

// document reads the document of the i-th entry.
func (k *keptEntries) document(ctx context.Context, i int) ([]byte, error) {
	if err := ctx.Err(); err != nil {
		return nil, err
	}
	entry := k.entries[i]
	e := entry.SubmittedEntry
	if entry.size > 0 {
		e.Data.Bytes = make([]byte, entry.size)
		if _, err := k.file.ReadAt(e.Data.Bytes, entry.offset); err != nil {
			return nil, fmt.Errorf("read back %s: %w", e.AccessionVersion, err)
		}
	}
	document, err := e.document(ctx, k.store)
	if err == nil && len(document) > largeDocument && k.large != nil {
		err = k.large(ctx)
	}
	return document, err
}

// close removes the file.
func (k *keptEntries) close() { _ = k.file.Close() } // it holds nothing that is still needed
