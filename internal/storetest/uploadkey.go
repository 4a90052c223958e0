package storetest

import (
	"errors"
	"sync"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/seqlease/seqlease"
	"github.com/seqlease/seqlease/internal/submission"
)

func uploadKeyCases() []testCase {
	return []testCase{
		{name: "Key_TheSameUploadAgainIsAnsweredAsTheFirstTime", check: keyAgain},
		{name: "Key_AnotherUploadIsRefused", check: keyReused},
		{name: "Key_OfAnotherUserIsAnotherKey", check: keyOfAnother},
		{name: "Key_OfWhatFailedStaysFree", check: keyFree},
		{name: "Key_UploadsAtOnceAreStoredOnce", check: keyAtOnce},
		{name: "Key_UploadsToTwoServersAtOnceAreStoredOnce", needs: SecondStore, check: keyAtOnceElsewhere},
		{name: "Key_IsForgottenAfterItsTime", check: keyForgotten},
		{name: "Key_AnswersOfManyEntriesAreKept", check: keyLarge},
	}
}

// keyed is a key for an upload whose digest begins with the byte.
func keyed(key string, digest byte) *submission.UploadKey {
	return &submission.UploadKey{Key: key, Digest: [32]byte{digest, 7}}
}

// wantStored checks what is known under a key of the fixtures' submitter.
func (f *fixture) wantStored(t *testing.T, key *submission.UploadKey, want []seqlease.SubmissionIDMapping) {
	t.Helper()
	got, err := f.StoredUpload(t.Context(), submitter, *key)
	if want == nil {
		wantError(t, err, seqlease.ErrNotFound)
		return
	}
	if err != nil {
		t.Fatalf("stored upload: %v", err)
	}
	if diff := cmp.Diff(want, got); diff != "" {
		t.Errorf("stored upload (-want +got):\n%s", diff)
	}
}

func keyAgain(t *testing.T, h Harness) {
	f := newFixture(t, h)
	submit := f.upload(3)
	submit.Key = keyed("a key", 1)
	f.wantStored(t, submit.Key, nil)
	first, err := f.Submit(t.Context(), submit)
	if err != nil {
		t.Fatal(err)
	}
	mark := f.mark(t)
	again, err := f.Submit(t.Context(), submit)
	if err != nil {
		t.Fatal(err)
	}
	wantSame(t, "submitted again", again, first)
	f.wantStored(t, submit.Key, first)

	f.mustAccept(t, f.lines(t, f.claim(t, 10))...)
	f.approveAll(t)
	r := f.revision(first[0].AccessionVersion, first[2].AccessionVersion)
	r.Submitter, r.Key = submitter, keyed("another", 2)
	revised, err := f.Revise(t.Context(), r)
	if err != nil {
		t.Fatal(err)
	}
	if again, err = f.Revise(t.Context(), r); err != nil {
		t.Fatal(err)
	}
	wantSame(t, "revised again", again, revised)
	f.wantStored(t, r.Key, revised)
	f.wantStatuses(t, map[seqlease.Status]int64{seqlease.ApprovedForRelease: 3, seqlease.Received: 2})
	if f.mark(t) == mark {
		t.Error("the mark is that of before the revision")
	}
}

// wantReused checks that an upload is refused since its key is another one's.
func wantReused(t *testing.T, err error) {
	t.Helper()
	var invalid *seqlease.InvalidError
	if !errors.As(err, &invalid) || invalid.Kind != seqlease.InvalidContent || len(invalid.Problems) != 1 || invalid.Problems[0].Field != submission.UploadKeyHeader {
		t.Errorf("got %v (%T), want that the key is another upload's", err, err)
	}
}

func keyReused(t *testing.T, h Harness) {
	f := newFixture(t, h)
	u := f.upload(1)
	u.Key = keyed("k", 1)
	versions := f.submitUpload(t, u)
	f.mustAccept(t, f.lines(t, f.claim(t, 1))...)
	f.approveAll(t)
	mark := f.mark(t)
	u.Key = keyed("k", 2)
	_, err := f.Submit(t.Context(), u)
	wantReused(t, err)
	r := f.revision(versions...)
	r.Submitter, r.Key = submitter, u.Key
	_, err = f.Revise(t.Context(), r)
	wantReused(t, err)
	_, err = f.StoredUpload(t.Context(), submitter, *u.Key)
	wantReused(t, err)
	wantSame(t, "mark", f.mark(t), mark)
	f.wantStatuses(t, map[seqlease.Status]int64{seqlease.ApprovedForRelease: 1})
}

