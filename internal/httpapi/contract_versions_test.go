package httpapi_test

import (
	"context"
	"encoding/json"
	"fmt"
	"net/http"
	"slices"
	"strconv"
	"strings"
	"sync/atomic"
	"testing"

	"golang.org/x/sync/errgroup"

	"github.com/seqlease/seqlease"
)

// current is the current pipeline version of zika.
func (d *door) current(t *testing.T) int {
	t.Helper()
	var versions map[string]int
	d.call(t, "GET", "/admin/current-pipeline-versions", root, nil).want(t, 200).into(t, &versions)
	return versions["zika"]
}

// takeAll claims entries until the version has so many: the backfill brings them bit by bit.
func (d *door) takeAll(t *testing.T, version, n int) []seqlease.Entry {
	t.Helper()
	var held []seqlease.Entry
	eventually(t, fmt.Sprintf("version %d has all entries", version), func() bool {
		held = append(held, d.claimVersion(t, "zika", version, n)...)
		return len(held) >= n
	})
	return held
}

// judge sends results of a version, of which judgements says the outcomes by accession version.
func (d *door) judge(t *testing.T, version int, entries []seqlease.Entry, judgements map[seqlease.AccessionVersion]rune) answer {
	t.Helper()
	var lines []string
	for _, e := range entries {
		lines = append(lines, judgedLine(e, judgements[e.AccessionVersion]))
	}
	return d.call(t, "POST", fmt.Sprintf("/zika/submit-processed-data?pipelineVersion=%d", version), pipe, strings.NewReader(strings.Join(lines, "\n")),
		"Content-Type", "application/x-ndjson")
}

// switched waits for the version to become current by itself.
func (d *door) switched(t *testing.T, version int) {
	t.Helper()
	eventually(t, fmt.Sprintf("version %d is current", version), func() bool { return d.current(t) == version })
}

// TestContract_VersionSwitch follows an organism through two switches (V5, V7).
func TestContract_VersionSwitch(t *testing.T) {
	t.Parallel()
	onBothStores(t, doorOptions{versions: true, background: true}, func(t *testing.T, d *door) {
		all := d.judged(t, d.newGroup(t, anna), "NWEN")
		d.approved(t, all[0], all[1])
		before := d.call(t, "GET", releasedPath, "", nil).want(t, 200).Header.Get("ETag")
		held := d.takeAll(t, 2, 4)
		// A warning doesn't matter, and what had errors may have them. One that fails blocks it.
		d.judge(t, 2, held, map[seqlease.AccessionVersion]rune{all[0]: 'W', all[1]: 'N', all[2]: 'E', all[3]: 'E'}).want(t, 204)
		d.call(t, "GET", releasedPath, "", nil, "If-None-Match", before).want(t, 304)
		for range 2 { // the first look may have begun before
			looks := d.looks.Load()
			eventually(t, "it was looked for what blocks a switch", func() bool { return d.looks.Load() > looks })
		}
		if v := d.current(t); v != 1 {
			t.Errorf("version %d is current while an entry fails that didn't", v)
		}
		d.post(t, "reprocess", root, fmt.Sprintf(`{"accessionVersions":%s,"pipelineVersion":2}`, listJSON(all[3:]))).want(t, 200)
		d.judge(t, 2, d.takeAll(t, 2, 1), map[seqlease.AccessionVersion]rune{all[3]: 'N'}).want(t, 204)
		d.switched(t, 2)

		p := d.call(t, "POST", "/zika/extract-unprocessed-data?numberOfSequenceEntries=1&pipelineVersion=1", pipe, nil).problem(t, 422)
		if !strings.Contains(p.Detail, "version 2 is current") {
			t.Errorf("a claim with the old version: %q", p.Detail)
		}
		a := d.call(t, "GET", releasedPath, "", nil, "If-None-Match", before).want(t, 200)
		if tag := a.Header.Get("ETag"); tag <= before {
			t.Errorf("the tag %s after the switch doesn't rise over %s", tag, before)
		}
		for _, l := range releasedLines(t, a.body) {
			if string(l.Metadata["pipelineVersion"]) != "2" {
				t.Errorf("%s is of pipeline version %s", l.Metadata["accessionVersion"], l.Metadata["pipelineVersion"])
			}
		}
		want := []string{
			all[0].String() + " APPROVED_FOR_RELEASE HAS_WARNINGS", all[1].String() + " APPROVED_FOR_RELEASE NO_ISSUES",
			all[2].String() + " PROCESSED HAS_ERRORS", all[3].String() + " PROCESSED NO_ISSUES",
		}
		if got := d.states(t); !slices.Equal(got, want) {
			t.Errorf("entries are\n%s\nwant\n%s", strings.Join(got, "\n"), strings.Join(want, "\n"))
		}
		d.wantStatistics(t, map[string]int64{"1": 4, "2": 4})

		// The one before stays, the one before that goes.
		good := map[seqlease.AccessionVersion]rune{all[0]: 'N', all[1]: 'N', all[2]: 'N', all[3]: 'N'}
		d.judge(t, 3, d.takeAll(t, 3, 4), good).want(t, 204)
		d.switched(t, 3)
		eventually(t, "the results of version 1 are gone", func() bool { return d.statistics(t)["1"] == 0 })
		d.wantStatistics(t, map[string]int64{"2": 4, "3": 4})
		d.call(t, "POST", "/zika/extract-unprocessed-data?numberOfSequenceEntries=1&pipelineVersion=1", pipe, nil).problem(t, 422)
	})
}

