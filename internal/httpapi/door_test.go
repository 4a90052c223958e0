package httpapi_test

import (
	"bytes"
	"context"
	"database/sql"
	"encoding/json"
	"fmt"
	"io"
	"log/slog"
	"mime/multipart"
	"net"
	"net/http"
	"net/http/httptest"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"github.com/jackc/pgx/v5"

	"github.com/seqlease/seqlease"
	"github.com/seqlease/seqlease/internal/auth"
	"github.com/seqlease/seqlease/internal/httpapi"
	"github.com/seqlease/seqlease/internal/organism"
	"github.com/seqlease/seqlease/internal/queue"
	"github.com/seqlease/seqlease/internal/reprocess"
	"github.com/seqlease/seqlease/internal/spool"
	"github.com/seqlease/seqlease/internal/sqlite"
	"github.com/seqlease/seqlease/internal/submission"
)

// The tokens of the tests, each named after its user.
const (
	anna  = "anna"  // submits
	bob   = "bob"   // is in no group
	root  = "root"  // super user
	pipe  = "pipe"  // pipeline
	pipe2 = "pipe2" // another pipeline
	ena   = "ena"   // updates external metadata
)

// reference is the whole genome of the tests' organism zika.
const reference = "ACGTACGTACGTACGTACGT"

func organisms() []*organism.Organism {
	metadata := []organism.Field{
		{Name: "country", Type: organism.String},
		{Name: "date", Type: organism.Date},
		{Name: "age", Type: organism.Int},
	}
	return []*organism.Organism{
		{
			Key: "zika", DisplayName: "Zika virus", ConsensusSequences: true, Metadata: metadata,
			Segments: []organism.NamedSequence{{Name: organism.MainSegment, Sequence: reference}},
			Genes:    []organism.NamedSequence{{Name: "E", Sequence: "MKT*"}},
		},
		{
			Key: "cchf", DisplayName: "Crimean-Congo haemorrhagic fever virus", ConsensusSequences: true, Metadata: metadata,
			Segments: []organism.NamedSequence{{Name: "L", Sequence: reference}, {Name: "M", Sequence: "ACGT"}, {Name: "S", Sequence: "AC"}},
		},
	}
}

// door is a whole server on a real socket with a real store.
type door struct {
	url   string
	spool *spool.Dir
	dir   string
	log   *logBuffer
	ended sync.Map // addresses of clients whose connections the server is done with
	// address is where the test opens the database beside the store.
	address string
	// looks is how often it was looked for what blocks a switch to a newer version.
	looks atomic.Int64
	// stopWaiting ends the queue's loop, as a server does that stops.
	stopWaiting func()
}

// doorOptions are what tests change.
type doorOptions struct {
	terms    submission.TermsOptions
	stall    time.Duration
	debug    bool
	hosts    httpapi.Hosts
	ready    func(context.Context) error
	readOnly bool
	// versions has newer pipeline versions register themselves.
	versions bool
	// background has what works behind the versions run, as in a server.
	background bool
	// knows is [submission.Options.KnowsUser].
	knows func(ctx context.Context, name string) (bool, error)
	// spoolLimit is that of [spool.NewDir].
	spoolLimit int64
	// open opens the store; nil: [openSQLite].
	open func(*testing.T, *queue.Bell) (database, string)
	// verifier checks the tokens; nil: [tokens].
	verifier auth.Verifier
	// wrap stands between the store and the domain, to break it on purpose.
	wrap func(store) store
	// organisms are configured beside those of [organisms], or instead of one with the same key.
	organisms []*organism.Organism
}

// configured are the organisms of the server.
func (o doorOptions) configured() []*organism.Organism {
	return append(slices.DeleteFunc(organisms(), func(usual *organism.Organism) bool {
		return slices.ContainsFunc(o.organisms, func(own *organism.Organism) bool { return own.Key == usual.Key })
	}), o.organisms...)
}

