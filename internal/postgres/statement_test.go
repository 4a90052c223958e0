package postgres

import (
	"testing"

	"github.com/google/go-cmp/cmp"
	"github.com/jackc/pgx/v5"
)

func TestStatement_ArgumentsGoByNumber(t *testing.T) {
	t.Parallel()
	s := numbered("s", "-- seqlease s: of user@host\nSELECT @b, @a, 'x@y', list @> ARRAY[@b]")
	if want := "-- seqlease s: of user@host\nSELECT $1, $2, 'x@y', list @> ARRAY[$1]"; s.text != want {
		t.Errorf("got %s, want %s", s.text, want)
	}
	got, err := s.values(pgx.StrictNamedArgs{"a": 1, "b": "two"})
	if err != nil {
		t.Fatal(err)
	}
	if diff := cmp.Diff([]any{"two", 1}, got); diff != "" {
		t.Errorf("arguments (-want +got):\n%s", diff)
	}
	for name, arguments := range map[string]pgx.StrictNamedArgs{
		"missing": {"a": 1}, "not used": {"a": 1, "b": 2, "c": 3}, "another": {"a": 1, "c": 2},
	} {
		if _, err := s.values(arguments); err == nil {
			t.Errorf("an argument that is %s passes", name)
		}
	}
}
