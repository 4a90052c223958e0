package main

import (
	"context"
	"errors"
	"fmt"
	"io"
	"log/slog"
	"os"
	"os/exec"
	"path/filepath"
	"strconv"

	"github.com/mattn/go-isatty"
	"github.com/vbauerster/mpb/v8"
	"github.com/vbauerster/mpb/v8/decor"

	"github.com/seqlease/seqlease/internal/demo"
)

type demoArgs struct {
	Store   string `env:"SEQLEASE_STORE" help:"sqlite:FILE or postgres://…; a SQLite file in a temporary directory unless given. With PostgreSQL two servers share the database." placeholder:"STORE"`
	Workers int    `default:"4" help:"Worker processes, at least 3." placeholder:"N"`
	Keep    string `type:"path" help:"Keep configuration, data and logs in this directory." placeholder:"DIR"`
	JSON    bool   `name:"json" help:"Print one JSON object instead of the account."`
}

// maxDemoWorkers bounds what one machine is asked to run.
const maxDemoWorkers = 64

// runDemo does the main job on the embedded genomes.
func runDemo(ctx context.Context, args demoArgs, _ io.Reader, stdout, stderr io.Writer) (err error) {
	if args.Workers < demo.MinWorkers || args.Workers > maxDemoWorkers {
		return usagef("--workers must be from %d to %d: one is killed, one is stopped, and somebody has to do the work", demo.MinWorkers, maxDemoWorkers)
	}
	dir, forget, err := demoDir(args.Keep)
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, forget()) }()
	if args.Store == "" {
		args.Store = "sqlite:" + filepath.Join(dir, "demo.db")
	}
	address, err := storeOf(args.Store)
	if err != nil {
		return err
	}
	if err := address.migrate(ctx); err != nil {
		return err
	}
	log, err := os.Create(filepath.Join(dir, "servers.log"))
	if err != nil {
		return err
	}
	defer log.Close() //nolint:errcheck // the log is for reading after trouble; its loss isn't worth another
	self, err := os.Executable()
	if err != nil {
		return fmt.Errorf("find the program, to run it as a worker: %w", err)
	}
	options := demo.Options{
		Dir: dir, Store: address.kind, Servers: 1, Workers: args.Workers,
		StartServer: func(ctx context.Context, config string) (demo.Server, error) {
			return startDemoServer(ctx, config, args.Store, dir, log)
		},
		WorkerCommand: func(ctx context.Context, w demo.WorkerOrder) *exec.Cmd { return workerCommand(ctx, self, w) },
	}
	if address.kind == kindPostgres {
		options.Servers = 2
	}
	finish := showProgress(&options, stderr)
	report, err := demo.Run(ctx, options)
	finish()
	if err != nil {
		return err
	}
	if args.JSON {
		err = writeJSON(stdout, report)
	} else {
		err = report.Print(stdout)
	}
	return errors.Join(err, report.Err())
}

// demoDir makes the directory of a run; forget removes it unless it is kept.
func demoDir(keep string) (dir string, forget func() error, err error) {
	if keep != "" {
		return keep, func() error { return nil }, os.MkdirAll(keep, 0o700)
	}
	dir, err = os.MkdirTemp("", "seqlease-demo-")
	return dir, func() error { return os.RemoveAll(dir) }, err
}

func startDemoServer(ctx context.Context, path, storeText, dir string, log io.Writer) (demo.Server, error) {
	config, err := loadConfig(path, os.LookupEnv)
	if err != nil {
		return nil, err
	}
	config.Store, config.Listen, config.SpoolDir = storeText, "127.0.0.1:0", dir
	return startServer(ctx, config, slog.New(slog.NewTextHandler(log, nil)))
}

// workerCommand runs this program as a worker. One entry at a time: a worker is
// to be caught in the middle of a batch.
func workerCommand(ctx context.Context, self string, w demo.WorkerOrder) *exec.Cmd {
	command := exec.CommandContext(ctx, self, "work", "--events", //nolint:gosec // this very program
		"--config", w.Config, "--organism", string(w.Organism), "--pipeline-version", strconv.FormatInt(int64(w.PipelineVersion), 10),
		"--pipeline", "align", "--batch", strconv.Itoa(w.Batch), "--parallel", "1",
		"--lease", w.Lease.String(), "--pace", w.Pace.String(), "--idle", "250ms")
	if w.NoRenewal {
		command.Args = append(command.Args, "--no-renew")
	}
	command.Env = append(os.Environ(), "SEQLEASE_SERVER="+w.Server, "SEQLEASE_TOKEN="+w.Token)
	return command
}

// showProgress tells the story on stderr, with a bar on a terminal. The returned
// function ends it.
func showProgress(o *demo.Options, stderr io.Writer) (finish func()) {
	file, isFile := stderr.(*os.File)
	if !isFile || !isatty.IsTerminal(file.Fd()) {
		o.Tell = func(line string) { _, _ = fmt.Fprintln(stderr, line) }
		return func() {}
	}
	progress := mpb.New(mpb.WithOutput(stderr), mpb.WithWidth(60))
	bar := progress.AddBar(0, mpb.PrependDecorators(decor.Name("results accepted ")),
		mpb.AppendDecorators(decor.CountersNoUnit("%d of %d")))
	o.Tell = func(line string) { _, _ = progress.Write([]byte(line + "\n")) }
	o.Accepted = func(now, all int) {
		bar.SetTotal(int64(all), false)
		bar.SetCurrent(int64(now))
	}
	return func() {
		bar.SetTotal(-1, true) // complete at what it has, also after a failure
		progress.Wait()
	}
}
