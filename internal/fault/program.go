//go:build linux

package fault

import (
	"context"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strconv"
	"strings"
	"time"

	"github.com/go-json-experiment/json"
)

// Programs are the executables that a fleet runs.
type Programs struct {
	Server string // seqlease
	Worker string // loggedworker
	// ShiftedServer and ShiftedWorker take their time of day from a clock that is
	// wrong by as many hours as the environment variable [offsetVariable] says.
	ShiftedServer, ShiftedWorker string
}

// offsetVariable sets the clock of the shifted programs, in hours.
const offsetVariable = "SEQLEASE_CLOCK_OFFSET_HOURS"

const (
	serverPackage = "github.com/seqlease/seqlease/cmd/seqlease"
	workerPackage = "github.com/seqlease/seqlease/internal/fault/loggedworker"
)

// Build builds the programs into the directory.
func Build(ctx context.Context, dir string) (Programs, error) {
	p := Programs{Server: filepath.Join(dir, "seqlease"), Worker: filepath.Join(dir, "loggedworker")}
	return p, errors.Join(build(ctx, p.Server, serverPackage), build(ctx, p.Worker, workerPackage))
}

// BuildShifted adds the shifted programs, which are built from the standard
// library up: a minute the first time.
func (p *Programs) BuildShifted(ctx context.Context, dir string) error {
	overlay, err := writeOverlay(ctx, dir)
	if err != nil {
		return fmt.Errorf("give the standard library another clock: %w", err)
	}
	p.ShiftedServer, p.ShiftedWorker = p.Server+"-shifted", p.Worker+"-shifted"
	return errors.Join(build(ctx, p.ShiftedServer, serverPackage, "-overlay", overlay),
		build(ctx, p.ShiftedWorker, workerPackage, "-overlay", overlay))
}

// build builds a package of the product's module, of which this process's may be
// another.
func build(ctx context.Context, to, what string, flags ...string) error {
	dir, err := exec.CommandContext(ctx, "go", "list", "-m", "-f", "{{.Dir}}", "github.com/seqlease/seqlease").Output()
	if err != nil {
		return fmt.Errorf("find the sources: %w", err)
	}
	command := exec.CommandContext(ctx, "go", append(append([]string{"build", "-o", to}, flags...), what)...)
	command.Dir = strings.TrimSpace(string(dir))
	if out, err := command.CombinedOutput(); err != nil {
		return fmt.Errorf("go build %s: %w: %s", what, err, out)
	}
	return nil
}

// The function that every reading of the clock in a Go program goes through, and
// what becomes of it. Go programs don't ask the C library for the time, so that
// libfaketime can't reach them. Nothing of this is in the product's sources: it
// exists only in programs that were built with the overlay.
const (
	readsClock = "\tsec, nsec, mono := runtimeNow()\n"
	shifts     = readsClock + "\tsec += wallOffset\n"
	declares   = `
// wallOffset is by how many seconds the clock is wrong.
var wallOffset = func() int64 {
	value, _ := syscall.Getenv("` + offsetVariable + `")
	hours, _ := atoi(value)
	return int64(hours) * 3600
}()
`
)

// writeOverlay writes a variant of the standard library's clock, and the file
// that makes `go build -overlay` use it.
func writeOverlay(ctx context.Context, dir string) (string, error) {
	root, err := exec.CommandContext(ctx, "go", "env", "GOROOT").Output()
	if err != nil {
		return "", err
	}
	original := filepath.Join(strings.TrimSpace(string(root)), "src", "time", "time.go")
	source, err := os.ReadFile(original)
	if err != nil {
		return "", err
	}
	now, rest, found := strings.Cut(string(source), "\nfunc Now() Time {\n"+readsClock)
	if !found {
		return "", fmt.Errorf("%s doesn't read the clock as it did in Go 1.26: adapt readsClock", original)
	}
	now = strings.Replace(now, "import (\n", "import (\n\t\"syscall\"\n", 1)
	changed := filepath.Join(dir, "time.go")
	overlay := filepath.Join(dir, "overlay.json")
	list, err := json.Marshal(map[string]map[string]string{"Replace": {original: changed}})
	if err != nil {
		return "", err
	}
	return overlay, errors.Join(
		os.WriteFile(changed, []byte(now+"\nfunc Now() Time {\n"+shifts+rest+declares), 0o600),
		os.WriteFile(overlay, list, 0o600))
}

// shiftedBy is the environment of a shifted program.
func shiftedBy(d time.Duration) []string {
	return []string{offsetVariable + "=" + strconv.Itoa(int(d/time.Hour))}
}
