package httpapi_test

import (
	"fmt"
	"testing"

	"github.com/seqlease/seqlease"
)

// accessRows is the whole matrix. A new operation gets a row in the list of its kind:
// the test that compares the table with openapi.yaml says which are missing.
func accessRows() []accessRow {
	var rows []accessRow
	for _, list := range [][]accessRow{pipelineRows(), entryRows(), operatorRows(), groupRows(), serverRows()} {
		rows = append(rows, list...)
	}
	return rows
}

func pipelineRows() []accessRow {
	return []accessRow{
		{
			operation: "POST /{organism}/extract-unprocessed-data", need: pipelines, ok: 200,
			make: fixed(request{path: "/zika/extract-unprocessed-data?numberOfSequenceEntries=0&pipelineVersion=1"}),
		},
		{
			operation: "POST /{organism}/submit-processed-data", need: pipelines, ok: 204,
			make: fixed(request{"/zika/submit-processed-data?pipelineVersion=1", "", "application/x-ndjson"}),
		},
		{operation: "POST /{organism}/submit-external-metadata", need: updaters, ok: 204, make: func(t *testing.T, w *world) request {
			t.Helper()
			av := w.released(t)
			return request{
				"/zika/submit-external-metadata?externalMetadataUpdater=museum",
				fmt.Sprintf(`{"accession":%q,"version":%d,"externalMetadata":{}}`, av.Accession, av.Version), "application/x-ndjson",
			}
		}},
		// A lease is its user's: another pipeline is told that it is lost.
		{operation: "POST /{organism}/renew-lease", need: pipelines, ok: 409, okFor: map[string]int{pipe: 200}, make: func(t *testing.T, w *world) request {
			t.Helper()
			return postJSON("/zika/renew-lease", `{"processingAttemptId":%q}`, w.claimed(t).AttemptID)
		}},
		{operation: "POST /{organism}/return-lease", need: pipelines, ok: 409, okFor: map[string]int{pipe: 200}, make: func(t *testing.T, w *world) request {
			t.Helper()
			return postJSON("/zika/return-lease", `{"processingAttemptId":%q}`, w.claimed(t).AttemptID)
		}},
	}
}

// onEntry makes a request about an entry.
func onEntry(state func(*world, *testing.T) seqlease.AccessionVersion, about func(seqlease.AccessionVersion) request) func(*testing.T, *world) request {
	return func(t *testing.T, w *world) request {
		t.Helper()
		return about(state(w, t))
	}
}

