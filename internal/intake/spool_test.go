package intake

import (
	"bytes"
	"encoding/binary"
	"errors"
	"runtime"
	"testing"

	"github.com/seqlease/seqlease/internal/spool"
)

// wantDamaged reads the only block of a file that holds these bytes in its place. They
// may say the same as the right ones in another way.
func wantDamaged(t *testing.T, s *frames, f blockFrame, right, damaged []byte, what string) {
	t.Helper()
	f.size = int32(len(damaged))
	r := frameReader{frames: s, ahead: damaged}
	if block, err := r.block(f); !errors.Is(err, errBlock) && !bytes.Equal(block, right) {
		t.Errorf("%s: read a block of %d bytes and error %v, want %v", what, len(block), err, errBlock)
	}
}

// Not parallel: it measures what the whole process allocates.
func TestDamagedBlocksAreNoticed(t *testing.T) { //nolint:paralleltest // measures what the whole process allocates
	s, err := newFrames(spool.NewDir(t.TempDir(), 0), zika(t))
	if err != nil {
		t.Fatal(err)
	}
	defer func() { _ = s.close() }()
	block := append(noisy(1000), bytes.Repeat([]byte("Peru"), 100)...)
	f, err := s.addBlock(block)
	if err != nil {
		t.Fatal(err)
	}
	if err := s.flush(); err != nil {
		t.Fatal(err)
	}
	r := frameReader{frames: s}
	if got, err := r.block(f); err != nil || !bytes.Equal(got, block) {
		t.Fatalf("read %d bytes and error %v, want the block", len(got), err)
	}
	whole := bytes.Clone(r.ahead)
	for i := range whole {
		damaged := bytes.Clone(whole)
		damaged[i] ^= 4
		wantDamaged(t, s, f, block, damaged, "a bit is another one")
		wantDamaged(t, s, f, block, whole[:i], "cut")
	}
	_, header := binary.Uvarint(whole)
	var before, after runtime.MemStats
	runtime.ReadMemStats(&before)
	wantDamaged(t, s, f, block, append(binary.AppendUvarint(nil, 1<<30), whole[header:]...), "a size of 1 GiB")
	runtime.ReadMemStats(&after)
	if took := (after.TotalAlloc - before.TotalAlloc) >> 20; took > 10 {
		t.Errorf("%d MiB were taken for a block of %d bytes", took, len(block))
	}
}

// noisy are bytes that can't be compressed.
func noisy(n int) []byte {
	content := make([]byte, n)
	state := uint32(1)
	for i := range content {
		state = state*1664525 + 1013904223
		content[i] = byte(state >> 24)
	}
	return content
}
