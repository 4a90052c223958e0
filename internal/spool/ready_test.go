package spool_test

import (
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/seqlease/seqlease/internal/spool"
)

func TestReady_TellsWhetherFilesCanBeMade(t *testing.T) {
	t.Parallel()
	dir := filepath.Join(t.TempDir(), "spool")
	d := spool.NewDir(dir, 0)
	if err := d.Ready(); err == nil || !strings.Contains(err.Error(), dir) {
		t.Errorf("a directory that isn't there: got %v, want an error that names it", err)
	}
	if err := os.Mkdir(dir, 0o700); err != nil {
		t.Fatal(err)
	}
	if err := d.Ready(); err != nil {
		t.Error(err)
	}
	left, err := os.ReadDir(dir)
	if err != nil || len(left) > 0 || d.Used() != 0 {
		t.Errorf("the probe left %v, %d bytes, %v", left, d.Used(), err)
	}
	full := spool.NewDir(dir, 1)
	f, err := full.CreateScratch()
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = f.Close() })
	if _, err := f.Write([]byte("x")); err != nil {
		t.Fatal(err)
	}
	if err := full.Ready(); err != nil {
		t.Errorf("a full directory: %v", err)
	}
}