func entryRows() []accessRow {
	return []accessRow{
		{operation: "POST /{organism}/submit", need: member, ok: 200, make: func(t *testing.T, w *world) request {
			t.Helper()
			return w.upload(t, w.submitPath(), "", "")
		}},
		{operation: "POST /{organism}/approve-processed-data", about: "of entries", need: member, ok: 200, make: onEntry((*world).processed, approval)},
		{operation: "POST /{organism}/approve-processed-data", about: "of a group", need: member, ok: 200, make: func(_ *testing.T, w *world) request {
			return postJSON("/zika/approve-processed-data", `{"scope":"ALL","groupIdsFilter":[%d]}`, w.group)
		}},
		{
			operation: "POST /{organism}/approve-processed-data", about: "of one's own", need: anyToken, ok: 200,
			make: fixed(postJSON("/zika/approve-processed-data", `{"scope":"ALL"}`)),
		},
		{operation: "GET /{organism}/get-sequences", about: "of a group", need: member, ok: 200, make: func(_ *testing.T, w *world) request {
			return get("/zika/get-sequences?groupIdsFilter=%d", w.group)
		}},
		{operation: "GET /{organism}/get-sequences", about: "of one's own", need: anyToken, ok: 200, make: fixed(get("/zika/get-sequences"))},
		{
			operation: "GET /{organism}/entries/{accession}/{version}/history", need: member, ok: 200, hidden: 404,
			make: onEntry((*world).received, func(av seqlease.AccessionVersion) request {
				return get("/zika/entries/%s/%d/history", av.Accession, av.Version)
			}),
		},
		{operation: "GET /{organism}/get-released-data", need: public, ok: 200, make: fixed(get("/zika/get-released-data"))},
		{operation: "POST /{organism}/revise", need: member, ok: 200, make: func(t *testing.T, w *world) request {
			t.Helper()
			return w.upload(t, "/zika/revise", "\taccession", "\t"+string(w.released(t).Accession))
		}},
		{operation: "POST /{organism}/revoke", need: member, ok: 200, make: onEntry((*world).released, func(av seqlease.AccessionVersion) request {
			return postJSON("/zika/revoke", `{"accessions":[%q]}`, av.Accession)
		})},
		{
			operation: "DELETE /{organism}/delete-sequence-entry-versions", about: "of entries", need: member, ok: 200,
			make: onEntry((*world).received, func(av seqlease.AccessionVersion) request {
				return postJSON("/zika/delete-sequence-entry-versions",
					`{"scope":"ALL","accessionVersionsFilter":[{"accession":%q,"version":%d}]}`, av.Accession, av.Version)
			}),
		},
		{
			operation: "DELETE /{organism}/delete-sequence-entry-versions", about: "of a group", need: member, ok: 200,
			make: func(_ *testing.T, w *world) request {
				return postJSON("/zika/delete-sequence-entry-versions", `{"scope":"PROCESSED_WITH_ERRORS","groupIdsFilter":[%d]}`, w.group)
			},
		},
		{
			operation: "DELETE /{organism}/delete-sequence-entry-versions", about: "of one's own", need: anyToken, ok: 200,
			make: fixed(postJSON("/zika/delete-sequence-entry-versions", `{"scope":"PROCESSED_WITH_ERRORS"}`)),
		},
		{
			operation: "GET /{organism}/get-data-to-edit/{accession}/{version}", need: member, ok: 200,
			make: onEntry((*world).processed, func(av seqlease.AccessionVersion) request {
				return get("/zika/get-data-to-edit/%s/%d", av.Accession, av.Version)
			}),
		},
		{
			operation: "POST /{organism}/submit-edited-data", need: member, ok: 204,
			make: onEntry((*world).processed, func(av seqlease.AccessionVersion) request {
				return postJSON("/zika/submit-edited-data",
					`{"accession":%q,"version":%d,"data":{"metadata":{"country":"Kenya"},"unalignedNucleotideSequences":{}}}`, av.Accession, av.Version)
			}),
		},
		{operation: "GET /{organism}/get-submitted-metadata", about: "of a group", need: member, ok: 200, make: func(_ *testing.T, w *world) request {
			return get("/zika/get-submitted-metadata?groupIdsFilter=%d", w.group)
		}},
		{operation: "GET /{organism}/get-submitted-metadata", about: "of one's own", need: anyToken, ok: 200, make: fixed(get("/zika/get-submitted-metadata"))},
		{operation: "POST /{organism}/get-submitted-data", need: member, ok: 200, make: func(_ *testing.T, w *world) request {
			return postJSON("/zika/get-submitted-data", `{"groupId":%d}`, w.group)
		}},
	}
}

func operatorRows() []accessRow {
	rows := []accessRow{
		{operation: "GET /{organism}/leases", ok: 200, make: fixed(get("/zika/leases"))},
		{operation: "GET /{organism}/quarantine", ok: 200, make: fixed(get("/zika/quarantine"))},
		{operation: "GET /admin/pipeline-statistics", ok: 200, make: fixed(get("/admin/pipeline-statistics"))},
		{operation: "GET /admin/current-pipeline-versions", ok: 200, make: fixed(get("/admin/current-pipeline-versions"))},
		{operation: "GET /admin/audit-log", ok: 200, make: fixed(get("/admin/audit-log"))},
		// Debug mode is off: even a super user deletes nothing.
		{operation: "POST /debug/delete-all-sequence-data", ok: 404, make: fixed(request{path: "/debug/delete-all-sequence-data"})},
		{operation: "POST /{organism}/leases/free", ok: 400, make: nowhere("/leases/free")},
		{operation: "POST /{organism}/quarantine", ok: 400, make: nowhere("/quarantine")},
		{operation: "POST /{organism}/quarantine/requeue", ok: 400, make: nowhere("/quarantine/requeue")},
		{operation: "POST /{organism}/reprocess", ok: 400, make: nowhere("/reprocess")},
		{operation: "POST /{organism}/pause", ok: 400, make: nowhere("/pause")},
		{operation: "POST /{organism}/resume", ok: 400, make: nowhere("/resume")},
		{operation: "POST /{organism}/pipelines/{version}/pause", ok: 400, make: nowhere("/pipelines/1/pause")},
		{operation: "POST /{organism}/pipelines/{version}/resume", ok: 400, make: nowhere("/pipelines/1/resume")},
	}
	for i := range rows {
		rows[i].need = operators
	}
	return rows
}

