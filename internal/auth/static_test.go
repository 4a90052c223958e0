package auth_test

import (
	"encoding/hex"
	"errors"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/seqlease/seqlease"
	"github.com/seqlease/seqlease/internal/auth"
)

func TestStatic_Verify(t *testing.T) {
	t.Parallel()
	worker := seqlease.Person{Name: "pipeline", Roles: []seqlease.Role{seqlease.PreprocessingPipeline}}
	submitter := seqlease.Person{Name: "submitter"}
	s, err := auth.NewStatic([]auth.StaticToken{
		{SHA256: auth.Hash("worker-token"), Person: worker},
		{SHA256: auth.Hash("submitter-token"), Person: submitter},
	})
	if err != nil {
		t.Fatal(err)
	}
	for token, want := range map[string]seqlease.Person{"worker-token": worker, "submitter-token": submitter} {
		got, err := s.Verify(t.Context(), token)
		if err != nil {
			t.Errorf("%s: %v", token, err)
		}
		if diff := cmp.Diff(got, want); diff != "" {
			t.Errorf("%s: got/want %s", token, diff)
		}
	}
	hash := auth.Hash("worker-token")
	for _, token := range []string{"", "worker-toke", "worker-token ", "WORKER-TOKEN", hex.EncodeToString(hash[:]), string(hash[:])} {
		if got, err := s.Verify(t.Context(), token); !errors.Is(err, auth.ErrInvalidToken) || got.Name != "" {
			t.Errorf("token %q: got %v, error %v; want an invalid token", token, got, err)
		}
	}
}

func TestNewStatic_Refuses(t *testing.T) {
	t.Parallel()
	for _, tt := range []struct {
		name   string
		tokens []auth.StaticToken
		want   string
	}{
		{"nameless", []auth.StaticToken{{SHA256: auth.Hash("a")}}, "token 1 has no user name"},
		{"empty", []auth.StaticToken{{SHA256: auth.Hash(""), Person: seqlease.Person{Name: "ada"}}}, "token of ada is empty"},
		{"twice", []auth.StaticToken{
			{SHA256: auth.Hash("a"), Person: seqlease.Person{Name: "ada"}},
			{SHA256: auth.Hash("a"), Person: seqlease.Person{Name: "bob"}},
		}, "ada and bob have the same token"},
	} {
		t.Run(tt.name, func(t *testing.T) {
			t.Parallel()
			if _, err := auth.NewStatic(tt.tokens); err == nil || !strings.Contains(err.Error(), tt.want) {
				t.Errorf("got error %v, want one that says %q", err, tt.want)
			}
		})
	}
}
