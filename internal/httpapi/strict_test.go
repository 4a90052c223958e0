package httpapi_test

import (
	"maps"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/seqlease/seqlease/internal/httpapi"
)

// operation is what the description says of one, as far as strictness goes.
type operation struct {
	Tags        []string
	Refuses     string `json:"x-refuses-unknown"`
	RequestBody *struct {
		Content map[string]struct {
			Schema struct {
				Ref string `json:"$ref"`
			}
		}
	}
}

// TestStrict_AsDescribed sends an unknown parameter and an unknown member to every
// operation that says it refuses them, and holds the members that the answer names
// against the description's.
func TestStrict_AsDescribed(t *testing.T) {
	t.Parallel()
	d := newDoor(t, doorOptions{})
	var spec struct {
		Paths      map[string]map[string]operation
		Components struct {
			Schemas map[string]struct {
				AdditionalProperties any
				Properties           map[string]any
			}
		}
	}
	d.call(t, "GET", "/openapi.json", "", nil).want(t, 200).into(t, &spec)
	var refusing, lenient []string
	for path, operations := range spec.Paths {
		for method, o := range operations {
			name := strings.ToUpper(method) + " " + path
			if o.Refuses == "" {
				if slices.Contains(o.Tags, "operators") {
					lenient = append(lenient, name)
				}
				continue
			}
			refusing = append(refusing, name)
			way := strings.NewReplacer("{organism}", "zika", "{version}", "1", "{accession}", "LOC_1").Replace(path)
			p := d.call(t, strings.ToUpper(method), way+"?colour=red", root, nil).problem(t, 400, `"colour" is no parameter`, "Nothing was done", o.Refuses)
			if len(p.Problems) != 1 || p.Problems[0].Field != "colour" {
				t.Errorf("%s: problems %+v", name, p.Problems)
			}
			if o.RequestBody == nil {
				continue
			}
			schema := spec.Components.Schemas[strings.TrimPrefix(o.RequestBody.Content["application/json"].Schema.Ref, "#/components/schemas/")]
			if schema.AdditionalProperties != false {
				t.Errorf("%s: the description of the body allows other members", name)
			}
			words := append(slices.Collect(maps.Keys(schema.Properties)), `"colour" is no member`, "Nothing was done", o.Refuses)
			a := d.call(t, "POST", way, root, strings.NewReader(`{"colour":1}`), "Content-Type", "application/json")
			if p := a.problem(t, 400, words...); len(p.Problems) != 1 || p.Problems[0].Field != "colour" {
				t.Errorf("%s: problems %+v", name, p.Problems)
			}
		}
	}
	if len(refusing) < 12 {
		t.Errorf("only %v refuse what they don't know", refusing)
	}
	slices.Sort(lenient)
	ofTheProtocol := []string{"GET /admin/current-pipeline-versions", "GET /admin/pipeline-statistics", "POST /debug/delete-all-sequence-data"}
	if diff := cmp.Diff(ofTheProtocol, lenient); diff != "" {
		t.Errorf("operators' calls that ignore what they don't know (-want +got):\n%s", diff)
	}
}

