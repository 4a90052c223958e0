package httpapi

import (
	"io"
	"net/http"

	json "github.com/go-json-experiment/json"

	"github.com/seqlease/seqlease"
	"github.com/seqlease/seqlease/internal/spool"
	"github.com/seqlease/seqlease/internal/submission"
)

// GetSequences lists entries. The answer is written at the database's speed into
// a spool file and sent when it is whole, so that no connection waits for the
// client (L12) and a failure still is a status.
func (s *server) GetSequences(w http.ResponseWriter, r *http.Request, o Organism, params GetSequencesParams) {
	request, err := listRequest(o, params)
	if err != nil {
		s.fail(w, r, err)
		return
	}
	file, err := s.submissions.Spool().Create()
	if err != nil {
		s.fail(w, r, err)
		return
	}
	defer file.Release()
	if err := file.Finish(s.writeList(r, file, request)); err != nil {
		s.fail(w, r, err)
		return
	}
	body, err := file.Open(r.Context())
	if err != nil {
		s.fail(w, r, err)
		return
	}
	defer func() { _ = body.Close() }() // nothing of it is needed any more
	w.Header().Set("Content-Type", "application/json")
	s.stream(w, r, body)
}

func listRequest(o Organism, params GetSequencesParams) (submission.ListRequest, error) {
	request := submission.ListRequest{Organism: o}
	var err error
	if request.GroupIDs, err = list("groupIdsFilter", params.GroupIdsFilter, number); err != nil {
		return request, err
	}
	if request.Statuses, err = list("statusesFilter", params.StatusesFilter, oneOf(seqlease.Statuses())); err != nil {
		return request, err
	}
	request.Results, err = list("processingResultFilter", params.ProcessingResultFilter, oneOf(seqlease.ProcessingResults()))
	if err != nil {
		return request, err
	}
	request.Page, request.Size = asInt(params.Page), asInt(params.Size)
	return request, nil
}

func asInt(p *int32) *int {
	if p == nil {
		return nil
	}
	n := int(*p)
	return &n
}

// writeList writes a SequenceList piece by piece.
func (s *server) writeList(r *http.Request, file *spool.File, request submission.ListRequest) error {
	person, _ := personOf(r.Context())
	separator := `{"sequenceEntries":[`
	counts, err := s.submissions.List(r.Context(), person, request, func(e submission.ListedEntry) error {
		if _, err := io.WriteString(file, separator); err != nil {
			return err
		}
		separator = ","
		return json.MarshalWrite(file, listedEntry(e))
	})
	if err != nil {
		return err
	}
	if separator != "," {
		if _, err := io.WriteString(file, separator); err != nil {
			return err
		}
	}
	if _, err := io.WriteString(file, `],"statusCounts":`); err != nil {
		return err
	}
	if err := json.MarshalWrite(file, counts.Statuses, json.Deterministic(true)); err != nil {
		return err
	}
	if _, err := io.WriteString(file, `,"processingResultCounts":`); err != nil {
		return err
	}
	if err := json.MarshalWrite(file, counts.Results, json.Deterministic(true)); err != nil {
		return err
	}
	_, err = io.WriteString(file, "}")
	return err
}

func listedEntry(e submission.ListedEntry) SequenceEntryStatus {
	listed := SequenceEntryStatus{
		Accession: string(e.Accession), Version: int64(e.Version), Status: e.Status, GroupId: e.GroupID,
		Submitter: e.Submitter, IsRevocation: e.IsRevocation, SubmissionId: e.SubmissionID,
		DataUseTerms: dataUseTerms(e.Terms),
	}
	if e.Result != "" {
		listed.ProcessingResult = &e.Result
	}
	return listed
}