func keyOfAnother(t *testing.T, h Harness) {
	f := newFixture(t, h)
	u := f.upload(1)
	u.Key = keyed("k", 1)
	first := f.submitUpload(t, u)
	u.Submitter, u.Key = "bert", keyed("k", 2)
	second := f.submitUpload(t, u)
	if first[0] == second[0] {
		t.Errorf("both got %s", first[0])
	}
	f.wantStatuses(t, map[seqlease.Status]int64{seqlease.Received: 2})
}

func keyFree(t *testing.T, h Harness) {
	f := newFixture(t, h)
	broken := errors.New("the upload is cut off")
	u := f.upload(0)
	u.Key, u.Entries = keyed("k", 1), f.breaksAfter(600, broken)
	_, err := f.Submit(t.Context(), u)
	wantError(t, err, broken)
	f.wantStored(t, u.Key, nil)
	u.Key, u.Entries = keyed("k", 2), f.entries(WestNile, 1)
	f.submitUpload(t, u)
	f.wantStatuses(t, map[seqlease.Status]int64{seqlease.Received: 1})
}

func keyAtOnce(t *testing.T, h Harness) {
	f := newFixture(t, h)
	keyRace(t, f, f, f)
}

func keyAtOnceElsewhere(t *testing.T, h Harness) {
	f := newFixture(t, h)
	keyRace(t, f, f, f.second(t))
}

// keyRace has two servers take the same upload at once, and then another one under its key.
func keyRace(t *testing.T, f *fixture, servers ...*fixture) {
	t.Helper()
	const rounds, entries = 6, 600
	for round := range rounds {
		made := make([][]seqlease.SubmissionIDMapping, len(servers))
		errs := make([]error, len(servers))
		var all sync.WaitGroup
		key := "key " + sampleID(round)
		for i, server := range servers {
			u := server.upload(entries)
			u.Key = keyed(key, 1)
			all.Go(func() { made[i], errs[i] = server.Submit(t.Context(), u) })
		}
		all.Wait()
		for i, err := range errs {
			if err != nil {
				t.Fatalf("server %d: %v", i, err)
			}
		}
		wantSame(t, "answers", made[1], made[0])
		u := f.upload(1)
		u.Key = keyed(key, 2)
		_, err := f.Submit(t.Context(), u)
		wantReused(t, err)
	}
	f.wantStatuses(t, map[seqlease.Status]int64{seqlease.Received: rounds * entries})
}

func keyForgotten(t *testing.T, h Harness) {
	f := newFixture(t, h)
	keys := []*submission.UploadKey{keyed("a", 1), keyed("b", 1), keyed("c", 1)}
	for _, key := range keys[:2] {
		u := f.upload(1)
		u.Key = key
		f.submitUpload(t, u)
	}
	f.age(t, time.Hour)
	u := f.upload(1)
	u.Key = keys[2]
	kept, err := f.Submit(t.Context(), u)
	if err != nil {
		t.Fatal(err)
	}
	for i, want := range []int{1, 1, 0} {
		n, err := f.TrimUploadKeys(t.Context(), 30*time.Minute, 1)
		if err != nil || n != want {
			t.Fatalf("call %d forgot %d keys, %v; want %d", i+1, n, err, want)
		}
	}
	f.wantStored(t, keys[0], nil)
	f.wantStored(t, keys[1], nil)
	f.wantStored(t, keys[2], kept)
	f.wantStatuses(t, map[seqlease.Status]int64{seqlease.Received: 3})
}

func keyLarge(t *testing.T, h Harness) {
	f := newFixture(t, h)
	u := f.upload(3000)
	u.Key = keyed("k", 1)
	made, err := f.Submit(t.Context(), u)
	if err != nil {
		t.Fatal(err)
	}
	f.wantStored(t, u.Key, made)
}