type store interface {
	queue.Store
	queue.RenewStore
	queue.WaitStore
	queue.OperatorStore
	submission.Store
}

// database is a store as a server opens it.
type database interface {
	store
	Register(ctx context.Context, organisms []*organism.Organism) error
	Ready(ctx context.Context) error
	Close() error
}

func openSQLite(t *testing.T, bell *queue.Bell) (opened database, address string) {
	t.Helper()
	path := filepath.Join(t.TempDir(), "store.db")
	s, err := sqlite.Open(t.Context(), sqlite.Options{Path: path, Logger: slog.New(slog.DiscardHandler), Bell: bell})
	if err != nil {
		t.Fatal(err)
	}
	return s, "file:" + path + "?_pragma=busy_timeout(5000)&_txlock=immediate"
}

// execSQLite changes the database of a door behind its back.
func (d *door) execSQLite(t *testing.T, statement string, args ...any) {
	t.Helper()
	db, err := sql.Open("sqlite", d.address)
	if err != nil {
		t.Fatal(err)
	}
	defer func() { _ = db.Close() }()
	if _, err := db.ExecContext(t.Context(), statement, args...); err != nil {
		t.Fatal(err)
	}
}

// exec is the same for either store, each of which has a statement of its own.
func (d *door) exec(t *testing.T, onSQLite, onPostgres string) {
	t.Helper()
	if !strings.HasPrefix(d.address, "postgres") {
		d.execSQLite(t, onSQLite)
		return
	}
	conn, err := pgx.Connect(t.Context(), d.address)
	if err != nil {
		t.Fatal(err)
	}
	defer func() { _ = conn.Close(t.Context()) }()
	if _, err := conn.Exec(t.Context(), onPostgres); err != nil {
		t.Fatal(err)
	}
}

// ageLeases lets ten minutes pass for every lease. The store of PostgreSQL remembers
// when the first lease of a queue ends that it found empty, and looks no earlier: there
// it is only of use before such a look.
func (d *door) ageLeases(t *testing.T) {
	t.Helper()
	d.exec(t, "UPDATE lease SET lease_until = lease_until - 600000000", "UPDATE lease SET lease_until = lease_until - interval '10 minutes'")
}

func newDoor(t *testing.T, o doorOptions) *door {
	t.Helper()
	d := &door{dir: t.TempDir(), log: &logBuffer{}}
	if o.open == nil {
		o.open = openSQLite
	}
	bell := &queue.Bell{}
	opened, address := o.open(t, bell)
	d.address = address
	t.Cleanup(func() {
		if err := opened.Close(); err != nil {
			t.Error(err)
		}
	})
	catalog, err := organism.NewCatalog(o.configured()...)
	if err != nil {
		t.Fatal(err)
	}
	if err := opened.Register(t.Context(), catalog.All()); err != nil {
		t.Fatal(err)
	}
	var used store = opened
	if o.wrap != nil {
		used = o.wrap(opened)
	}
	if o.verifier == nil {
		o.verifier = tokens(t)
	}
	if o.ready == nil {
		o.ready = opened.Ready
	}
	d.spool = spool.NewDir(d.dir, o.spoolLimit)
	logger := slog.New(slog.NewTextHandler(d.log, &slog.HandlerOptions{Level: slog.LevelDebug}))
	options := []queue.Option{queue.WithLogger(logger), queue.WithBell(bell)}
	if versions, keeps := opened.(reprocess.Store); keeps && o.versions {
		newer := reprocess.New(lookedAt{versions, &d.looks}, reprocess.Options{Logger: logger})
		options = append(options, queue.WithVersions(newer))
		if o.background {
			d.runVersions(t, newer)
		}
	}
	q := queue.New(used, catalog, options...)
	handler, err := httpapi.New(httpapi.Options{
		Queue:       q,
		Submissions: submission.New(used, catalog, submission.Options{AccessionPrefix: "LOC_", DataUseTerms: o.terms, Spool: d.spool, KnowsUser: o.knows}),
		Organisms:   catalog, Verifier: o.verifier, Ready: o.ready, Name: "Test <instance>",
		Logger:       logger,
		StallTimeout: o.stall, ReadOnly: o.readOnly, DebugMode: o.debug, Hosts: o.hosts,
	})
	if err != nil {
		t.Fatal(err)
	}
	server := httptest.NewUnstartedServer(nil)
	server.Config = httpapi.NewServer(handler)
	server.Listener = httpapi.Patient(server.Listener)
	server.Config.ConnState = func(c net.Conn, state http.ConnState) {
		if state == http.StateClosed {
			d.ended.Store(c.RemoteAddr().String(), true)
		}
	}
	server.Config.ErrorLog = slog.NewLogLogger(slog.NewTextHandler(d.log, nil), slog.LevelWarn)
	server.Start()
	t.Cleanup(server.Close)
	d.url = server.URL
	d.runQueue(t, q)
	return d
}

