package main

import (
	"crypto/sha256"
	"fmt"
	"os"
	"path/filepath"
	"reflect"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/seqlease/seqlease"
	"github.com/seqlease/seqlease/internal/organism"
	"github.com/seqlease/seqlease/internal/queue"
)

// environment returns a lookup of the given variables.
func environment(variables map[string]string) func(string) (string, bool) {
	return func(name string) (string, bool) {
		value, found := variables[name]
		return value, found
	}
}

func write(t *testing.T, dir, name, content string) string {
	t.Helper()
	path := filepath.Join(dir, name)
	if err := os.WriteFile(path, []byte(content), 0o600); err != nil {
		t.Fatal(err)
	}
	return path
}

const wholeConfig = `
accessionPrefix: MOSS_
websiteUrl: https://mosshaven.example
backendUrl: https://api.mosshaven.example
zstdCompressionLevel: 10
dataUseTerms: {enabled: true, urls: {open: "https://o", restricted: "https://r"}}
organisms:
  reedvirus:
    schema:
      organismName: Reed stripe virus
      submissionDataTypes: {maxSequencesPerEntry: 2}
      metadata:
        - {name: collectedOn, type: date, required: true}
        - {name: lake, type: string}
    referenceGenome:
      nucleotideSequences:
        - {name: north, file: refs.fasta}
        - {name: south, file: refs.fasta, record: second}
      genes: [{name: polN, sequence: tyv*}]
tokens:
  - {user: ann, env: ANN_TOKEN}
  - {user: bob, roles: [super_user], sha256: %X}
`

const wholeReferences = ">first a description\nacgt\nACGT\n\n>second\r\nGGGT\r\nTTAA\r\n"

func TestLoadConfig_ReadsReferencesAndTokens(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	write(t, dir, "refs.fasta", wholeReferences)
	path := write(t, dir, "config.yaml", fmt.Sprintf(wholeConfig, sha256.Sum256([]byte("bob's"))))
	c, err := loadConfig(path, environment(map[string]string{"ANN_TOKEN": "ann's own long token"}))
	if err != nil {
		t.Fatal(err)
	}
	catalog, err := c.catalog()
	if err != nil {
		t.Fatal(err)
	}
	got, err := catalog.Get("reedvirus")
	if err != nil {
		t.Fatal(err)
	}
	want := &organism.Organism{
		Key: "reedvirus", DisplayName: "Reed stripe virus", ConsensusSequences: true,
		Metadata: []organism.Field{{Name: "collectedOn", Type: organism.Date, Required: true}, {Name: "lake", Type: organism.String}},
		Segments: []organism.NamedSequence{{Name: "north", Sequence: "ACGTACGT"}, {Name: "south", Sequence: "GGGTTTAA"}},
		Genes:    []organism.NamedSequence{{Name: "polN", Sequence: "TYV*"}},
	}
	if diff := cmp.Diff(want, got); diff != "" {
		t.Errorf("organism (-want +got):\n%s", diff)
	}
	verifier, err := c.staticTokens()
	if err != nil {
		t.Fatal(err)
	}
	for token, want := range map[string]seqlease.Person{
		"ann's own long token": {Name: "ann"},
		"bob's":                {Name: "bob", Roles: []seqlease.Role{seqlease.SuperUser}},
	} {
		got, err := verifier.Verify(t.Context(), token)
		if err != nil {
			t.Error(err)
		}
		if diff := cmp.Diff(want, got); diff != "" {
			t.Errorf("token %s (-want +got):\n%s", token, diff)
		}
	}
	if c.Listen != defaultListen || c.Store != defaultStore || c.PoolSize != defaultPoolSize {
		t.Errorf("defaults: %q, %q, %d", c.Listen, c.Store, c.PoolSize)
	}
	if got, want := c.historyFor(), 90*24*time.Hour; c.retry() != queue.DefaultRetry || got != want {
		t.Errorf("defaults: %+v and %s of history, want %+v and %s", c.retry(), got, queue.DefaultRetry, want)
	}
}

