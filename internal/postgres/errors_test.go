package postgres

import (
	"errors"
	"fmt"
	"strings"
	"testing"

	"github.com/jackc/pgx/v5/pgconn"

	"github.com/seqlease/seqlease"
)

func TestReason_RefusalsOfTheServerInWords(t *testing.T) {
	t.Parallel()
	for code, want := range map[string]string{
		"28P01": "the server refuses the user's password (SQLSTATE 28P01)",
		"28000": "the server doesn't let this user in from here; see its pg_hba.conf (SQLSTATE 28000)",
		"3D000": "the server has no database of the name in the address: create it first, for example with createdb (SQLSTATE 3D000)",
		"42501": "the user has no right to connect to this database (SQLSTATE 42501)",
		"53300": "the server has no connection left, or no room (SQLSTATE 53300)",
		"57P03": "the server is starting up or shutting down (SQLSTATE 57P03)",
		"0A000": "the server refuses the connection (SQLSTATE 0A000)",
	} {
		if got := reason(fmt.Errorf("connect: %w", &pgconn.PgError{Code: code, Message: "hunter2"})); got != want {
			t.Errorf("got %q, want %q", got, want)
		}
	}
}

func TestTranslate_FullDiskIsNotBusy(t *testing.T) {
	t.Parallel()
	for code, want := range map[string]error{"53100": seqlease.ErrStorageFull, "53200": seqlease.ErrBusy, "53300": seqlease.ErrBusy} {
		err := translate(translate(fmt.Errorf("insert: %w", &pgconn.PgError{Code: code})))
		if !errors.Is(err, want) || errors.Is(err, seqlease.ErrStorageFull) && errors.Is(err, seqlease.ErrBusy) {
			t.Errorf("%s: got %v, want %v", code, err, want)
		}
	}
	if text := seqlease.Explanation(translate(&pgconn.PgError{Code: "53100"})); !strings.Contains(text, "is full") {
		t.Errorf("says %q", text)
	}
}

func TestUnreachable_IsBusyButDoesNotSaySo(t *testing.T) {
	t.Parallel()
	err := fmt.Errorf("open: %w", &unreachableError{reason: "no server"})
	if !errors.Is(err, seqlease.ErrBusy) || strings.Contains(err.Error(), "busy") {
		t.Errorf("got %v", err)
	}
}