// lookedAt counts the looks for what blocks a switch.
type lookedAt struct {
	reprocess.Store

	looks *atomic.Int64
}

func (l lookedAt) FindBlocker(ctx context.Context, c reprocess.Candidate, after int64, limit int) (reprocess.Look, error) {
	defer l.looks.Add(1)
	return l.Store.FindBlocker(ctx, c, after, limit)
}

// runVersions runs what works behind the versions until the test ends.
func (d *door) runVersions(t *testing.T, v *reprocess.Versions) {
	ctx, stop := context.WithCancel(context.WithoutCancel(t.Context()))
	ended := make(chan error, 1)
	go func() { ended <- v.Run(ctx) }()
	t.Cleanup(func() {
		stop()
		if err := <-ended; err != nil {
			t.Errorf("behind the versions: %v", err)
		}
	})
}

// runQueue runs the queue's loop until the test ends.
func (d *door) runQueue(t *testing.T, q *queue.Queue) {
	ctx, stop := context.WithCancel(context.WithoutCancel(t.Context()))
	ended := make(chan error, 1)
	go func() { ended <- q.Run(ctx) }()
	d.stopWaiting = sync.OnceFunc(func() {
		stop()
		if err := <-ended; err != nil {
			t.Errorf("the queue's loop: %v", err)
		}
	})
	t.Cleanup(d.stopWaiting)
}

func tokens(t *testing.T) *auth.Static {
	t.Helper()
	var list []auth.StaticToken
	for name, roles := range map[string][]seqlease.Role{
		anna: nil, bob: nil, root: {seqlease.SuperUser},
		pipe: {seqlease.PreprocessingPipeline}, pipe2: {seqlease.PreprocessingPipeline},
		ena: {seqlease.ExternalMetadataUpdater},
	} {
		list = append(list, auth.StaticToken{SHA256: auth.Hash(name), Person: seqlease.Person{Name: name, Roles: roles}})
	}
	v, err := auth.NewStatic(list)
	if err != nil {
		t.Fatal(err)
	}
	return v
}

// answer is a response that was read to its end.
type answer struct {
	*http.Response
	body []byte
}

// call sends a request; header is a list of names and values.
func (d *door) call(t *testing.T, method, path, token string, body io.Reader, header ...string) answer {
	t.Helper()
	a, err := d.try(t, method, path, token, body, header...)
	if err != nil {
		t.Fatalf("%s %s: %v", method, path, err)
	}
	return a
}

func (d *door) try(t *testing.T, method, path, token string, body io.Reader, header ...string) (answer, error) {
	t.Helper()
	r, err := http.NewRequestWithContext(t.Context(), method, d.url+path, body)
	if err != nil {
		t.Fatal(err)
	}
	if token != "" {
		r.Header.Set("Authorization", "Bearer "+token)
	}
	for i := 0; i < len(header); i += 2 {
		r.Header.Set(header[i], header[i+1])
	}
	transport := &http.Transport{DisableCompression: true}
	defer transport.CloseIdleConnections()
	response, err := transport.RoundTrip(r)
	if err != nil {
		return answer{}, err
	}
	defer func() { _ = response.Body.Close() }()
	content, err := io.ReadAll(response.Body)
	return answer{response, content}, err
}

