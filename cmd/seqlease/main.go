// Command seqlease is the server, its operator's tools and its workers in one
// binary. This package is the front hall: flags, environment, configuration,
// signals and wiring; what happens is in the rooms below internal/.
package main

import (
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"os/signal"
	"runtime/debug"
	"syscall"

	"github.com/alecthomas/kong"
)

// The exit codes.
const (
	exitDone   = 0
	exitFailed = 1
	exitUsage  = 2
)

// commandLine is everything that can be said on the command line.
type commandLine struct {
	Demo    demoArgs    `cmd:"" help:"Do the main job on real genomes, with everything it takes. Example: seqlease demo --workers 4"`
	Serve   serveArgs   `cmd:"" help:"Run a server. Example: seqlease serve --config config/example.yaml"`
	Migrate migrateArgs `cmd:"" help:"Look at the schema of a store, or bring it up to date."`
	Work    workArgs    `cmd:"" help:"Run a worker with a built-in pipeline. Example: seqlease work --config config/example.yaml --organism zika --pipeline-version 1 --pipeline align"`
	Version versionArgs `cmd:"" help:"Print the version."`

	ShowVersion kong.VersionFlag `name:"version" help:"Print the version."`
}

type versionArgs struct{}

// usageError is wrong usage that shows only after the command line was parsed.
type usageError struct{ message string }

func (e *usageError) Error() string { return e.message }

func usagef(format string, args ...any) error {
	return &usageError{message: fmt.Sprintf(format, args...)}
}

func main() {
	ctx, stop := signal.NotifyContext(context.Background(), stopSignals()...)
	code := run(ctx, os.Args[1:], os.Stdin, os.Stdout, os.Stderr)
	stop()
	os.Exit(code)
}

// stopSignals are what asks the program to stop in good order. A hang-up is not,
// where somebody has it ignored, as nohup does.
func stopSignals() []os.Signal {
	signals := []os.Signal{os.Interrupt, syscall.SIGTERM}
	if !signal.Ignored(syscall.SIGHUP) {
		signals = append(signals, syscall.SIGHUP)
	}
	return signals
}

// run does what the arguments say and returns the exit code.
func run(ctx context.Context, args []string, stdin io.Reader, stdout, stderr io.Writer) int {
	command, parsed, code := parse(args, stdout, stderr)
	if command == "" {
		return code
	}
	var err error
	switch command {
	case "demo":
		err = runDemo(ctx, parsed.Demo, stdin, stdout, stderr)
	case "serve":
		err = runServe(ctx, parsed.Serve, stdin, stdout, stderr)
	case "migrate up":
		err = runMigrateUp(ctx, parsed.Migrate.Up, stdin, stdout, stderr)
	case "migrate status":
		err = runMigrateStatus(ctx, parsed.Migrate.Status, stdin, stdout, stderr)
	case "work":
		err = runWork(ctx, parsed.Work, stdin, stdout, stderr)
	case "version":
		_, err = fmt.Fprintln(stdout, "seqlease", version())
	}
	if err == nil {
		return exitDone
	}
	_, _ = fmt.Fprintln(stderr, "seqlease:", err) // the exit code says it, too
	var usage *usageError
	if errors.As(err, &usage) {
		return exitUsage
	}
	return exitFailed
}

// helpShown ends parsing after help was printed; the parser would go on.
type helpShown int

// parse returns the command and its arguments, or an empty command and the exit
// code.
func parse(args []string, stdout, stderr io.Writer) (command string, parsed commandLine, code int) {
	defer func() {
		switch p := recover().(type) {
		case nil:
		case helpShown:
			command, code = "", int(p)
		default:
			panic(p)
		}
	}()
	where, err := newParser(&parsed, stdout, stderr).Parse(args)
	if err != nil {
		_, _ = fmt.Fprintf(stderr, "seqlease: %v\nRun `seqlease --help` or `seqlease COMMAND --help`.\n", err)
		return "", parsed, exitUsage
	}
	return where.Command(), parsed, exitDone
}

func newParser(parsed *commandLine, stdout, stderr io.Writer) *kong.Kong {
	return kong.Must(parsed, kong.Name("seqlease"),
		kong.Description("A backend for virus-sequence databases around a lease-based preprocessing queue."),
		kong.Vars{"version": "seqlease " + version()}, kong.Writers(stdout, stderr), kong.Exit(func(code int) { panic(helpShown(code)) }))
}

// version says what was built from what.
func version() string {
	info, ok := debug.ReadBuildInfo()
	if !ok {
		return "of an unknown build"
	}
	return versionOf(info)
}

// versionOf is the version of the module, the commit if the build knows it, and
// the version of Go.
func versionOf(info *debug.BuildInfo) string {
	text := info.Main.Version
	if text == "" || text == "(devel)" {
		text = "development build"
	}
	settings := map[string]string{}
	for _, s := range info.Settings {
		settings[s.Key] = s.Value
	}
	if revision := settings["vcs.revision"]; revision != "" {
		text += ", commit " + revision
		if settings["vcs.modified"] == "true" {
			text += " with changes"
		}
	}
	return text + ", " + info.GoVersion
}