const newGroupBody = `{"groupName":"Lab","institution":"I","address":{"line1":"1","line2":"","city":"c","state":"","postalCode":"","country":"CH"},"contactEmail":"a@b"}`

func groupRows() []accessRow {
	return []accessRow{
		{operation: "POST /groups", need: anyToken, ok: 200, make: fixed(postJSON("/groups", newGroupBody))},
		{operation: "GET /groups", need: anyToken, ok: 200, make: fixed(get("/groups"))},
		{operation: "GET /groups/{groupId}", need: public, ok: 200, make: func(_ *testing.T, w *world) request { return get("/groups/%d", w.group) }},
		{operation: "PUT /groups/{groupId}", need: member, ok: 200, make: func(_ *testing.T, w *world) request {
			return postJSON(fmt.Sprintf("/groups/%d", w.group), newGroupBody)
		}},
		{operation: "PUT /groups/{groupId}/users/{name}", need: member, ok: 204, make: func(_ *testing.T, w *world) request {
			return request{path: fmt.Sprintf("/groups/%d/users/new-%d", w.group, w.made.Add(1))}
		}},
		{operation: "DELETE /groups/{groupId}/users/{name}", need: member, ok: 204, make: func(t *testing.T, w *world) request {
			t.Helper()
			name := fmt.Sprintf("old-%d", w.made.Add(1))
			w.join(t, name)
			return request{path: fmt.Sprintf("/groups/%d/users/%s", w.group, name)}
		}},
		{operation: "GET /user/groups", need: anyToken, ok: 200, make: fixed(get("/user/groups"))},
		{operation: "PUT /data-use-terms", need: member, ok: 204, make: onEntry((*world).received, func(av seqlease.AccessionVersion) request {
			return postJSON("/data-use-terms", `{"accessions":[%q],"newDataUseTerms":{"type":"OPEN"}}`, av.Accession)
		})},
		{operation: "GET /data-use-terms/{accession}", need: public, ok: 200, make: onEntry((*world).received, func(av seqlease.AccessionVersion) request {
			return get("/data-use-terms/%s", av.Accession)
		})},
	}
}

func serverRows() []accessRow {
	// There are no attachments: who may ask is told so.
	rows := []accessRow{
		{operation: "POST /files/request-upload", need: anyToken, ok: 400, make: fixed(request{path: "/files/request-upload?groupId=1&numberFiles=1"})},
		{operation: "POST /files/request-multipart-upload", need: anyToken, ok: 400, make: fixed(request{path: "/files/request-multipart-upload?groupId=1"})},
		{operation: "POST /files/complete-multipart-upload", need: anyToken, ok: 400, make: fixed(postJSON("/files/complete-multipart-upload", "[]"))},
		{operation: "GET /files/get/{accession}/{version}/{category}/{name}", need: public, ok: 404, make: fixed(get("/files/get/LOC_1/1/c/n"))},
		{operation: "GET /favicon.ico", need: public, ok: 204, make: fixed(get("/favicon.ico"))},
	}
	for operation, path := range map[string]string{
		"GET /": "/", "GET /loculus-info": "/loculus-info", "GET /api-docs": "/api-docs", "GET /healthz": "/healthz", "GET /readyz": "/readyz", "GET /openapi.json": "/openapi.json",
		"GET /actuator/health": "/actuator/health", "GET /actuator/health/liveness": "/actuator/health/liveness",
		"GET /actuator/health/readiness": "/actuator/health/readiness",
		"GET /swagger-ui/":               "/swagger-ui/", "GET /swagger-ui/{file}": "/swagger-ui/index.html",
	} {
		rows = append(rows, accessRow{operation: operation, need: public, ok: 200, make: fixed(get("%s", path))})
	}
	return rows
}
