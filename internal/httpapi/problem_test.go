package httpapi

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"log/slog"
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/seqlease/seqlease"
)

// answer lets a bare server fail with err.
func answer(t *testing.T, err error) (*httptest.ResponseRecorder, map[string]any, string) {
	t.Helper()
	var log bytes.Buffer
	s := &server{logger: slog.New(slog.NewTextHandler(&log, nil))}
	r := httptest.NewRequestWithContext(context.WithValue(t.Context(), requestIDKey, "the-request"), http.MethodPost, "/zika/submit", nil)
	w := httptest.NewRecorder()
	s.fail(w, r, err)
	var body map[string]any
	if err := json.Unmarshal(w.Body.Bytes(), &body); err != nil {
		t.Fatalf("%s: %v", w.Body, err)
	}
	return w, body, log.String()
}

func TestProblem_EverySentinelHasAStatus(t *testing.T) {
	t.Parallel()
	want := map[error]int{
		seqlease.ErrNotFound:         404,
		seqlease.ErrForbidden:        403,
		seqlease.ErrConflict:         409,
		seqlease.ErrUnknownOrganism:  400,
		seqlease.ErrPipelineOutdated: 422,
		seqlease.ErrPipelineUnknown:  422,
		seqlease.ErrLeaseLost:        409,
		seqlease.ErrState:            422,
		seqlease.ErrTooLarge:         413,
		seqlease.ErrBusy:             503,
		seqlease.ErrStorageFull:      507,
	}
	if got := len(ProblemKinds()); got != len(want) {
		t.Errorf("%d kinds, want %d", got, len(want))
	}
	for sentinel, status := range want {
		response, body, _ := answer(t, fmt.Errorf("while testing: %w", sentinel))
		if response.Code != status || body["status"] != float64(status) || body["title"] != http.StatusText(status) {
			t.Errorf("%v: got %d and %v, want %d", sentinel, response.Code, body, status)
		}
		if got := response.Header().Get("Content-Type"); got != "application/problem+json" {
			t.Errorf("%v: content type %q", sentinel, got)
		}
		if body["instance"] != "/zika/submit" {
			t.Errorf("%v: instance %v", sentinel, body["instance"])
		}
		if got, want := response.Header().Get("WWW-Authenticate"), map[bool]string{true: "Bearer"}[status == 403]; got != want {
			t.Errorf("%v: WWW-Authenticate %q, want %q", sentinel, got, want)
		}
		if got, want := response.Header().Get("Retry-After") != "", status == 503; got != want {
			t.Errorf("%v: Retry-After is there: %v, want %v", sentinel, got, want)
		}
	}
}

func TestProblem_TypesAreDocumentedAndDiffer(t *testing.T) {
	t.Parallel()
	types := []string{typeInvalidContent, typeInvalidRequest, typeRefused, typeBlank}
	for _, kind := range ProblemKinds() {
		types = append(types, kind.Type)
	}
	seen := map[string]bool{}
	for _, name := range types {
		if seen[name] {
			t.Errorf("%s stands for two kinds", name)
		}
		seen[name] = true
		if !strings.Contains(string(openapiYAML), "`"+name+"`") {
			t.Errorf("%s is not in openapi.yaml", name)
		}
	}
}

func TestProblem_InvalidListsWhereAndWhat(t *testing.T) {
	t.Parallel()
	_, body, _ := answer(t, fmt.Errorf("submit: %w", seqlease.Invalid(
		seqlease.Problem{File: "metadata file", Line: 3, Record: "s1", Field: "country", Message: "is wrong"},
		seqlease.Problem{Message: "is wrong too"},
	)))
	want := map[string]any{
		"type": typeInvalidContent, "title": "Unprocessable Entity", "status": float64(422), "instance": "/zika/submit",
		"detail": `metadata file, line 3, record "s1", field "country": is wrong; is wrong too`,
		"problems": []any{
			map[string]any{"file": "metadata file", "line": float64(3), "record": "s1", "field": "country", "message": "is wrong"},
			map[string]any{"message": "is wrong too"},
		},
	}
	if diff := cmp.Diff(body, want); diff != "" {
		t.Errorf("got/want %s", diff)
	}
	response, body, _ := answer(t, seqlease.InvalidParameter("pipelineVersion", "pipelineVersion is missing"))
	if response.Code != http.StatusBadRequest || body["type"] != typeInvalidRequest {
		t.Errorf("got %d %v, want 400 and %s", response.Code, body["type"], typeInvalidRequest)
	}
}

func TestProblem_L5_RefusalsAreListed(t *testing.T) {
	t.Parallel()
	refusal := seqlease.Refusal{
		AccessionVersion: seqlease.AccessionVersion{Accession: "LOC_000001Y", Version: 1},
		Line:             7, Reason: seqlease.RefusedLeaseLost, Detail: "too late",
	}
	response, body, _ := answer(t, &seqlease.RefusedError{Refused: []seqlease.Refusal{refusal}})
	if response.Code != http.StatusUnprocessableEntity || body["type"] != typeRefused {
		t.Errorf("got %d %v, want 422 and %s", response.Code, body["type"], typeRefused)
	}
	want := []any{map[string]any{"accession": "LOC_000001Y", "version": float64(1), "line": float64(7), "reason": "lease-lost", "detail": "too late"}}
	if diff := cmp.Diff(body["refused"], any(want)); diff != "" {
		t.Errorf("got/want %s", diff)
	}
}

func TestProblem_UnknownErrorsTellOnlyTheRequest(t *testing.T) {
	t.Parallel()
	response, body, log := answer(t, errors.New("password=hunter2 at 10.0.0.7"))
	if response.Code != http.StatusInternalServerError || body["type"] != typeBlank {
		t.Errorf("got %d %v, want 500 and %s", response.Code, body["type"], typeBlank)
	}
	if detail, _ := body["detail"].(string); strings.Contains(detail, "hunter2") || !strings.Contains(detail, "the-request") {
		t.Errorf("detail %q must name the request and not the cause", detail)
	}
	if !strings.Contains(log, "hunter2") || !strings.Contains(log, "request_id=the-request") {
		t.Errorf("the log must tell the cause and the request: %s", log)
	}
}

func TestProblem_BrokenTextIsStillADocument(t *testing.T) {
	t.Parallel()
	_, body, _ := answer(t, seqlease.InvalidParameter("x", "it holds \xff and <script>\u2028"))
	if got, want := body["detail"], "field \"x\": it holds \ufffd and <script>\u2028"; got != want {
		t.Errorf("got %q, want %q", got, want)
	}
}
