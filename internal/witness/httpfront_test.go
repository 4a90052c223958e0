package witness_test

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"slices"
	"strings"
	"time"

	"github.com/seqlease/seqlease"
	"github.com/seqlease/seqlease/client"
	"github.com/seqlease/seqlease/internal/witness"
)

// httpFront lets workers call a server, each user with a token of their own.
type httpFront map[string]*client.Client

func (f httpFront) claim(ctx context.Context, v seqlease.PipelineVersion, n int, lease time.Duration, user string) (claimed, error) {
	request := client.ClaimRequest{Organism: fern, PipelineVersion: v, Entries: n, Lease: lease}
	if chance(10) {
		request.Wait = time.Second
	}
	answer, err := f[user].Claim(ctx, request)
	if err != nil || len(answer.Entries) == 0 {
		return claimed{}, err
	}
	c := claimed{attempt: answer.Entries[0].AttemptID, until: answer.Entries[0].LeaseUntil}
	for _, e := range answer.Entries {
		c.parts = append(c.parts, witness.Part{AccessionVersion: e.AccessionVersion, Tag: e.Data.Metadata["tag"], Try: e.Attempt})
	}
	return c, nil
}

func (f httpFront) submit(ctx context.Context, v seqlease.PipelineVersion, user string, lines []witness.Part, skip bool) ([]witness.Answer, error) {
	results := make([]seqlease.Result, len(lines))
	for i, line := range lines {
		results[i] = seqlease.Result{AccessionVersion: line.AccessionVersion, AttemptID: line.Attempt}
		results[i].Data.Metadata = map[string]json.RawMessage{"tag": document(line.Tag)}
	}
	if !skip {
		err := f[user].SubmitResults(ctx, fern, v, slices.Values(results))
		return answers(len(lines), len(lines), nil, false, err)
	}
	err := f[user].SubmitGoodResults(ctx, fern, v, slices.Values(results))
	if partly := (*client.PartlyRefusedError)(nil); errors.As(err, &partly) {
		return answers(len(lines), partly.Stored, partly.Refused, true, nil)
	}
	return answers(len(lines), len(lines), nil, true, err)
}

func (f httpFront) renew(ctx context.Context, id seqlease.AttemptID, user string, lease time.Duration) (renewed, error) {
	r, err := f[user].RenewLease(ctx, fern, id, lease)
	return renewed{until: r.Until, held: r.Entries, lost: r.Lost}, err
}

func (f httpFront) giveBack(ctx context.Context, id seqlease.AttemptID, user string, entries []seqlease.AccessionVersion, counted bool) (int, error) {
	return f[user].ReturnLease(ctx, fern, client.LeaseReturn{AttemptID: id, Entries: entries, CountsAsAttempt: counted, Reason: "tired"})
}

// httpDesk is the desk of a server whose store nobody else can open. What HTTP
// doesn't tell is read from the file.
type httpDesk struct {
	*client.Client
	*sqliteFile
	group int64
}

func newHTTPDesk(ctx context.Context, c *client.Client, file *sqliteFile) (*httpDesk, error) {
	if err := file.secondVersion(ctx); err != nil {
		return nil, err
	}
	g, err := c.CreateGroup(ctx, seqlease.NewGroup{GroupName: "Fernery", ContactEmail: "fern@example.org"})
	return &httpDesk{Client: c, sqliteFile: file, group: g.GroupID}, err
}

func (d *httpDesk) create(ctx context.Context, tags []string) ([]seqlease.AccessionVersion, error) {
	rows := []string{"id\ttag"}
	for _, tag := range tags {
		rows = append(rows, tag+"\t"+tag)
	}
	mappings, err := d.Submit(ctx, client.Submission{
		Organism: fern, GroupID: d.group,
		Metadata: client.File{Name: "metadata.tsv", Content: bytes.NewBufferString(strings.Join(rows, "\n"))},
	})
	list := make([]seqlease.AccessionVersion, len(mappings))
	for i, m := range mappings {
		list[i] = m.AccessionVersion
	}
	return list, err
}

func (d *httpDesk) edit(ctx context.Context, av seqlease.AccessionVersion, tag string) error {
	return d.SubmitEditedData(ctx, fern, av, seqlease.SubmittedData{Metadata: map[string]string{"tag": tag}})
}

func (d *httpDesk) remove(ctx context.Context, av seqlease.AccessionVersion) error {
	_, err := d.Delete(ctx, fern, client.Deletion{Scope: seqlease.DeleteAll, Entries: []seqlease.AccessionVersion{av}})
	return err
}

func (d *httpDesk) statuses(ctx context.Context) ([]witness.Part, error) {
	listing, err := d.ListEntries(ctx, fern, client.ListFilter{})
	var parts []witness.Part
	for _, e := range listing.Entries {
		parts = append(parts, witness.Part{AccessionVersion: e.AccessionVersion, Status: e.Status})
	}
	return parts, err
}

func (d *httpDesk) released(ctx context.Context) ([]witness.Part, error) {
	if _, err := d.Approve(ctx, fern, client.Approval{Scope: seqlease.ApproveAll}); err != nil {
		return nil, err
	}
	var parts []witness.Part
	_, err := d.ReleasedData(ctx, fern, "", func(line []byte) error {
		var record struct {
			Metadata struct {
				Accession seqlease.Accession `json:"accession"`
				Version   seqlease.Version   `json:"version"`
				Tag       string             `json:"tag"`
			} `json:"metadata"`
		}
		if err := json.Unmarshal(line, &record); err != nil {
			return err
		}
		m := record.Metadata
		parts = append(parts, witness.Part{AccessionVersion: seqlease.AccessionVersion{Accession: m.Accession, Version: m.Version}, Tag: m.Tag})
		return nil
	})
	return parts, err
}