func TestLoadConfig_Retry(t *testing.T) {
	t.Parallel()
	for name, tc := range map[string]struct {
		yaml string
		want queue.Retry
	}{
		"both":     {"retry: {attempts: 3, handOuts: 7}", queue.Retry{Attempts: 3, HandOuts: 7}},
		"one":      {"retry: {attempts: 3}", queue.Retry{Attempts: 3, HandOuts: queue.DefaultRetry.HandOuts}},
		"in lines": {"retry:\n  handOuts: 9", queue.Retry{Attempts: queue.DefaultRetry.Attempts, HandOuts: 9}},
	} {
		c, err := loadConfig(write(t, t.TempDir(), "c.yaml", minimal+tc.yaml+"\nhistoryDays: 2\n"), environment(nil))
		if err != nil {
			t.Errorf("%s: %v", name, err)
			continue
		}
		if c.retry() != tc.want || c.historyFor() != 48*time.Hour {
			t.Errorf("%s: got %+v and %s, want %+v and two days", name, c.retry(), c.historyFor(), tc.want)
		}
	}
}

func TestLoadConfig_ReadsJSON(t *testing.T) {
	t.Parallel()
	path := write(t, t.TempDir(), "config.json", "{\n\t\"accessionPrefix\": \"MOSS_\", \"websiteUrl\": \"https:\\/\\/w\", \"backendUrl\": \"https://b\",\n"+
		"\t\"dataUseTerms\": {\"enabled\": false}, \"unknown\": [null],\n\t\"organisms\": {\"fernvirus\": {\n"+
		"\t\t\"schema\": {\"organismName\": \"Fern \\u0066ever virus\", \"metadata\": [], \"files\": []},\n"+
		"\t\t\"referenceGenome\": {\"nucleotideSequences\": [{\"name\": \"main\", \"sequence\": \"ACGT\"}], \"genes\": []}\n\t}}\n}\n")
	c, err := loadConfig(path, environment(nil))
	if err != nil {
		t.Fatal(err)
	}
	if c.WebsiteURL != "https://w" || c.Organisms["fernvirus"].Schema.OrganismName != "Fern fever virus" {
		t.Errorf("got %q and %q", c.WebsiteURL, c.Organisms["fernvirus"].Schema.OrganismName)
	}
}

