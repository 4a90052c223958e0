package wire

import (
	"context"
	"io"
	"strings"
	"testing"
	"testing/iotest"
	"time"

	"github.com/seqlease/seqlease/bench/genome"
	"github.com/seqlease/seqlease/bench/measure"
	"github.com/seqlease/seqlease/internal/organism"
)

func TestNamesOf(t *testing.T) {
	t.Parallel()
	const good = `{"accession":"BENCH_00001X","version":12,"data":{"metadata":{"submissionId":"bench-9"},"unalignedNucleotideSequences":{}},` +
		`"submissionId":"bench-7","submitter":"s","processingAttemptId":"0b7e4c3a-96d1-4f0e-8a53-2f6f0c1d9e77","attempt":1}` + "\n"
	got, err := namesOf([]byte(good))
	want := claimed{number: 7, accession: "BENCH_00001X", version: "12", attempt: "0b7e4c3a-96d1-4f0e-8a53-2f6f0c1d9e77"}
	if err != nil || got != want {
		t.Errorf("got %+v and %v, want %+v", got, err, want)
	}
	for _, part := range []string{"accession", "version", "submissionId", "processingAttemptId", "bench-7"} {
		if got, err := namesOf([]byte(strings.ReplaceAll(good, part, "x"))); err == nil {
			t.Errorf("without %s: got %+v", part, got)
		}
	}
}

// TestKiloLines: an entry's line and that of its result have a kilobyte each, and a
// server takes the results.
func TestKiloLines(t *testing.T) {
	t.Parallel()
	o, samples, err := genome.NewKilo(20)
	if err != nil {
		t.Fatal(err)
	}
	replies, err := NewReplies(samples)
	if err != nil {
		t.Fatal(err)
	}
	names := claimed{number: 3, accession: "BENCH_00001X", version: "1", attempt: strings.Repeat("0", 36)}
	body := &parts{list: replies.append(nil, names)}
	line, err := io.ReadAll(iotest.OneByteReader(body))
	if err != nil {
		t.Fatal(err)
	}
	if len(line) < 900 || len(line) > 1100 {
		t.Errorf("the line of a result has %d bytes", len(line))
	}
	for _, floor := range []func(context.Context, *measure.Bench, *organism.Organism, []genome.Sample, Replies) (measure.Sample, error){bareFloor, handlerFloor} {
		sample, err := floor(t.Context(), &measure.Bench{Dir: t.TempDir(), Quick: true}, o, samples, replies)
		if err != nil || sample[measure.Rate] <= 0 {
			t.Errorf("got %s and %v", sample, err)
		}
	}
	if packed, err := packedResults(t.Context(), o, samples); err != nil || len(packed) != len(samples) {
		t.Errorf("%d results are packed, %v", len(packed), err)
	}
}

// TestOpaqueIsStoredAsAKilobyte: what hardly compresses takes a kilobyte, as an entry and as
// a result.
func TestOpaqueIsStoredAsAKilobyte(t *testing.T) {
	t.Parallel()
	o, samples, err := genome.NewOpaque(20)
	if err != nil {
		t.Fatal(err)
	}
	entries, err := PackedEntries(o, samples)
	if err != nil {
		t.Fatal(err)
	}
	results, err := packedResults(t.Context(), o, samples)
	if err != nil {
		t.Fatal(err)
	}
	for what, packed := range map[string][][]byte{"entry": entries, "result": results} {
		for i, p := range packed {
			if len(p) < 900 || len(p) > 1100 {
				t.Errorf("%s %d takes %d bytes", what, i, len(p))
			}
		}
	}
}

// A claim that got nothing has lost a race only if another one that began after its
// answer got something.
func TestRaces(t *testing.T) {
	t.Parallel()
	now := time.Now()
	for _, c := range []struct {
		name    string
		success time.Duration // since now, when the last claim began that got something
		empty   []time.Duration
		want    int
	}{
		{"none", time.Second, nil, 0},
		{"at the end", time.Second, []time.Duration{2 * time.Second, 3 * time.Second}, 0},
		{"one before others got something", time.Second, []time.Duration{time.Millisecond, 2 * time.Second}, 1},
	} {
		r := races{success: now.Add(c.success)}
		for _, after := range c.empty {
			r.empty = append(r.empty, now.Add(after))
		}
		if got := r.lost(); got != c.want {
			t.Errorf("%s: %d races were lost, want %d", c.name, got, c.want)
		}
	}
}

func TestUpload(t *testing.T) {
	t.Parallel()
	_, samples, err := genome.NewKilo(3)
	if err != nil {
		t.Fatal(err)
	}
	u := Upload(genome.Kilo, 1, samples, 5, 200)
	metadata, err := io.ReadAll(u.Metadata.Content)
	if err != nil {
		t.Fatal(err)
	}
	rows := strings.Split(strings.TrimSuffix(string(metadata), "\n"), "\n")
	if len(rows) != 201 || !strings.HasPrefix(rows[1], "bench-5\t"+samples[2].Metadata["date"]) || !strings.HasPrefix(rows[200], "bench-204\t") {
		t.Errorf("%d rows: %q … %q", len(rows), rows[1], rows[len(rows)-1])
	}
	sequences, err := io.ReadAll(iotest.HalfReader(u.Sequences.Content))
	if err != nil {
		t.Fatal(err)
	}
	records := strings.Split(string(sequences), ">")[1:]
	if len(records) != 200 || records[0] != "bench-5\n"+samples[2].Sequence+"\n" {
		t.Errorf("%d records, the first %.100q", len(records), records[0])
	}
}
