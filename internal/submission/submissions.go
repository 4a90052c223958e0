package submission

import (
	"context"
	"sync"

	"golang.org/x/sync/semaphore"

	"github.com/seqlease/seqlease"
	"github.com/seqlease/seqlease/internal/organism"
	"github.com/seqlease/seqlease/internal/spool"
)

// Options are what is configured about the life of entries.
type Options struct {
	AccessionPrefix string // such as "LOC_"; without a dot
	DataUseTerms    TermsOptions
	// KnowsUser says whether the identity provider knows a user, whose name is as
	// in tokens. It may be called concurrently; an error is taken as a provider that
	// is away. Nil: everybody may exist.
	KnowsUser func(ctx context.Context, name string) (bool, error)
	// Spool holds uploads while they are checked and released data while it is
	// read. Nil: the system's directory for temporary files with the default limit.
	Spool *spool.Dir
}

// TermsOptions say whether submitters choose how their data may be used. If not,
// all data is open.
type TermsOptions struct {
	Enabled bool
	// OpenURL and RestrictedURL are where the terms are explained; both empty: none.
	OpenURL       string
	RestrictedURL string
}

// Submissions is what the door calls about groups and entries. It may be used
// concurrently.
type Submissions struct {
	store     Store
	organisms *organism.Catalog
	options   Options

	outlets map[seqlease.Organism]*outlet
	// Who reads released data, and who reads submitted metadata, don't wait for each other.
	plainReaders, submittedReaders *semaphore.Weighted
	archives                       *semaphore.Weighted // being made

	mu sync.Mutex // of the exports' and outlets' fields
}

// New returns the submissions of the given store and organisms.
func New(store Store, organisms *organism.Catalog, o Options) *Submissions {
	if o.Spool == nil {
		o.Spool = spool.NewDir("", 0)
	}
	s := &Submissions{
		store: store, organisms: organisms, options: o,
		outlets:      map[seqlease.Organism]*outlet{},
		plainReaders: semaphore.NewWeighted(maxPlainReaders), submittedReaders: semaphore.NewWeighted(maxPlainReaders),
		archives: semaphore.NewWeighted(maxArchives),
	}
	for _, configured := range organisms.All() {
		s.outlets[configured.Key] = newOutlet(configured, o.DataUseTerms)
	}
	return s
}

// Spool is where long answers are kept while they are sent.
func (s *Submissions) Spool() *spool.Dir { return s.options.Spool }
