package client

import (
	"context"
	"fmt"
	"net/http"
	"net/url"
	"time"

	"github.com/seqlease/seqlease"
)

// TermsRecord is one step in the history of an accession's data use terms.
type TermsRecord struct {
	ChangedAt time.Time // UTC
	Terms     seqlease.DataUseTerms
	User      string
}

// termsDocument is how data use terms travel.
type termsDocument struct {
	Type            seqlease.TermsType `json:"type"`
	RestrictedUntil string             `json:"restrictedUntil,omitzero"`
}

// ChangeDataUseTerms changes the data use terms of accessions, all or nothing. The
// error is [seqlease.ErrState] if one doesn't exist or can't have these terms any
// more: open data stays open, and a restriction never gets longer.
func (c *Client) ChangeDataUseTerms(ctx context.Context, accessions []seqlease.Accession, terms seqlease.DataUseTerms) error {
	document := termsDocument{Type: terms.Type}
	if terms.Type == seqlease.TermsRestricted {
		document.RestrictedUntil = terms.RestrictedUntil.UTC().Format(time.DateOnly)
	}
	k, err := jsonCall("/data-use-terms", struct {
		Accessions []seqlease.Accession `json:"accessions"`
		Terms      termsDocument        `json:"newDataUseTerms"`
	}{accessions, document})
	if err == nil {
		k.method = http.MethodPut
		err = c.act(ctx, k)
	}
	if err != nil {
		return fmt.Errorf("change the data use terms of %d accessions: %w", len(accessions), err)
	}
	return nil
}

// changeDate is the layout of the instants of changes, in UTC without a zone.
const changeDate = "2006-01-02T15:04:05.999999"

// DataUseTerms returns the history of an accession's data use terms, oldest
// first, or [seqlease.ErrNotFound]; the newest counts. It takes no token.
func (c *Client) DataUseTerms(ctx context.Context, accession seqlease.Accession) ([]TermsRecord, error) {
	var documents []struct {
		ChangeDate string        `json:"changeDate"`
		Terms      termsDocument `json:"dataUseTerms"`
		User       string        `json:"userName"`
	}
	path := "/data-use-terms/" + url.PathEscape(string(accession))
	err := c.document(ctx, call{method: http.MethodGet, path: path}, &documents)
	history := make([]TermsRecord, len(documents))
	for i, d := range documents {
		if err != nil {
			break
		}
		history[i] = TermsRecord{Terms: seqlease.DataUseTerms{Type: d.Terms.Type}, User: d.User}
		if history[i].ChangedAt, err = time.Parse(changeDate, d.ChangeDate); err == nil && d.Terms.RestrictedUntil != "" {
			history[i].Terms.RestrictedUntil, err = time.Parse(time.DateOnly, d.Terms.RestrictedUntil)
		}
	}
	if err != nil {
		return nil, fmt.Errorf("data use terms of %s: %w", accession, err)
	}
	return history, nil
}