// want fails unless the answer has the status.
func (a answer) want(t *testing.T, status int) answer {
	t.Helper()
	if a.StatusCode != status {
		t.Fatalf("%s %s: got %d, want %d: %.600s", a.Request.Method, a.Request.URL, a.StatusCode, status, a.body)
	}
	return a
}

// problem fails unless the answer is a whole problem document with the status,
// whose detail has all the words, and returns it.
func (a answer) problem(t *testing.T, status int, words ...string) httpapi.Problem {
	t.Helper()
	a.want(t, status)
	var p httpapi.Problem
	if got := a.Header.Get("Content-Type"); got != "application/problem+json" {
		t.Errorf("content type %q, want a problem", got)
	}
	if err := json.Unmarshal(a.body, &p); err != nil {
		t.Fatalf("%s: %v", a.body, err)
	}
	if p.Type == "" || p.Title != http.StatusText(status) || p.Status != status || p.Instance != a.Request.URL.Path {
		t.Errorf("the problem %+v is not whole", p)
	}
	for _, word := range words {
		if !strings.Contains(p.Detail, word) {
			t.Errorf("detail %q does not say %q", p.Detail, word)
		}
	}
	return p
}

// into decodes the body.
func (a answer) into(t *testing.T, v any) {
	t.Helper()
	if err := json.Unmarshal(a.body, v); err != nil {
		t.Fatalf("%.300s: %v", a.body, err)
	}
}

// newGroup creates a group of the user.
func (d *door) newGroup(t *testing.T, token string) int64 {
	t.Helper()
	var g seqlease.Group
	body := `{"groupName":"Lab","institution":"I","address":{"line1":"1","line2":"","city":"c","state":"","postalCode":"","country":"CH"},"contactEmail":"a@b"}`
	d.call(t, "POST", "/groups", token, strings.NewReader(body), "Content-Type", "application/json").want(t, 200).into(t, &g)
	return g.GroupID
}

// upload makes a multipart body; values that begin with @ are files: "@name\ncontent".
func upload(t *testing.T, parts ...string) (body io.Reader, contentType string) {
	t.Helper()
	var b bytes.Buffer
	w := multipart.NewWriter(&b)
	for i := 0; i < len(parts); i += 2 {
		var part io.Writer
		var err error
		content := parts[i+1]
		if rest, isFile := strings.CutPrefix(content, "@"); isFile {
			name, text, _ := strings.Cut(rest, "\n")
			part, err = w.CreateFormFile(parts[i], name)
			content = text
		} else {
			part, err = w.CreateFormField(parts[i])
		}
		if err != nil {
			t.Fatal(err)
		}
		if _, err := io.WriteString(part, content); err != nil {
			t.Fatal(err)
		}
	}
	if err := w.Close(); err != nil {
		t.Fatal(err)
	}
	return &b, w.FormDataContentType()
}

// submit uploads n entries of zika, each with a sequence of the given length.
func (d *door) submit(t *testing.T, group int64, n, length int) []seqlease.SubmissionIDMapping {
	t.Helper()
	metadata, sequences := "@metadata.tsv\nid\tcountry\n", "@sequences.fasta\n"
	var rows, records strings.Builder
	for i := range n {
		fmt.Fprintf(&rows, "s%d\tCôte d'Ivoire\u00a0\n", i)
		fmt.Fprintf(&records, ">s%d\n%s\n", i, strings.Repeat("ACGT", length/4))
	}
	body, contentType := upload(t, "metadataFile", metadata+rows.String(), "sequenceFile", sequences+records.String())
	var stored []seqlease.SubmissionIDMapping
	d.call(t, "POST", fmt.Sprintf("/zika/submit?groupId=%d", group), anna, body, "Content-Type", contentType).want(t, 200).into(t, &stored)
	if len(stored) != n {
		t.Fatalf("stored %d entries, want %d", len(stored), n)
	}
	return stored
}

