package httpapi_test

import (
	"bytes"
	"fmt"
	"net/http"
	"strconv"
	"strings"
	"sync"
	"sync/atomic"
	"testing"

	"golang.org/x/sync/errgroup"

	"github.com/seqlease/seqlease"
)

// extractWith asks for up to n entries of zika with the tag of an earlier answer.
func (d *door) extractWith(t *testing.T, n int, tag string) answer {
	t.Helper()
	return d.call(t, "POST", "/zika/extract-unprocessed-data?pipelineVersion=1&numberOfSequenceEntries="+strconv.Itoa(n), pipe, nil, "If-None-Match", tag)
}

// tag reads the present tag of zika's queue without claiming.
func (d *door) tag(t *testing.T) string {
	t.Helper()
	tag := d.extractWith(t, 0, "").want(t, 200).Header.Get("ETag")
	if len(tag) < 3 || !strings.HasPrefix(tag, `"`) || !strings.HasSuffix(tag, `"`) {
		t.Fatalf("the tag %s is not quoted", tag)
	}
	return tag
}

// TestContract_Extract_E1_TheTagChangesWithWhatBecomesClaimable goes through all that
// adds work by a write. Each step leaves the queue empty.
func TestContract_Extract_E1_TheTagChangesWithWhatBecomesClaimable(t *testing.T) {
	t.Parallel()
	onBothStores(t, doorOptions{}, func(t *testing.T, d *door) {
		group := d.newGroup(t, anna)
		named := func(entries []seqlease.Entry) string {
			return fmt.Sprintf(`"accessionVersions":[{"accession":%q,"version":1}]`, entries[0].Accession)
		}
		var held []seqlease.Entry
		for _, step := range []struct {
			name string
			act  func()
		}{
			{"submit", func() { d.submit(t, group, 1, 20) }},
			{"return-lease", func() { d.post(t, "return-lease", pipe, ofAttempt(held[0].AttemptID, "")).want(t, 200) }},
			{"leases/free", func() { d.post(t, "leases/free", root, "{"+named(held)+"}").want(t, 200) }},
			{"quarantine/requeue", func() {
				d.post(t, "quarantine", root, "{"+named(held)+"}").want(t, 200)
				d.post(t, "quarantine/requeue", root, "{"+named(held)+"}").want(t, 200)
			}},
			{"reprocess", func() {
				d.sendResults(t, resultsOf(held)).want(t, 204)
				d.post(t, "reprocess", root, "{"+named(held)+"}").want(t, 200)
			}},
			{"resume", func() {
				d.post(t, "pause", root, "{}").want(t, 200)
				d.submit(t, group, 1, 20)
				if a := d.extractWith(t, 5, ""); len(a.body) > 0 {
					t.Errorf("a paused organism hands out %s", a.body)
				}
				before := d.tag(t)
				d.post(t, "resume", root, "{}").want(t, 200)
				if d.tag(t) == before {
					t.Error("the tag didn't change with the end of a pause")
				}
			}},
		} {
			idle := d.extractWith(t, 5, "").want(t, 200)
			if len(idle.body) > 0 {
				t.Fatalf("before %s: %s", step.name, idle.body)
			}
			tag := idle.Header.Get("ETag")
			d.extractWith(t, 5, tag).want(t, 304)
			step.act()
			if d.tag(t) == tag {
				t.Errorf("the tag is %s before and after %s", tag, step.name)
			}
			a := d.extractWith(t, 5, tag).want(t, 200)
			if held = entriesOf(t, a.body); len(held) != 1 {
				t.Fatalf("%s made %d entries claimable, want 1", step.name, len(held))
			}
		}
	})
}

// TestContract_Extract_E1_AnEndedLeaseIsHandedOutUnderTheSameTag: no write makes it
// claimable, so that only the claim can tell.
func TestContract_Extract_E1_AnEndedLeaseIsHandedOutUnderTheSameTag(t *testing.T) {
	t.Parallel()
	d := newDoor(t, doorOptions{})
	d.submit(t, d.newGroup(t, anna), 1, 20)
	d.claim(t, pipe, 1)
	tag := d.extractWith(t, 5, "").want(t, 200).Header.Get("ETag")
	d.extractWith(t, 5, tag).want(t, 304)
	d.ageLeases(t)
	if now := d.tag(t); now != tag {
		t.Errorf("the tag went from %s to %s without a write", tag, now)
	}
	if got := entriesOf(t, d.extractWith(t, 5, tag).want(t, 200).body); len(got) != 1 {
		t.Errorf("%d entries are handed out, want the one whose lease has ended", len(got))
	}
}

