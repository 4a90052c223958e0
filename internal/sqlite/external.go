package sqlite

import (
	"context"
	"fmt"
	"slices"
	"strconv"

	"github.com/go-json-experiment/json"

	"github.com/seqlease/seqlease"
	"github.com/seqlease/seqlease/internal/submission"
)

// SetExternalMetadata replaces what an updater says of released entries, as
// [submission.ExternalStore] says.
func (s *Store) SetExternalMetadata(ctx context.Context, u submission.ExternalUpdate) error {
	bytes := 0
	for _, e := range u.Entries {
		bytes += len(e.Body)
	}
	err := s.writeMuch(ctx, bytes, func(ctx context.Context, t *tx) error { return setExternal(ctx, t, u) })
	if err != nil {
		return fmt.Errorf("external metadata of %d entries of %s: %w", len(u.Entries), u.Organism, err)
	}
	return nil
}

// externalEntry is what an updater says of the entry with the id.
type externalEntry struct {
	id   int64
	body []byte
}

func setExternal(ctx context.Context, t *tx, u submission.ExternalUpdate) error {
	o, err := organismState(ctx, t, u.Organism)
	if err != nil {
		return err
	}
	bodies := make(map[seqlease.AccessionVersion][]byte, len(u.Entries))
	names := make([]seqlease.AccessionVersion, len(u.Entries))
	for i, e := range u.Entries {
		names[i], bodies[e.AccessionVersion] = e.AccessionVersion, e.Body
	}
	rows, err := entryStates(ctx, t, names, o.now)
	if err != nil {
		return err
	}
	if err := checkStates(rows, u.Organism, []seqlease.Status{seqlease.ApprovedForRelease}, false); err != nil || u.CheckOnly {
		return err
	}
	entries := make([]externalEntry, len(rows))
	for i, r := range rows {
		entries[i] = externalEntry{r.id, bodies[r.AccessionVersion]}
	}
	changed := int64(0)
	for part := range slices.Chunk(entries, maxPlaces) {
		n, err := t.exec(ctx, "external", named("entries", jsonExternal(part), "updater", u.Updater, "now", o.now, "user", u.User)...)
		if err != nil {
			return err
		}
		changed += n
	}
	if changed == 0 {
		return nil
	}
	note := seqlease.AuditNote{User: u.User, Action: seqlease.ActionExternalMetadata, Entries: changed, Detail: u.Updater}
	if err := noteAction(ctx, t, o.id, note); err != nil {
		return err
	}
	_, err = bump(ctx, t, o.id, releasedScope)
	return err
}

// jsonExternal writes [[id,"body"],…].
func jsonExternal(entries []externalEntry) string {
	return jsonList(entries, func(b []byte, e externalEntry) []byte {
		b = append(strconv.AppendInt(append(b, '['), e.id, 10), ',')
		return append(appendText(b, string(e.body)), ']')
	})
}

// readExternal reads [["updater","body"],…], or nothing of an empty list.
func readExternal(list []byte) ([]submission.ExternalDocument, error) {
	if string(list) == "[]" {
		return nil, nil
	}
	var pairs [][2]string
	if err := json.Unmarshal(list, &pairs); err != nil {
		return nil, fmt.Errorf("external metadata: %w", err)
	}
	documents := make([]submission.ExternalDocument, len(pairs))
	for i, p := range pairs {
		documents[i] = submission.ExternalDocument{Updater: p[0], Body: []byte(p[1])}
	}
	return documents, nil
}
