package httpapi

import (
	"encoding/json"
	"strings"
	"testing"
	"time"

	"github.com/seqlease/seqlease"
	"github.com/seqlease/seqlease/internal/queue"
)

// genome is as long as one of SARS-CoV-2.
var genome = strings.Repeat("ACGTTGCA", 30_000/8)

func BenchmarkDecodeResult(b *testing.B) {
	line := []byte(strings.NewReplacer(
		`"unalignedNucleotideSequences":{}`, `"unalignedNucleotideSequences":{"main":"`+genome+`"}`,
		`"alignedNucleotideSequences":{}`, `"alignedNucleotideSequences":{"main":"`+genome+`"}`,
		`"alignedAminoAcidSequences":{}`, `"alignedAminoAcidSequences":{"ORF1ab":"`+genome[:7000]+`","S":"`+genome[:1300]+`"}`,
	).Replace(goodLine()))
	b.SetBytes(int64(len(line)))
	b.ReportAllocs()
	for b.Loop() {
		if _, err := decodeResult(1, line); err != nil {
			b.Fatal(err)
		}
	}
}

func BenchmarkAppendEntry(b *testing.B) {
	data, err := json.Marshal(seqlease.SubmittedData{
		Metadata:                     map[string]string{"country": "Kenya", "date": "2021-03-04"},
		UnalignedNucleotideSequences: map[string]string{"sample": genome},
	})
	if err != nil {
		b.Fatal(err)
	}
	lease := queue.Lease{AttemptID: seqlease.NewAttemptID(), Until: time.Unix(1767225600, 0), Lease: time.Minute}
	entry := queue.Entry{Data: data, ClaimedEntry: queue.ClaimedEntry{SubmissionID: "sample", Submitter: "anna", GroupID: 1, Attempt: 1}}
	var line []byte
	b.SetBytes(int64(len(data)))
	b.ReportAllocs()
	for b.Loop() {
		if line, err = appendEntry(line[:0], lease, entry); err != nil {
			b.Fatal(err)
		}
	}
}