func TestLoadConfig_ReportsEveryFaultAtOnce(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	write(t, dir, "refs.fasta", wholeReferences)
	write(t, dir, "bad.fasta", ">x\nAC-GT\n")
	path := write(t, dir, "config.yaml", `
accessionPrefix: A.B
dataUseTerms: {}
fileSharing: {outputFileUrlType: ftp}
listen: ""
store: mysql://x
poolSize: -1
retry: {attempts: 1, handOuts: 10001}
historyDays: 0
versionsAhead: -1
keepOldVersions: -2
organisms:
  groups:
    schema: {metadata: [{name: a, type: text}, {name: a, type: int}], earliestReleaseDate: {externalFields: [a, b]}}
    referenceGenome:
      nucleotideSequences: [{name: segment, sequence: ACGT}]
  fern:
    schema:
      organismName: Fern
      externalMetadata: [{name: x, type: date}, {externalMetadataUpdater: u, type: word}, {externalMetadataUpdater: u, name: y, type: int}, {externalMetadataUpdater: u, name: y, type: int}]
      earliestReleaseDate: {enabled: true}
      submissionDataTypes: {files: {enabled: true}}
      files: [{name: a}, {name: a}, {}]
    referenceGenome:
      nucleotideSequences:
        - {name: a, file: missing.fasta}
        - {name: b, file: refs.fasta, record: third}
        - {name: c, file: bad.fasta}
        - {name: d, file: refs.fasta, sequence: ACGT}
        - {name: e, sequence: ACGT, record: x}
        - {name: f}
        - {name: g, sequence: AC.T}
      genes: []
  moss:
tokens:
  - {user: ann, env: NOT_SET}
  - {roles: [king], sha256: 12}
  - {user: bob}
  - {user: cid, sha256: 12, env: X}
`)
	_, err := loadConfig(path, environment(nil))
	if err == nil {
		t.Fatal("no error")
	}
	for _, want := range []string{
		`accessionPrefix "A.B"`, "websiteUrl is missing", "backendUrl is missing", "dataUseTerms.enabled is missing",
		`listen: write HOST:PORT`, "store: write sqlite:FILE or postgres://", "poolSize: it must be from 1 to 10000 connections, not -1",
		"retry: attempts must be from 2 to 100, not 1", "handOuts must be from 2 to 10000, not 10001", "historyDays must be from 1 to 36500, not 0", "versionsAhead must be from 1 to 1000000000, not -1",
		"keepOldVersions must be from 1 to 1000, not -2",
		`"groups": the key is a path of the server`, `"groups": schema.organismName is missing`, `"a" has the unknown type "text"`,
		`"a" is listed twice`, `must be called "main"`, `"groups": referenceGenome.genes is missing`,
		`fileSharing.outputFileUrlType must be one of website, backend, s3, not "ftp"`,
		`externalFields: "a" has the type text; it must be a date`, `externalFields: "b" is no field of schema.metadata`,
		`field "x" has no externalMetadataUpdater`, `schema.externalMetadata: a field has no name`, `field "" has the unknown type "word"`,
		`field "y" of "u" is listed twice`, `"fern": schema.earliestReleaseDate.externalFields is missing`,
		`"fern": schema.submissionDataTypes.files.categories is missing`, `schema.files: category "a" is listed twice`, "schema.files: a category has no name",
		`"fern": schema.metadata is missing`, "missing.fasta", `no record "third"; there are first, second`, `'-' at position 3`,
		`"d": give a sequence or a file, not both`, `"e": record "x" needs a file`, `"f" needs a name and a sequence`, `"g": '.' at position 3`,
		`"moss": schema is missing`, `"moss": referenceGenome is missing`,
		"tokens[0]: the environment variable NOT_SET is not set", "tokens[1]: user is missing", "tokens[1]: sha256 is not",
		`tokens[1]: role "king" is none of`, "tokens[2]: sha256 or env is missing", "tokens[3]: give sha256 or env, not both",
	} {
		if !strings.Contains(err.Error(), want) {
			t.Errorf("no %q in:\n%v", want, err)
		}
	}
}

// TestLoadConfig_ReadsTheProtocolsExample reads a file made for the reference server.
func TestLoadConfig_ReadsTheProtocolsExample(t *testing.T) {
	t.Parallel()
	c, err := loadConfig("testdata/mosshaven.json", environment(nil))
	if err != nil {
		t.Fatal(err)
	}
	catalog, err := c.catalog()
	if err != nil {
		t.Fatal(err)
	}
	fern, err := catalog.Get("fernvirus")
	if err != nil {
		t.Fatal(err)
	}
	external := []organism.ExternalField{{Updater: "herbarium", Field: organism.Field{Name: "archiveId", Type: organism.String}}}
	if diff := cmp.Diff(external, fern.ExternalMetadata); diff != "" {
		t.Errorf("external metadata (-want +got):\n%s", diff)
	}
	if fern.EarliestReleaseDate || len(fern.FileCategories) > 0 || len(fern.Metadata) != 9 || !fern.Metadata[0].Required {
		t.Errorf("fernvirus is %+v", fern)
	}
	reed, err := catalog.Get("reedvirus")
	if err != nil {
		t.Fatal(err)
	}
	if len(reed.Segments) != 2 || len(reed.Genes) != 2 || len(reed.ExternalMetadata) > 0 || !reed.ConsensusSequences {
		t.Errorf("reedvirus is %+v", reed)
	}
	if c.FileSharing.OutputFileURLType != "backend" || c.DataUseTerms.URLs.Restricted != "https://mosshaven.example/terms/restricted" {
		t.Errorf("the instance is %+v", c)
	}
}