// TestContract_Extract_E2_TheTagIsStableWhileNothingHappens: idle pipelines ask often.
func TestContract_Extract_E2_TheTagIsStableWhileNothingHappens(t *testing.T) {
	t.Parallel()
	onBothStores(t, doorOptions{}, func(t *testing.T, d *door) {
		group := d.newGroup(t, anna)
		d.submit(t, group, 2, 20)
		held := d.claim(t, pipe, 2)
		tag := d.extractWith(t, 5, "").want(t, 200).Header.Get("ETag")
		idle := func(after string) {
			t.Helper()
			for range 3 {
				a := d.extractWith(t, 5, tag)
				if a.StatusCode != http.StatusNotModified || a.Header.Get("ETag") != tag || len(a.body) > 0 {
					t.Fatalf("after %s: %d with ETag %s and %q, want 304 with %s", after, a.StatusCode, a.Header.Get("ETag"), a.body, tag)
				}
			}
		}
		idle("a claim")
		d.post(t, "renew-lease", pipe, ofAttempt(held[0].AttemptID, "")).want(t, 200)
		idle("a renewal")
		d.call(t, "GET", "/zika/get-sequences", anna, nil).want(t, 200)
		d.call(t, "GET", releasedPath, "", nil).want(t, 200)
		idle("readers")
		d.sendResults(t, resultsOf(held)).want(t, 204)
		idle("results")
		d.approveAll(t)
		idle("an approval")
	})
}

// TestContract_Extract_E3_OtherOrganismsLeaveTheTag whatever is done to their rows.
func TestContract_Extract_E3_OtherOrganismsLeaveTheTag(t *testing.T) {
	t.Parallel()
	onBothStores(t, doorOptions{organisms: withUpdaters()}, func(t *testing.T, d *door) {
		group := d.newGroup(t, anna)
		tag := d.extractWith(t, 5, "").want(t, 200).Header.Get("ETag")
		d.submitMoss(t, group)
		d.extractWith(t, 5, tag).want(t, 304)
		if n := len(entriesOf(t, d.call(t, "POST", "/moss/extract-unprocessed-data?numberOfSequenceEntries=1&pipelineVersion=1", pipe, nil, "If-None-Match", tag).want(t, 200).body)); n != 0 {
			t.Errorf("%d entries of the other organism, want none", n)
		}
	})
}

// TestContract_Extract_E4_TheTagIsNotNewerThanTheAnswer has many submit while one polls
// as a pipeline does: by the tag of its last empty answer. Whatever had been stored
// when a request began is in an answer by then, or the answer isn't empty.
func TestContract_Extract_E4_TheTagIsNotNewerThanTheAnswer(t *testing.T) {
	t.Parallel()
	onBothStores(t, doorOptions{}, func(t *testing.T, d *door) {
		group := d.newGroup(t, anna)
		var stored atomic.Int64
		var submitters errgroup.Group
		const each, entries = 12, 2
		for range 3 {
			submitters.Go(func() error {
				for range each {
					d.submit(t, group, entries, 20)
					stored.Add(entries)
				}
				return nil
			})
		}
		ended := make(chan struct{})
		go func() { _ = submitters.Wait(); close(ended) }()
		tag, got := "", int64(0)
		for finished, empty := false, false; !finished || !empty; {
			select {
			case <-ended:
				finished = true
			default:
			}
			before := stored.Load()
			a := d.extractWith(t, 3, tag)
			got += int64(bytes.Count(a.body, []byte("\n")))
			if empty = len(a.body) == 0; !empty {
				tag = ""
				continue
			}
			tag = a.Header.Get("ETag")
			if got < before {
				t.Fatalf("%d with tag %s and no line, but only %d of %d entries were handed out", a.StatusCode, tag, got, before)
			}
		}
		if want := int64(3 * each * entries); got != want {
			t.Errorf("%d entries were handed out, want %d", got, want)
		}
	})
}

