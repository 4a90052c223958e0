//go:build linux

package fault

import (
	"context"
	"strconv"
	"strings"
	"syscall"
	"testing"
	"time"
)

// TestHousehold: who ended by itself is told, who was ended by us isn't, and
// processes that nobody waits for are found.
func TestHousehold(t *testing.T) {
	t.Parallel()
	h := &household{id: "test-" + t.Name(), dir: t.TempDir()}
	start := func(name string, arguments ...string) *process {
		p, err := h.start(name, []string{"GREETING=hello"}, "sh", "-c", strings.Join(arguments, ";"))
		if err != nil {
			t.Fatal(err)
		}
		return p
	}
	crashed := start("crashed", "echo $GREETING", "exit 3")
	<-crashed.ended
	if words := crashed.lastWords(); !strings.Contains(words, "hello") {
		t.Errorf("its last words are %q", words)
	}
	polite := start("polite", "exec sleep 600")
	stubborn := start("stubborn", `trap "" TERM`, "echo ready", "while :", "do sleep 600", "done")
	err := await(t.Context(), "the stubborn one to be ready", time.Minute, func(context.Context) (bool, string) {
		words := stubborn.lastWords()
		return strings.Contains(words, "ready"), words
	})
	if err != nil {
		t.Fatal(err)
	}
	_ = polite.terminate(t.Context(), time.Minute) // ends with the signal
	if !polite.hasEnded() {
		t.Error("the polite one runs on")
	}
	if err := stubborn.terminate(t.Context(), 300*time.Millisecond); err == nil || !stubborn.hasEnded() {
		t.Errorf("who doesn't stop is killed, which is an error: got %v", err)
	}
	// The stubborn one's own child is nobody's; that is what close must find.
	if err := h.close(); err == nil || !strings.Contains(err.Error(), "processes are left") {
		t.Errorf("close found nothing left: %v", err)
	}
	for _, pid := range h.left() {
		killLeft(t, pid)
	}
	if got := h.endedThemselves(); len(got) != 1 || !strings.HasPrefix(got[0], "crashed (exit status 3)") {
		t.Errorf("ended by themselves: %q, want the crashed one", got)
	}
}

func killLeft(t *testing.T, pid string) {
	t.Helper()
	n, err := strconv.Atoi(pid)
	if err == nil {
		err = syscall.Kill(n, syscall.SIGKILL)
	}
	if err != nil {
		t.Error(err)
	}
}

func TestAwait_SaysWhatItFound(t *testing.T) {
	t.Parallel()
	looks := 0
	err := await(t.Context(), "the moon", 3*look, func(context.Context) (bool, string) {
		looks++
		return false, "clouds"
	})
	if err == nil || !strings.Contains(err.Error(), "the moon") || !strings.Contains(err.Error(), "clouds") || looks < 2 {
		t.Errorf("got %v after %d looks", err, looks)
	}
	if err := await(t.Context(), "the sun", time.Minute, func(context.Context) (bool, string) { return true, "" }); err != nil {
		t.Error(err)
	}
}
