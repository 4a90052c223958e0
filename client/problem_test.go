package client_test

import (
	"errors"
	"fmt"
	"net/http"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/seqlease/seqlease"
	"github.com/seqlease/seqlease/client"
	"github.com/seqlease/seqlease/internal/httpapi"
)

func TestProblem_B091_APageOfAProxyIsNoJSONError(t *testing.T) {
	t.Parallel()
	for _, status := range []int{http.StatusBadGateway, http.StatusServiceUnavailable, http.StatusTooManyRequests} {
		c := serve(t, answer(status, "<html><body>Bad gateway</body></html>", "Content-Type", "text/html", "Retry-After", "7"))
		_, err := c.UserGroups(t.Context())
		var problem *client.ProblemError
		if !errors.As(err, &problem) {
			t.Fatalf("status %d: got %v", status, err)
		}
		if !problem.Temporary() || problem.RetryAfter != 7*time.Second {
			t.Errorf("status %d: temporary %t, retry after %s", status, problem.Temporary(), problem.RetryAfter)
		}
		if text := err.Error(); strings.Contains(text, "<") || strings.Contains(text, "json") || !strings.Contains(text, http.StatusText(status)) {
			t.Errorf("status %d: message %q", status, text)
		}
	}
}

func TestProblem_RefusalsComeWithEveryLine(t *testing.T) {
	t.Parallel()
	c := serve(t, answer(422, `{"type":"urn:seqlease:problem:results-refused","title":"Unprocessable Entity","status":422,"detail":"2 lines refused",`+
		`"refused":[{"accession":"LOC_000001Y","version":1,"line":1,"reason":"lease-lost","detail":"the lease has ended"},`+
		`{"accession":"LOC_000002W","version":1,"line":2,"reason":"edited","detail":"edited since"}]}`,
		"Content-Type", "application/problem+json"))
	err := c.SubmitResults(t.Context(), "zika", 1, func(func(seqlease.Result) bool) {})
	var refused *seqlease.RefusedError
	if !errors.As(err, &refused) || !errors.Is(err, seqlease.ErrLeaseLost) {
		t.Fatalf("got %v", err)
	}
	want := []seqlease.Refusal{
		{AccessionVersion: seqlease.AccessionVersion{Accession: "LOC_000001Y", Version: 1}, Line: 1, Reason: seqlease.RefusedLeaseLost, Detail: "the lease has ended"},
		{AccessionVersion: seqlease.AccessionVersion{Accession: "LOC_000002W", Version: 1}, Line: 2, Reason: seqlease.RefusedEdited, Detail: "edited since"},
	}
	if diff := cmp.Diff(want, refused.Refused); diff != "" {
		t.Errorf("refused (-want +got):\n%s", diff)
	}
}

func TestProblem_UnknownTypesKeepTheirText(t *testing.T) {
	t.Parallel()
	c := serve(t, answer(418, `{"type":"urn:seqlease:problem:teapot","title":"A teapot","status":418,"detail":"short and stout"}`,
		"Content-Type", "application/problem+json", "X-Request-Id", "r1"))
	_, err := c.UserGroups(t.Context())
	var problem *client.ProblemError
	if !errors.As(err, &problem) {
		t.Fatal(err)
	}
	if problem.Unwrap() != nil || problem.Temporary() || problem.RequestID != "r1" {
		t.Errorf("got %+v", problem)
	}
	if want := "list groups: the server answered 418 A teapot: short and stout"; err.Error() != want {
		t.Errorf("got %q, want %q", err, want)
	}
}

// TestProblem_EveryKindOfTheServerComesBackAsItsSentinel walks the table of the
// server and its inverse here.
func TestProblem_EveryKindOfTheServerComesBackAsItsSentinel(t *testing.T) {
	t.Parallel()
	for _, kind := range httpapi.ProblemKinds() {
		c := serve(t, answer(kind.Status, fmt.Sprintf(`{"type":%q,"title":"t","status":%d,"detail":"d"}`, kind.Type, kind.Status),
			"Content-Type", "application/problem+json"))
		_, err := c.UserGroups(t.Context())
		if !errors.Is(err, kind.Is) {
			t.Errorf("%s: %v is not %v", kind.Type, err, kind.Is)
		}
		for _, other := range httpapi.ProblemKinds() {
			if other.Type != kind.Type && errors.Is(err, other.Is) {
				t.Errorf("%s: %v is also %v", kind.Type, err, other.Is)
			}
		}
	}
}
