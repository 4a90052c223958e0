package sqlite

import (
	"context"
	"fmt"

	"github.com/seqlease/seqlease"
	"github.com/seqlease/seqlease/internal/submission"
)

// Standings returns where the entries stand, as [submission.StandingStore] says.
func (s *Store) Standings(ctx context.Context, entries []seqlease.AccessionVersion) ([]submission.Standing, error) {
	list, err := standings(ctx, s.readOnce(), jsonEntries(entries))
	if err != nil {
		return nil, fmt.Errorf("where %d entries stand: %w", len(entries), storeError(err))
	}
	return list, nil
}

// NewestStandings returns where the highest versions stand, as
// [submission.StandingStore] says.
func (s *Store) NewestStandings(ctx context.Context, accessions []seqlease.Accession) ([]submission.Standing, error) {
	list, err := standings(ctx, s.readOnce(), jsonNewest(accessions))
	if err != nil {
		return nil, fmt.Errorf("where %d accessions stand: %w", len(accessions), storeError(err))
	}
	return list, nil
}

// jsonNewest writes [["ACC",null],…].
func jsonNewest(accessions []seqlease.Accession) string {
	return jsonList(accessions, func(b []byte, a seqlease.Accession) []byte {
		return append(appendText(append(b, '['), a), ",null]"...)
	})
}

func standings(ctx context.Context, t *tx, entries string) ([]submission.Standing, error) {
	var list []submission.Standing
	err := t.rows(ctx, "standings", named("entries", entries), func(scan func(...any) error) error {
		var st submission.Standing
		err := scan(&st.Accession, &st.Version, &st.Organism, &st.GroupID, &st.Status, &st.Result, &st.IsRevocation)
		list = append(list, st)
		return err
	})
	return list, err
}
