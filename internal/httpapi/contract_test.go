package httpapi_test

import (
	"testing"
)

// onBothStores checks what is promised to clients on a door with an embedded store
// and on one with PostgreSQL.
func onBothStores(t *testing.T, o doorOptions, check func(t *testing.T, d *door)) {
	t.Helper()
	withBothStores(t, o, func(t *testing.T, o doorOptions) { //nolint:thelper // the test itself
		check(t, newDoor(t, o))
	})
}

// withBothStores is the same for tests that make the door, since they stand between it
// and its store.
func withBothStores(t *testing.T, o doorOptions, check func(t *testing.T, o doorOptions)) {
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
			check(t, store.open(t))
		})
	}
}
