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
	// IdempotencyKey has the same upload, sent again after its answer was lost, answered
	// as the first time: 1 to 255 visible ASCII characters, such as a fresh UUID. Empty:
	// each call stores new entries.
	IdempotencyKey string
}

// Submit uploads new entries and returns their accessions in the order of the
// metadata file. Nothing is stored if the error is a [*seqlease.InvalidError].
func (c *Client) Submit(ctx context.Context, s Submission) ([]seqlease.SubmissionIDMapping, error) {
	mappings, err := c.upload(ctx, organismPath(s.Organism, "submit"), s.IdempotencyKey, func(form *multipart.Writer) error {
		return writeSubmission(form, s)
	})
	if err != nil {
		return nil, fmt.Errorf("submit %s to %s: %w", s.Metadata.Name, s.Organism, err)
	}
	return mappings, nil
}

// upload sends a form while it is written.
func (c *Client) upload(ctx context.Context, path, key string, write func(form *multipart.Writer) error) ([]seqlease.SubmissionIDMapping, error) {
	reader, writer := io.Pipe()
	form := multipart.NewWriter(writer)
	sent := make(chan struct{})
	go func() {
		defer close(sent)
		writer.CloseWithError(write(form))
	}()
	var mappings []seqlease.SubmissionIDMapping
	err := c.document(ctx, call{
		method: http.MethodPost, path: path, contentType: form.FormDataContentType(), idempotencyKey: key, body: reader,
	}, &mappings)
	_ = reader.Close() // the server may answer before it has read everything
	<-sent
	return mappings, err
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
	return writeFiles(form, s.Metadata, s.Sequences)
}

// writeFiles writes the files and ends the form.
func writeFiles(form *multipart.Writer, metadata, sequences File) error {
	for _, part := range []struct {
		name string
		file File
	}{{"metadataFile", metadata}, {"sequenceFile", sequences}} {
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