// TestLoadConfig_ReadsWhatShapesReleasedData reads the members that the example of
// the protocol leaves at their defaults.
func TestLoadConfig_ReadsWhatShapesReleasedData(t *testing.T) {
	t.Parallel()
	path := write(t, t.TempDir(), "config.yaml", `
accessionPrefix: A_
websiteUrl: https://w
backendUrl: https://b
dataUseTerms: {enabled: false}
unknownMember: {of: anything}
organisms:
  moss:
    schema:
      organismName: Moss virus
      metadata: [{name: released, type: date, displayName: ignored}, {name: note, type: string}]
      externalMetadata:
        - {externalMetadataUpdater: b, name: released, type: date, required: true}
        - {externalMetadataUpdater: a, name: note, type: string}
        - {externalMetadataUpdater: b, name: note, type: string}
      earliestReleaseDate: {enabled: true, externalFields: [released]}
      submissionDataTypes: {consensusSequences: false, files: {enabled: true, categories: [{name: rawReads}]}}
      files: [{name: annotations}, {name: trees}]
    referenceGenome: {nucleotideSequences: [], genes: []}
`)
	c, err := loadConfig(path, environment(nil))
	if err != nil {
		t.Fatal(err)
	}
	catalog, err := c.catalog()
	if err != nil {
		t.Fatal(err)
	}
	got, err := catalog.Get("moss")
	if err != nil {
		t.Fatal(err)
	}
	field := func(updater, name string, kind organism.FieldType, required bool) organism.ExternalField {
		return organism.ExternalField{Updater: updater, Field: organism.Field{Name: name, Type: kind, Required: required}}
	}
	want := &organism.Organism{
		Key: "moss", DisplayName: "Moss virus",
		Metadata: []organism.Field{{Name: "released", Type: organism.Date}, {Name: "note", Type: organism.String}},
		Segments: []organism.NamedSequence{}, Genes: []organism.NamedSequence{},
		ExternalMetadata: []organism.ExternalField{
			field("b", "released", organism.Date, true), field("a", "note", organism.String, false), field("b", "note", organism.String, false),
		},
		EarliestReleaseDate: true, EarliestReleaseFields: []string{"released"},
		FileCategories: []string{"annotations", "trees"}, SubmittedFileCategories: []string{"rawReads"},
	}
	if diff := cmp.Diff(want, got); diff != "" {
		t.Errorf("organism (-want +got):\n%s", diff)
	}
	if diff := cmp.Diff([]string{"b", "a"}, got.ExternalUpdaters()); diff != "" {
		t.Errorf("updaters in the order of the schema (-want +got):\n%s", diff)
	}
}

func TestLoadConfig_SaysThatAFileIsEmpty(t *testing.T) {
	t.Parallel()
	for name, content := range map[string]string{"nothing": "", "blanks": " \n\n", "a comment": "# nothing yet\n"} {
		path := write(t, t.TempDir(), "config.yaml", content)
		_, err := loadConfig(path, environment(nil))
		if err == nil || !strings.Contains(err.Error(), path+" is empty") || strings.Contains(err.Error(), "listen") {
			t.Errorf("%s: got %v", name, err)
		}
	}
}

func TestLoadConfig_RefusesShortTokensByUser(t *testing.T) {
	t.Parallel()
	path := write(t, t.TempDir(), "config.yaml", strings.Replace(minimal, "organisms:",
		"tokens: [{user: ann, env: ANN_TOKEN}, {user: bob, env: BOB_TOKEN}]\norganisms:", 1))
	_, err := loadConfig(path, environment(map[string]string{"ANN_TOKEN": "fifteen letters", "BOB_TOKEN": "sixteen letters!"}))
	if err == nil || !strings.Contains(err.Error(), "has 1 fault:") || !strings.Contains(err.Error(), `the token of "ann" in the environment variable ANN_TOKEN has 15 characters`) ||
		strings.Contains(err.Error(), "bob") || strings.Contains(err.Error(), "fifteen") {
		t.Errorf("got %v", err)
	}
}