// claim claims up to n entries of zika.
func (d *door) claim(t *testing.T, token string, n int) []seqlease.Entry {
	t.Helper()
	a := d.call(t, "POST", "/zika/extract-unprocessed-data", token,
		strings.NewReader(fmt.Sprintf("numberOfSequenceEntries=%d&pipelineVersion=1", n)), "Content-Type", "application/x-www-form-urlencoded")
	return entriesOf(t, a.want(t, 200).body)
}

func entriesOf(t *testing.T, body []byte) []seqlease.Entry {
	t.Helper()
	var entries []seqlease.Entry
	for line := range bytes.Lines(body) {
		var e seqlease.Entry
		if err := json.Unmarshal(line, &e); err != nil {
			t.Fatalf("%.200s: %v", line, err)
		}
		entries = append(entries, e)
	}
	return entries
}

// resultOf is the line of a good result of a claimed entry.
func resultOf(e seqlease.Entry) string {
	return fmt.Sprintf(`{"accession":%q,"version":%d,"processingAttemptId":%q,"data":{"metadata":{"country":"Kenya","age":7,"date":null},`+
		`"unalignedNucleotideSequences":{"main":"acgt"},"alignedNucleotideSequences":{"main":%q},"nucleotideInsertions":{"main":["3:AC"]},`+
		`"alignedAminoAcidSequences":{"E":"MKT*"},"aminoAcidInsertions":{"E":[]},"sequenceNameToFastaId":{"main":%q}},"errors":[],"warnings":[]}`,
		e.Accession, e.Version, e.AttemptID, strings.ToLower(reference), e.SubmissionID)
}

func resultsOf(entries []seqlease.Entry) string {
	var lines []string
	for _, e := range entries {
		lines = append(lines, resultOf(e))
	}
	return strings.Join(lines, "\n") // as pipelines do: no final line end
}

// sendResults sends results of zika as the user pipe.
func (d *door) sendResults(t *testing.T, body string, header ...string) answer {
	t.Helper()
	header = append([]string{"Content-Type", "application/x-ndjson"}, header...)
	return d.call(t, "POST", "/zika/submit-processed-data?pipelineVersion=1", pipe, strings.NewReader(body), header...)
}

// statusCounts asks for the counts of an organism.
func (d *door) statusCounts(t *testing.T, organism string) map[seqlease.Status]int64 {
	t.Helper()
	var list struct {
		StatusCounts map[seqlease.Status]int64
	}
	d.call(t, "GET", "/"+organism+"/get-sequences?size=0&page=0", root, nil).want(t, 200).into(t, &list)
	return list.StatusCounts
}

// leftovers returns what lies in the directory for temporary files.
func (d *door) leftovers(t *testing.T) []os.DirEntry {
	t.Helper()
	left, err := os.ReadDir(d.dir)
	if err != nil {
		t.Fatal(err)
	}
	return left
}

// eventually waits until the condition holds, for at most a minute.
func eventually(t *testing.T, what string, condition func() bool) {
	t.Helper()
	deadline := time.After(time.Minute)
	tick := time.NewTicker(5 * time.Millisecond)
	defer tick.Stop()
	for !condition() {
		select {
		case <-tick.C:
		case <-deadline:
			t.Fatalf("not in a minute: %s", what)
		}
	}
}

// logBuffer collects log lines of many goroutines.
type logBuffer struct {
	mu sync.Mutex
	b  strings.Builder
}

func (l *logBuffer) Write(p []byte) (int, error) {
	l.mu.Lock()
	defer l.mu.Unlock()
	return l.b.Write(p)
}

func (l *logBuffer) String() string {
	l.mu.Lock()
	defer l.mu.Unlock()
	return l.b.String()
}
