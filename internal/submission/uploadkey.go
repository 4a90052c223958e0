package submission

import (
	"bufio"
	"bytes"
	"compress/flate"
	"context"
	"crypto/sha256"
	"encoding/binary"
	"errors"
	"fmt"
	"io"
	"strings"

	"github.com/seqlease/seqlease"
)

// UploadKeyHeader is where clients send the key of an upload.
const UploadKeyHeader = "Idempotency-Key"

// maxUploadKey is the length of the longest key.
const maxUploadKey = 255

// UploadKey is what a user calls an upload, so that the same one sent again is
// answered as the first time.
type UploadKey struct {
	Key    string            // 1 to 255 visible ASCII characters
	Digest [sha256.Size]byte // of all that was asked: another upload has another one
}

// CheckUploadKey returns a [*seqlease.InvalidError] for what can't be a key.
func CheckUploadKey(key string) error {
	visible := strings.IndexFunc(key, func(c rune) bool { return c <= ' ' || c > '~' }) < 0
	if visible && key != "" && len(key) <= maxUploadKey {
		return nil
	}
	return seqlease.InvalidParameter(UploadKeyHeader, fmt.Sprintf(
		"%s must have 1 to %d visible ASCII characters, such as those of a fresh UUID", UploadKeyHeader, maxUploadKey))
}

// UploadKeyStore stores uploads under keys. Of uploads of one user with one key, and
// be they sent at once to several servers, one is stored: the others wait for its
// end, and are answered as it was if they have the same digest, else by [KeyReused].
// What isn't stored leaves its key free. Other users' keys are other keys.
type UploadKeyStore interface {
	// StoredUpload returns what was stored under the key, or [seqlease.ErrNotFound].
	// With another digest the error is [KeyReused].
	StoredUpload(ctx context.Context, user string, key UploadKey) ([]seqlease.SubmissionIDMapping, error)
}

// KeyReused is what is answered to an upload whose key another one has.
func KeyReused(key string) error {
	return seqlease.Invalid(seqlease.Problem{Field: UploadKeyHeader, Value: key, Message: fmt.Sprintf(
		"the %s %q was used for another upload, with other files, names or parameters, and this one was not stored: send each upload with a key of its own",
		UploadKeyHeader, key)})
}

// storedUpload looks whether the upload is stored already.
func (s *Submissions) storedUpload(ctx context.Context, p seqlease.Person, key *UploadKey) (made []seqlease.SubmissionIDMapping, stored bool, err error) {
	if key == nil {
		return nil, false, nil
	}
	made, err = s.store.StoredUpload(ctx, p.Name, *key)
	if errors.Is(err, seqlease.ErrNotFound) {
		return nil, false, nil
	}
	if err != nil {
		return nil, false, fmt.Errorf("upload with a key: %w", err)
	}
	return made, true, nil
}

// PackAnswer makes what stores keep of an answer: the mappings one after the other,
// compressed. A million of them take some ten megabytes.
func PackAnswer(made []seqlease.SubmissionIDMapping) ([]byte, error) {
	var packed bytes.Buffer
	to, err := flate.NewWriter(&packed, flate.BestSpeed)
	if err != nil {
		return nil, err
	}
	var line []byte
	for _, m := range made {
		line = binary.AppendUvarint(line[:0], uint64(len(m.Accession)))
		line = binary.AppendUvarint(append(line, m.Accession...), uint64(m.Version))
		line = append(binary.AppendUvarint(line, uint64(len(m.SubmissionID))), m.SubmissionID...)
		if _, err := to.Write(line); err != nil {
			return nil, err
		}
	}
	if err := to.Close(); err != nil {
		return nil, err
	}
	return packed.Bytes(), nil
}

// maxAnswerText is longer than any id.
const maxAnswerText = 4 << 10

// errAnswer says that a stored answer is not as it was written.
var errAnswer = errors.New("the stored answer of an upload is damaged")

// UnpackAnswer returns what [PackAnswer] was given.
func UnpackAnswer(packed []byte) ([]seqlease.SubmissionIDMapping, error) {
	from := bufio.NewReader(flate.NewReader(bytes.NewReader(packed)))
	text := func() (string, error) {
		size, err := binary.ReadUvarint(from)
		if err != nil {
			return "", err
		}
		if size > maxAnswerText {
			return "", errAnswer
		}
		value := make([]byte, size)
		_, err = io.ReadFull(from, value)
		return string(value), err
	}
	var made []seqlease.SubmissionIDMapping
	for {
		accession, err := text()
		if errors.Is(err, io.EOF) && accession == "" {
			return made, nil
		}
		var version uint64
		var id string
		if err == nil {
			version, err = binary.ReadUvarint(from)
		}
		if err == nil {
			id, err = text()
		}
		if err != nil {
			return nil, fmt.Errorf("%w: %w", errAnswer, err)
		}
		made = append(made, seqlease.SubmissionIDMapping{
			AccessionVersion: seqlease.AccessionVersion{Accession: seqlease.Accession(accession), Version: seqlease.Version(version)},
			SubmissionID:     id,
		})
	}
}
