package storetest

import (
	"testing"

	"golang.org/x/sync/errgroup"

	"github.com/seqlease/seqlease"
	"github.com/seqlease/seqlease/internal/organism"
)

func registerCases() []testCase {
	return []testCase{
		{name: "Register_Ready", check: registerReady},
		{name: "Register_AgainChangesNothing", check: registerAgain},
		{name: "Register_AtOnceByManyServers", check: registerAtOnce},
		{name: "Register_RowsOfAnOldReferenceStayReadable", check: registerChangedReference},
		{name: "Register_ServersWithDifferentReferences", needs: SecondStore, check: registerTwoReferences},
		{name: "Register_OrganismWithoutReference", check: registerWithoutReference},
		{name: "Register_AnOrganismMore", check: registerOneMore},
	}
}

func registerReady(t *testing.T, h Harness) {
	f := newFixture(t, h)
	if err := f.Ready(t.Context()); err != nil {
		t.Errorf("a fresh store is not ready: %v", err)
	}
}

func (f *fixture) register(t *testing.T, organisms ...*organism.Organism) {
	t.Helper()
	if err := f.Register(t.Context(), organisms); err != nil {
		t.Fatalf("register: %v", err)
	}
}

func registerAgain(t *testing.T, h Harness) {
	f := newFixture(t, h)
	versions := f.submit(t, 2)
	mark := f.mark(t)
	f.register(t, Organisms()...)
	f.register(t, Organisms()...)
	wantSame(t, "mark", f.mark(t), mark)
	wantSame(t, "claimed", claimed(f.claim(t, 10)), versions)
}

func registerAtOnce(t *testing.T, h Harness) {
	s := h.New(t)
	var group errgroup.Group
	for range 6 {
		group.Go(func() error { return s.Register(t.Context(), Organisms()) })
	}
	if err := group.Wait(); err != nil {
		t.Fatalf("register at once: %v", err)
	}
	f := newFixtureOn(t, h, s)
	wantSame(t, "claimed", len(f.submit(t, 2)), len(f.claim(t, 10).Entries))
}

// changedReferences is the fixtures' organisms with other reference genomes.
func changedReferences() []*organism.Organism {
	organisms := Organisms()
	for i, o := range organisms {
		for s := range o.Segments {
			o.Segments[s].Sequence = genome(1200, uint64(50+10*i+s))
		}
	}
	return organisms
}

func registerChangedReference(t *testing.T, h Harness) {
	f := newFixture(t, h)
	versions := f.submit(t, 4)
	lease := f.claim(t, 2)
	lines := f.lines(t, lease) // packed with the first reference
	f.mustAccept(t, lines[0])
	f.register(t, changedReferences()...)
	f.mustAccept(t, lines[1])
	f.mustAccept(t, f.lines(t, lease)...) // the same documents, packed otherwise (L6)

	late := f.claim(t, 2)
	wantSame(t, "claimed", claimed(late), versions[2:])
	for i, e := range late.Entries {
		wantSame(t, "data submitted before the change", f.data(t, e), string(submitted(i+2)))
	}
	f.mustAccept(t, f.lines(t, late)...)
	versions = append(versions, f.submit(t, 1)...)
	last := f.claim(t, 1)
	wantSame(t, "data submitted after the change", f.data(t, last.Entries[0]), string(submitted(0)))
	f.mustAccept(t, f.lines(t, last)...)
	f.register(t, Organisms()...) // and back
	var texts []string
	for _, av := range versions {
		texts = append(texts, "result of "+av.String())
	}
	f.wantReleased(t, texts...)
}

func registerTwoReferences(t *testing.T, h Harness) {
	f := newFixture(t, h)
	old := f.submit(t, 1)
	other := &fixture{Store: h.Second(t, f.Store), h: h, group: f.group}
	other.register(t, changedReferences()...)
	changed := other.submit(t, 1)
	f.mustAccept(t, f.lines(t, other.claim(t, 1))...)
	f.approveAll(t)
	lease := f.claim(t, 1)
	wantSame(t, "data that the other server stored", f.data(t, lease.Entries[0]), string(submitted(0)))
	other.mustAccept(t, other.lines(t, lease)...)
	for _, server := range []*fixture{f, other} {
		server.wantReleased(t, "result of "+old[0].String(), "result of "+changed[0].String())
	}
}

func registerWithoutReference(t *testing.T, h Harness) {
	f := newFixture(t, h)
	const key seqlease.Organism = "serology"
	f.register(t, &organism.Organism{Key: key, DisplayName: "Serology", Metadata: []organism.Field{{Name: "country", Type: organism.String}}})
	versions := f.submitTo(t, key, 1)
	lease := f.claimFrom(t, key, 1)
	wantSame(t, "claimed", claimed(lease), versions)
	wantSame(t, "data", f.data(t, lease.Entries[0]), string(submitted(0)))
	doc := processed("without sequences", seqlease.NoIssues)
	line := f.lines(t, lease)[0]
	packed, err := f.Pack(key, doc)
	if err != nil {
		t.Fatalf("pack: %v", err)
	}
	line.Packed = packed
	s := results(line)
	s.Organism = key
	if err := f.submitResults(t, s); err != nil {
		t.Fatalf("accept: %v", err)
	}
	a := approval()
	a.Organism = key
	f.wantApproved(t, "all", a, versions...)
	_, released := f.releasedOf(t, key)
	wantSame(t, "result", string(released[0].Result), string(doc))
}

func registerOneMore(t *testing.T, h Harness) {
	s := h.New(t)
	if err := s.Register(t.Context(), Organisms()[1:]); err != nil {
		t.Fatalf("register %s: %v", WestNile, err)
	}
	f := &fixture{Store: s, h: h}
	f.group = f.newGroup(t, "Institute of Virology", submitter)
	nile := f.submit(t, 1)
	c := ask(1)
	c.Organism = CCHF
	_, err := f.Claim(t.Context(), c)
	wantError(t, err, seqlease.ErrUnknownOrganism)
	f.register(t, Organisms()...)
	cchf := f.submitTo(t, CCHF, 1)
	wantSame(t, "claimed of "+string(CCHF), claimed(f.claimFrom(t, CCHF, 5)), cchf)
	wantSame(t, "claimed of "+string(WestNile), claimed(f.claim(t, 5)), nile)
}
