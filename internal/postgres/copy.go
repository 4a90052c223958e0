package postgres

import (
	"context"
	"encoding/binary"
	"io"
	"sync"
	"time"

	"github.com/jackc/pgx/v5"

	"github.com/seqlease/seqlease/internal/submission"
)

// copyRows are rows for COPY in its binary format, as PostgreSQL's manual
// describes it under COPY, "Binary Format". A row is its number of columns and
// then each column, in the order of the statement and of exactly its type. COPY
// writes and logs the rows of a page together: it takes two thirds of the time of
// an INSERT from arrays, and building the rows here a fifth of what the driver takes.
type copyRows struct{ bytes []byte }

// copyHeader begins what is copied: the signature, no flags, no extension.
const copyHeader = "PGCOPY\n\xff\r\n\x00" + "\x00\x00\x00\x00" + "\x00\x00\x00\x00"

// copyPiece is how many bytes of rows are sent at a time: the driver sends at most
// 64 KiB in one message.
const copyPiece = 60 << 10

func (r *copyRows) row(columns uint16) { r.bytes = binary.BigEndian.AppendUint16(r.bytes, columns) }

func (r *copyRows) size(n int) { r.bytes = binary.BigEndian.AppendUint32(r.bytes, uint32(n)) }

func (r *copyRows) bigint(n int64) {
	r.size(8)
	r.bytes = binary.BigEndian.AppendUint64(r.bytes, uint64(n))
}

func (r *copyRows) int(n int32) {
	r.size(4)
	r.bytes = binary.BigEndian.AppendUint32(r.bytes, uint32(n))
}

func (r *copyRows) smallint(n int16) {
	r.size(2)
	r.bytes = binary.BigEndian.AppendUint16(r.bytes, uint16(n))
}

func (r *copyRows) boolean(b bool) {
	r.size(1)
	if b {
		r.bytes = append(r.bytes, 1)
	} else {
		r.bytes = append(r.bytes, 0)
	}
}

func (r *copyRows) text(s string) {
	r.size(len(s))
	r.bytes = append(r.bytes, s...)
}

func (r *copyRows) bytea(b []byte) {
	r.size(len(b))
	r.bytes = append(r.bytes, b...)
}

// date is a day of the calendar; the time of the day doesn't count.
func (r *copyRows) date(day time.Time) {
	first := time.Date(2000, 1, 1, 0, 0, 0, 0, time.UTC)
	year, month, of := day.Date()
	r.int(int32(time.Date(year, month, of, 0, 0, 0, 0, time.UTC).Sub(first) / (24 * time.Hour)))
}

// copyInto copies n rows with a COPY statement within the transaction; row appends
// the i-th of them. Rows are made while the database stores those before them.
func copyInto(ctx context.Context, tx pgx.Tx, statement string, n int, row func(rows *copyRows, i int)) error {
	reader, writer := io.Pipe()
	var making sync.WaitGroup
	making.Go(func() { writer.CloseWithError(submission.Caught(func() error { return makeRows(writer, n, row) })) })
	_, err := tx.Conn().PgConn().CopyFrom(ctx, reader, statement)
	_ = reader.Close() // ends the making of rows that the database doesn't want
	making.Wait()
	return err
}

// makeRows writes all rows.
func makeRows(to io.Writer, n int, row func(rows *copyRows, i int)) error {
	rows := copyRows{append(make([]byte, 0, copyPiece+copyPiece/8), copyHeader...)}
	for i := range n {
		if row(&rows, i); len(rows.bytes) >= copyPiece {
			if _, err := to.Write(rows.bytes); err != nil {
				return err
			}
			rows.bytes = rows.bytes[:0]
		}
	}
	_, err := to.Write(append(rows.bytes, 0xff, 0xff)) // the end
	return err
}