// TestStrict_L16_AMistakeDoesNothing has an operator misspell a condition, or put it in
// the wrong place: without it, each call would do more than was meant.
func TestStrict_L16_AMistakeDoesNothing(t *testing.T) {
	t.Parallel()
	d := newDoor(t, doorOptions{})
	stored := d.submit(t, d.newGroup(t, anna), 4, 20)
	held := entriesOf(t, d.claimAs(t, "w1", 2).body)
	d.sendResults(t, resultOf(held[0])).want(t, 204)
	d.post(t, "quarantine", root, `{"accessionVersions":[{"accession":"`+string(stored[3].Accession)+`","version":1}]}`).want(t, 200)
	one := strings.TrimSuffix(jsonList(held[1]), "}]")
	for _, tt := range []struct {
		path, body string
		words      []string
	}{
		{"pause", `{"pipelineVersion":2}`, []string{"pipelineVersion", "reason", "POST /{organism}/pipelines/{version}/pause"}},
		{"pause", `{"reason":"slow","pipelineversion":2}`, []string{"pipelineversion"}},
		{"pause?pipelineVersion=2", `{}`, []string{"pipelineVersion", "JSON body", "/pipelines/{version}/pause"}},
		{"pause?pipelineVersion=2", ``, []string{"pipelineVersion", "JSON body"}},
		{"pipelines/1/pause", `{"workerId":"w1"}`, []string{"workerId", "path"}},
		{"pipelines/1/pause?workerId=w1", ``, []string{"workerId"}},
		{"quarantine", `{"all":true,"workerID":"w1"}`, []string{"workerID", "workerId"}},
		{"quarantine?workerId=w1", `{"all":true}`, []string{"workerId", "JSON body"}},
		{"quarantine", `{"accessionVersions":` + one + `,"pipelineVersion":2}]}`, []string{"accessionVersions.0.pipelineVersion", "accession and version"}},
		{"quarantine", `{"all":true,"processingAttemptIds":[]}`, []string{"processingAttemptIds"}},
		{"quarantine/requeue", `{"all":true,"errorContain":"memory"}`, []string{"errorContain", "errorContains"}},
		{"quarantine/requeue?errorContains=memory", `{"all":true}`, []string{"errorContains"}},
		{"reprocess", `{"all":true,"submittedfrom":"2026-01-01T00:00:00Z"}`, []string{"submittedfrom", "submittedFrom"}},
		{"reprocess?submittedFrom=2026-01-01T00:00:00Z", `{"all":true}`, []string{"submittedFrom"}},
		{"leases/free", `{"workerId":"w1","accessionVersion":` + jsonList(held[1]) + `}`, []string{"accessionVersion", "accessionVersions"}},
		{"leases/free", `{"workerId":"w1","pipelineVersion":2}`, []string{"pipelineVersion", "processingAttemptIds"}},
		{"leases/free?processingAttemptIds=x", `{"workerId":"w1"}`, []string{"processingAttemptIds"}},
	} {
		t.Logf("%s %s", tt.path, tt.body)
		d.post(t, tt.path, root, tt.body).problem(t, 400, append(tt.words, "Nothing was done")...)
	}
	for path, words := range map[string][]string{
		"/admin/audit-log?usr=anna":            {"usr", "user", "groupId"},
		"/admin/audit-log?user=anna&organisms": {"organisms", "organism"},
		"/zika/leases?workerId=w1":             {"workerId", "limit and after"},
		"/zika/quarantine?pipelineVersion=1":   {"pipelineVersion"},
		"/zika/leases?limit=1&=":               {`"" is no parameter`},
	} {
		d.call(t, "GET", path, root, nil).problem(t, 400, words...)
	}
	d.call(t, "GET", historyPath("zika", held[0].AccessionVersion)+"?pipelineVersion=1", anna, nil).problem(t, 400, "pipelineVersion", "it takes none")
	// What curl -d says, if it isn't told that it sends JSON.
	for _, body := range []string{`{"pipelineVersion":2}`, "pipelineVersion=2", "reason=slow"} {
		d.call(t, "POST", "/zika/pause", root, strings.NewReader(body), "Content-Type", "application/x-www-form-urlencoded").problem(t, 415, "application/json")
	}
	body, contentType := upload(t, "reason", "slow")
	d.call(t, "POST", "/zika/pause", root, body, "Content-Type", contentType).problem(t, 415, "application/json")

	if log := d.auditLog(t, "user="+root); len(log.Events) != 1 {
		t.Errorf("operators did %+v, want the one quarantine", log.Events)
	}
	if got := d.claim(t, pipe2, 10); len(got) != 1 {
		t.Errorf("claimed %d entries, want the one that waits", len(got))
	}
	var renewed httpapi.RenewedLease
	d.post(t, "renew-lease", pipe, ofAttempt(held[1].AttemptID, "")).want(t, 200).into(t, &renewed)
	if renewed.Held != 1 || len(renewed.Lost) != 0 {
		t.Errorf("the worker's lease is %+v, want one entry held and none lost", renewed)
	}
}

// TestStrict_WorkersMayBeNewer: a worker's calls ignore what this server doesn't know.
func TestStrict_WorkersMayBeNewer(t *testing.T) {
	t.Parallel()
	d := newDoor(t, doorOptions{})
	d.submit(t, d.newGroup(t, anna), 1, 20)
	id := d.claim(t, pipe, 1)[0].AttemptID
	for _, path := range []string{"renew-lease?later=1", "return-lease?later=1"} {
		d.post(t, path, pipe, ofAttempt(id, `,"later":{"x":1}`)).want(t, 200)
	}
}