// TestContract_ReleasedData_ACopyByETagIsNeverStale keeps a copy as the importer does,
// while others release entries and say things of them, through two servers where the
// store can be shared. Each answer is whole, one tag never stands for two bodies, and
// what was committed when a request began is in the copy after it.
func TestContract_ReleasedData_ACopyByETagIsNeverStale(t *testing.T) {
	t.Parallel()
	for name, open := range map[string]func(t *testing.T) []*door{
		"sqlite": func(t *testing.T) []*door {
			t.Helper()
			return []*door{newDoor(t, doorOptions{organisms: withUpdaters()})}
		},
		"postgresql": func(t *testing.T) []*door {
			t.Helper()
			o := doorOptions{organisms: withUpdaters(), open: openPostgres(newPostgres(t), 0)}
			return []*door{newDoor(t, o), newDoor(t, o)}
		},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			doors := open(t)
			d := doors[0]
			group := d.newGroup(t, anna)
			d.submit(t, group, 24, 20)
			held := d.claim(t, pipe, 24)
			d.sendResults(t, resultsOf(held)).want(t, 204)
			committed := &commits{of: map[string]int{}}
			var writers errgroup.Group
			for i := range 3 {
				writers.Go(func() error {
					doors[i%len(doors)].releaseOneByOne(t, held[8*i:8*i+8], committed)
					return nil
				})
			}
			ended := make(chan struct{})
			go func() { _ = writers.Wait(); close(ended) }()
			c := copyOf{bodies: map[string]string{}}
			for round, finished := 0, false; !finished; round++ {
				select {
				case <-ended:
					finished = true // this round sees everything
				default:
				}
				before := committed.read()
				c.poll(t, doors[round%len(doors)], round%2 == 0)
				for entry, n := range before {
					if c.shown[entry] < n {
						t.Fatalf("the copy with tag %s shows %s at %d, but %d was committed before it was asked for", c.tag, entry, c.shown[entry], n)
					}
				}
			}
			if got := d.call(t, "GET", releasedPath, "", nil).want(t, 200); string(got.body) != c.bodies[c.tag] || got.Header.Get("ETag") != c.tag {
				t.Errorf("the copy with tag %s is not what is released in the end, with tag %s", c.tag, got.Header.Get("ETag"))
			}
			if len(c.bodies) < 2 {
				t.Errorf("%d states were seen: nothing was tested", len(c.bodies))
			}
		})
	}
}

// commits is how far each entry has been brought, by calls that were answered.
type commits struct {
	mu sync.Mutex
	of map[string]int
}

func (c *commits) note(entry string, n int) {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.of[entry] = n
}

func (c *commits) read() map[string]int {
	c.mu.Lock()
	defer c.mu.Unlock()
	all := make(map[string]int, len(c.of))
	for entry, n := range c.of {
		all[entry] = n
	}
	return all
}

// releaseOneByOne releases entries, stage 1 of each, and says something of each twice.
func (d *door) releaseOneByOne(t *testing.T, entries []seqlease.Entry, committed *commits) {
	t.Helper()
	for _, e := range entries {
		body := fmt.Sprintf(`{"scope":"ALL","accessionVersionsFilter":[{"accession":%q,"version":1}]}`, e.Accession)
		d.call(t, "POST", "/zika/approve-processed-data", anna, strings.NewReader(body), "Content-Type", "application/json").want(t, 200)
		committed.note(e.String(), 1)
		for n := 2; n <= 3; n++ {
			d.sendExternal(t, "ena", about(e.AccessionVersion, fmt.Sprintf(`{"archiveId":"%d"}`, n))).want(t, 204)
			committed.note(e.String(), n)
		}
	}
}

// copyOf is released data as an importer keeps it.
type copyOf struct {
	tag    string
	shown  map[string]int // stage by entry
	bodies map[string]string
}

func (c *copyOf) poll(t *testing.T, d *door, compressed bool) {
	t.Helper()
	path := releasedPath
	if compressed {
		path += "?compression=zstd"
	}
	a := d.call(t, "GET", path, "", nil, "If-None-Match", c.tag)
	if a.StatusCode == http.StatusNotModified {
		if a.Header.Get("ETag") != c.tag {
			t.Fatalf("304 with tag %s, want %s", a.Header.Get("ETag"), c.tag)
		}
		return
	}
	body := a.want(t, 200).body
	if compressed {
		body = unzstd(t, body)
	}
	lines := releasedLines(t, body)
	if got := a.Header.Get("X-Total-Records"); got != strconv.Itoa(len(lines)) {
		t.Fatalf("x-total-records is %s with %d lines", got, len(lines))
	}
	tag := a.Header.Get("ETag")
	if tag < c.tag {
		t.Fatalf("the tag fell from %s to %s", c.tag, tag)
	}
	if other, seen := c.bodies[tag]; seen && other != string(body) {
		t.Fatalf("two bodies have the tag %s", tag)
	}
	c.tag, c.shown, c.bodies[tag] = tag, map[string]int{}, string(body)
	for _, l := range lines {
		entry, err := strconv.Unquote(string(l.Metadata["accessionVersion"]))
		if err != nil {
			t.Fatal(err)
		}
		c.shown[entry] = 1
		if text, err := strconv.Unquote(string(l.Metadata["archiveId"])); err == nil {
			if c.shown[entry], err = strconv.Atoi(text); err != nil {
				t.Fatal(err)
			}
		}
	}
}
