package httpapi_test

import (
	"testing"
)

// onBothStores checks what the protocol promises on a door with an embedded store
// and on one with PostgreSQL.
func onBothStores(t *testing.T, o doorOptions, check func(t *testing.T, d *door)) {
	t.Helper()
	for _, store := range []struct {
		name string
		open func(t *testing.T) doorOptions
	}{
		{"sqlite", func(*testing.T) doorOptions { return o }},
		{"postgresql", func(t *testing.T) doorOptions {
			withPostgres := o
			withPostgres.open = openPostgres(newPostgres(t), 0)
			return withPostgres
		}},
	} {
		t.Run(store.name, func(t *testing.T) {
			t.Parallel()
			check(t, newDoor(t, store.open(t)))
		})
	}
}