func TestLoadConfig_NamesTheLineOfAMistypedValue(t *testing.T) {
	t.Parallel()
	path := write(t, t.TempDir(), "config.yaml", "accessionPrefix: A_\npoolSize: many\n")
	if _, err := loadConfig(path, environment(nil)); err == nil || !strings.Contains(err.Error(), "[2:") {
		t.Errorf("got %v", err)
	}
}

func TestLoadOrganisms_NeedsNoneOfTheServersSecrets(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	write(t, dir, "refs.fasta", wholeReferences)
	path := write(t, dir, "config.yaml", fmt.Sprintf(wholeConfig, sha256.Sum256(nil)))
	catalog, err := loadOrganisms(path)
	if err != nil {
		t.Fatal(err)
	}
	if got := catalog.Keys(); !slices.Equal(got, []seqlease.Organism{"reedvirus"}) {
		t.Errorf("got %v", got)
	}
}

// exampleTokens are those that the files in config/ ask for.
var exampleTokens = map[string]string{
	"SUBMITTER_TOKEN": "submitter of tests", "PIPELINE_TOKEN": "pipeline of tests", "OPERATOR_TOKEN": "operator of tests",
}

func TestConfig_TheFilesInConfigAreValid(t *testing.T) {
	t.Parallel()
	files, err := filepath.Glob("../../config/*.yaml")
	if err != nil || len(files) < 2 {
		t.Fatalf("%v, %v", files, err)
	}
	for _, file := range files {
		if _, err := loadConfig(file, environment(exampleTokens)); err != nil {
			t.Error(err)
		}
	}
}

// TestConfig_EveryKeyIsExplained looks for every key of the configuration in the
// commented example, and for a flag of every setting of the server.
func TestConfig_EveryKeyIsExplained(t *testing.T) {
	t.Parallel()
	example, err := os.ReadFile("../../config/example.yaml")
	if err != nil {
		t.Fatal(err)
	}
	for _, key := range keysOf(reflect.TypeFor[Config]()) {
		if !strings.Contains(string(example), key) {
			t.Errorf("config/example.yaml doesn't mention %s", key)
		}
	}
	flags := reflect.TypeFor[serveArgs]()
	for _, field := range []string{"Listen", "Store", "SpoolDir", "PoolSize", "ReadOnly"} {
		f, found := flags.FieldByName(field)
		if !found || !strings.HasPrefix(f.Tag.Get("env"), "SEQLEASE_") {
			t.Errorf("serve has no flag and environment variable for %s", field)
		}
	}
}

func keysOf(t reflect.Type) []string {
	switch t.Kind() {
	case reflect.Pointer, reflect.Slice, reflect.Map:
		return keysOf(t.Elem())
	case reflect.Struct:
		var keys []string
		for i := range t.NumField() {
			keys = append(append(keys, t.Field(i).Tag.Get("yaml")), keysOf(t.Field(i).Type)...)
		}
		return keys
	default:
		return nil
	}
}

func TestServeArgs_FlagBeatsFile(t *testing.T) {
	t.Parallel()
	c := &Config{Listen: "file:1", Store: "sqlite:file", SpoolDir: "file", PoolSize: 3}
	five := 5
	serveArgs{Listen: "flag:1", PoolSize: &five, ReadOnly: true}.apply(c)
	want := &Config{Listen: "flag:1", Store: "sqlite:file", SpoolDir: "file", PoolSize: 5, ReadOnlyMode: true}
	if diff := cmp.Diff(want, c); diff != "" {
		t.Errorf("(-want +got):\n%s", diff)
	}
}
