package client

import (
	"context"
	"fmt"
	"io"
	"mime/multipart"
	"net/http"
	"strconv"
	"time"

	"github.com/seqlease/seqlease"
)

// File is a file to upload. The name's ending tells the format, as in
// "metadata.tsv" and "sequences.fasta.zst".
type File struct {
	Name    string
	Content io.Reader
}

// Submission is an upload of new entries.
type Submission struct {
	Organism seqlease.Organism
	GroupID  int64
	// Terms are the data use terms; the zero value is open.
	Terms    seqlease.DataUseTerms
	Metadata File
	// Sequences has no Content for organisms without sequences.
	Sequences File
}

// Submit uploads new entries and returns their accessions in the order of the
// metadata file. Nothing is stored if the error is a [*seqlease.InvalidError].
func (c *Client) Submit(ctx context.Context, s Submission) ([]seqlease.SubmissionIDMapping, error) {
	reader, writer := io.Pipe()
	form := multipart.NewWriter(writer)
	sent := make(chan struct{})
	go func() {
		defer close(sent)
		writer.CloseWithError(writeSubmission(form, s))
	}()
	var mappings []seqlease.SubmissionIDMapping
	err := c.document(ctx, call{
		method: http.MethodPost, path: organismPath(s.Organism, "submit"),
		contentType: form.FormDataContentType(), body: reader,
	}, &mappings)
	_ = reader.Close() // the server may answer before it has read everything
	<-sent
	if err != nil {
		return nil, fmt.Errorf("submit %s to %s: %w", s.Metadata.Name, s.Organism, err)
	}
	return mappings, nil
}

func writeSubmission(form *multipart.Writer, s Submission) error {
	terms := s.Terms.Type
	if terms == "" {
		terms = seqlease.TermsOpen
	}
	fields := [][2]string{{"groupId", strconv.FormatInt(s.GroupID, 10)}, {"dataUseTermsType", string(terms)}}
	if terms == seqlease.TermsRestricted {
		fields = append(fields, [2]string{"restrictedUntil", s.Terms.RestrictedUntil.UTC().Format(time.DateOnly)})
	}
	for _, field := range fields {
		if err := form.WriteField(field[0], field[1]); err != nil {
			return err
		}
	}
	for _, part := range []struct {
		name string
		file File
	}{{"metadataFile", s.Metadata}, {"sequenceFile", s.Sequences}} {
		if part.file.Content == nil {
			continue
		}
		to, err := form.CreateFormFile(part.name, part.file.Name)
		if err != nil {
			return err
		}
		if _, err := io.Copy(to, part.file.Content); err != nil {
			return fmt.Errorf("read %s: %w", part.file.Name, err)
		}
	}
	return form.Close()
}
