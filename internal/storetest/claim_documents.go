package storetest

import (
	"errors"
	"math/rand/v2"
	"slices"
	"strings"
	"testing"

	"github.com/seqlease/seqlease"
	"github.com/seqlease/seqlease/internal/organism"
	"github.com/seqlease/seqlease/internal/queue"
	"github.com/seqlease/seqlease/internal/submission"
)

// queueOf is the domain's queue on the fixture's store.
func (f *fixture) queueOf(t *testing.T) *queue.Queue {
	t.Helper()
	catalog, err := organism.NewCatalog(Organisms()...)
	if err != nil {
		t.Fatal(err)
	}
	return queue.New(f.Store, catalog)
}

// deliver reads a lease as a door does, and returns the entries' documents and
// which entries were left out as damaged.
func (f *fixture) deliver(t *testing.T, l queue.Lease) (delivered queue.Lease, documents []string, damaged []seqlease.AccessionVersion) {
	t.Helper()
	report := func(av seqlease.AccessionVersion, err error) {
		if !errors.Is(err, queue.ErrDamaged) {
			t.Errorf("%s is left out for %v", av, err)
		}
		damaged = append(damaged, av)
	}
	delivered = l
	delivered.Entries = nil
	for e, err := range f.queueOf(t).Entries(t.Context(), l, report) {
		if err != nil {
			t.Fatalf("read the claim: %v", err)
		}
		delivered.Entries = append(delivered.Entries, e.ClaimedEntry)
		documents = append(documents, string(e.Data))
	}
	return delivered, documents, damaged
}

// B022: whatever is asked for, few entries come with their documents.
func claimL2LargeOfFew(t *testing.T, h Harness) {
	f := newFixture(t, h)
	for _, n := range []int{queue.PayloadLimit + 501, queue.PayloadLimit, queue.PayloadLimit + 1} {
		versions := f.submit(t, 3)
		delivered, documents, damaged := f.deliver(t, f.claim(t, n))
		wantSame(t, "delivered", claimed(delivered), versions)
		wantSame(t, "documents", documents, []string{string(submitted(0)), string(submitted(1)), string(submitted(2))})
		wantSame(t, "damaged", damaged, nil)
	}
}

func claimL12LargeDocuments(t *testing.T, h Harness) {
	f := newFixture(t, h)
	const n, size = 12, 2 << 20 // three pages
	want := make([]string, n)
	for i := range want {
		want[i] = string(document(seqlease.SubmittedData{Metadata: map[string]string{"country": noise(size, uint64(i))}}))
	}
	packed := 0
	u := f.upload(n)
	u.Entries = func(yield func(submission.PackedEntry, error) bool) {
		for _, text := range want {
			p, err := f.Pack(WestNile, []byte(text))
			packed += len(p.Bytes)
			if !yield(submission.PackedEntry{SubmissionID: "large", Data: p}, err) {
				return
			}
		}
	}
	versions := f.submitUpload(t, u)
	if packed < 2*queue.PayloadBytes {
		t.Fatalf("the documents take only %d bytes", packed)
	}
	lease := f.claim(t, n)
	wantSame(t, "claimed", claimed(lease), versions)
	carried := 0
	for _, e := range lease.Entries {
		carried += len(e.Packed.Bytes)
	}
	if carried == 0 || carried > queue.PayloadBytes {
		t.Errorf("the claim carries %d bytes, want some, but at most %d", carried, queue.PayloadBytes)
	}
	for skip := range n {
		page, err := f.ReadClaimed(t.Context(), lease.AttemptID, skip, n)
		if err != nil || len(page) == 0 || page[0].Place != skip || page[0].Packed.Bytes == nil {
			t.Fatalf("page from %d on: %d entries, %v", skip, len(page), err)
		}
		bytes := 0
		for _, e := range page {
			bytes += len(e.Packed.Bytes)
		}
		if bytes > queue.PayloadBytes {
			t.Errorf("the page from %d on has %d bytes, want at most %d", skip, bytes, queue.PayloadBytes)
		}
	}
	delivered, documents, _ := f.deliver(t, lease)
	wantSame(t, "delivered", claimed(delivered), versions)
	if !slices.Equal(documents, want) {
		t.Error("the documents differ from those that were submitted")
	}
}

// noise is text that hardly compresses.
func noise(size int, seed uint64) string {
	const letters = "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+-"
	random := rand.New(rand.NewPCG(seed, seed))
	var text strings.Builder
	for range size {
		text.WriteByte(letters[random.IntN(len(letters))])
	}
	return text.String()
}

func claimB022Damaged(t *testing.T, h Harness) {
	f := newFixture(t, h)
	versions := f.submit(t, 4)
	f.h.Damage(t, f.Store, versions[1])
	lease := f.claim(t, 4)
	wantSame(t, "claimed", claimed(lease), versions)
	delivered, documents, damaged := f.deliver(t, lease)
	good := slices.Delete(slices.Clone(versions), 1, 2)
	wantSame(t, "delivered", claimed(delivered), good)
	wantSame(t, "documents", documents, []string{string(submitted(0)), string(submitted(2)), string(submitted(3))})
	wantSame(t, "damaged", damaged, versions[1:2])
	f.mustAccept(t, f.lines(t, delivered)...)

	// It stays in the lease, and its attempt counts.
	wantSame(t, "claimed before the lease end", claimed(f.claim(t, 4)), nil)
	f.age(t, leaseTime)
	more := f.submit(t, 1)
	healthy, again := f.freshAndSuspects(t, 4)
	wantSame(t, "claimed after the lease end", claimed(healthy), more)
	f.mustAccept(t, f.lines(t, healthy)...)

	// Where all are damaged, nothing comes.
	wantSame(t, "claimed alone", claimed(again), versions[1:2])
	wantSame(t, "attempts", attempts(again), []int{2})
	delivered, _, damaged = f.deliver(t, again)
	wantSame(t, "delivered", claimed(delivered), nil)
	wantSame(t, "damaged", damaged, versions[1:2])
}