// statistics counts the results of zika by pipeline version.
func (d *door) statistics(t *testing.T) map[string]int64 {
	t.Helper()
	var counts map[string]map[string]int64
	d.call(t, "GET", "/admin/pipeline-statistics", root, nil).want(t, 200).into(t, &counts)
	return counts["zika"]
}

func (d *door) wantStatistics(t *testing.T, want map[string]int64) {
	t.Helper()
	got := d.statistics(t)
	for version, n := range want {
		if got[version] != n || len(got) != len(want) {
			t.Errorf("results by version: %v, want %v", got, want)
			return
		}
	}
}

// TestContract_FirstPipelineMayHaveAnyNumber: nothing was processed under version 1, so
// nothing is lost by leaving it.
func TestContract_FirstPipelineMayHaveAnyNumber(t *testing.T) {
	t.Parallel()
	onBothStores(t, doorOptions{versions: true, background: true}, func(t *testing.T, d *door) {
		d.submit(t, d.newGroup(t, anna), 3, 20)
		held := d.takeAll(t, 5, 2)
		d.switched(t, 5)
		if more := d.takeAll(t, 5, 1); len(more) != 1 {
			t.Errorf("%d entries are left, want 1", len(more))
		}
		d.call(t, "POST", "/zika/submit-processed-data?pipelineVersion=5", pipe, strings.NewReader(resultsOf(held)), "Content-Type", "application/x-ndjson").want(t, 204)
		d.call(t, "POST", "/zika/extract-unprocessed-data?numberOfSequenceEntries=1&pipelineVersion=4", pipe, nil).problem(t, 422)
	})
}

// TestContract_B058_ReadersBesideASwitch: each reader gets one consistent view, every
// accession version once, all of one pipeline version, and a tag that says which.
func TestContract_B058_ReadersBesideASwitch(t *testing.T) {
	t.Parallel()
	onBothStores(t, doorOptions{versions: true, background: true}, func(t *testing.T, d *door) {
		const n = 40
		group := d.newGroup(t, anna)
		d.release(t, group, n)
		held := d.takeAll(t, 2, n)
		ctx, cancel := context.WithCancel(t.Context())
		defer cancel()
		var readers errgroup.Group
		var sawNew atomic.Int32
		seen := make([]map[string]string, 5) // the pipeline version by tag, of each reader
		for i := range seen {
			seen[i] = map[string]string{}
			readers.Go(func() error { return d.readOn(ctx, t, seen[i], &sawNew) })
		}
		for half := range slices.Chunk(held, n/2) {
			d.release(t, group, 1) // what was released under version 1 blocks the switch
			another := d.takeAll(t, 2, 1)
			d.judge(t, 2, half, nil).want(t, 204)
			d.judge(t, 2, another, nil).want(t, 204)
		}
		d.switched(t, 2)
		eventually(t, "every reader saw the new version", func() bool { return sawNew.Load() == int32(len(seen)) })
		cancel()
		if err := readers.Wait(); err != nil {
			t.Fatal(err)
		}
		versions := map[string]string{}
		for _, byTag := range seen {
			for tag, version := range byTag {
				if other, known := versions[tag]; known && other != version {
					t.Errorf("the tag %s stands for the versions %s and %s", tag, version, other)
				}
				versions[tag] = version
			}
		}
	})
}

// readOn reads what is released again and again until ctx ends, and counts itself when
// it first reads version 2.
func (d *door) readOn(ctx context.Context, t *testing.T, byTag map[string]string, sawNew *atomic.Int32) error {
	for first := true; ctx.Err() == nil; {
		a, err := d.try(t, "GET", releasedPath, "", nil)
		if err != nil || a.StatusCode != http.StatusOK {
			return fmt.Errorf("released data: %d, %w", a.StatusCode, err)
		}
		once, of := map[string]bool{}, ""
		for line := range strings.Lines(string(a.body)) {
			var l struct {
				Metadata struct {
					AccessionVersion string `json:"accessionVersion"`
					PipelineVersion  int    `json:"pipelineVersion"`
					Country          string `json:"country"`
				} `json:"metadata"`
			}
			if err := json.Unmarshal([]byte(line), &l); err != nil {
				return fmt.Errorf("%.200q: %w", line, err)
			}
			version := strconv.Itoa(l.Metadata.PipelineVersion)
			switch {
			case once[l.Metadata.AccessionVersion]:
				return fmt.Errorf("%s is there twice", l.Metadata.AccessionVersion)
			case of != "" && of != version:
				return fmt.Errorf("%s is of version %s, others of %s", l.Metadata.AccessionVersion, version, of)
			case l.Metadata.Country != "Kenya":
				return fmt.Errorf("%s lost its result: %.300q", l.Metadata.AccessionVersion, line)
			}
			once[l.Metadata.AccessionVersion], of = true, version
		}
		if strconv.Itoa(len(once)) != a.Header.Get("X-Total-Records") {
			return fmt.Errorf("%d lines, X-Total-Records %s", len(once), a.Header.Get("X-Total-Records"))
		}
		byTag[a.Header.Get("ETag")] = of
		if first && of == "2" {
			first = false
			sawNew.Add(1)
		}
	}
	return nil
}
