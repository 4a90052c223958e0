package main

import (
	"errors"
	"fmt"
	"maps"
	"net"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"strings"

	"github.com/goccy/go-yaml"

	"github.com/seqlease/seqlease/internal/organism"
	"github.com/seqlease/seqlease/internal/reprocess"
)

// Config is what a server is told. The part about the instance and its
// organisms has the members of the reference server's configuration file, in
// YAML or JSON; members that this server doesn't know are ignored, so that a
// file made for the other one can be used.
type Config struct {
	// The instance.
	Name            string               `yaml:"name"`
	AccessionPrefix string               `yaml:"accessionPrefix"`
	WebsiteURL      string               `yaml:"websiteUrl"`
	BackendURL      string               `yaml:"backendUrl"`
	DataUseTerms    *TermsConfig         `yaml:"dataUseTerms"`
	FileSharing     *FileSharingConfig   `yaml:"fileSharing"`
	ReadOnlyMode    bool                 `yaml:"readOnlyMode"`
	LapisURLs       map[string]string    `yaml:"lapisUrls"` // of the query engine, by organism
	Organisms       map[string]*Instance `yaml:"organisms"`

	// This server.
	Listen          string        `yaml:"listen"`   // host:port
	Store           string        `yaml:"store"`    // sqlite:FILE or postgres://…
	SpoolDir        string        `yaml:"spoolDir"` // for uploads and downloads under way; empty: the system's
	PoolSize        int           `yaml:"poolSize"` // connections to PostgreSQL
	Retry           RetryConfig   `yaml:"retry"`
	HistoryDays     int           `yaml:"historyDays"`     // how long claims and failures are kept
	VersionsAhead   int64         `yaml:"versionsAhead"`   // by how much a version that registers itself may be above the current one
	KeepOldVersions int           `yaml:"keepOldVersions"` // how many newer versions must have been current before an old one's rows are deleted
	DebugMode       bool          `yaml:"debugMode"`       // super users may delete everything
	Tokens          []TokenConfig `yaml:"tokens"`
	OIDC            *OIDCConfig   `yaml:"oidc"` // nil: the tokens that are listed are all there are
	Dev             *DevConfig    `yaml:"-"`    // set by --dev
}

// TermsConfig configures data use terms.
type TermsConfig struct {
	Enabled *bool      `yaml:"enabled"`
	URLs    *TermsURLs `yaml:"urls"`
}

// TermsURLs are where the terms are explained.
type TermsURLs struct {
	Open       string `yaml:"open"`
	Restricted string `yaml:"restricted"`
}

// The defaults of what neither a flag, the environment nor the file gives.
const (
	defaultListen   = "127.0.0.1:8079" // loopback: nobody else gets in by accident
	defaultStore    = "sqlite:seqlease.db"
	defaultPoolSize = 8
)

func defaultConfig() Config {
	return Config{
		Name: "seqlease", Listen: defaultListen, Store: defaultStore, PoolSize: defaultPoolSize,
		Retry: defaultRetry(), HistoryDays: defaultHistoryDays, VersionsAhead: reprocess.DefaultAhead,
		KeepOldVersions: reprocess.DefaultKeep,
	}
}

// loadConfig reads the file, fills in defaults, reads the reference genomes and
// the tokens that it names, and checks all of it. lookup reads the environment.
func loadConfig(path string, lookup func(string) (string, bool)) (*Config, error) {
	c, faults, err := readConfig(path)
	if err != nil {
		return nil, err
	}
	faults = append(faults, c.resolveSecrets(lookup)...)
	return c, faultsOf(path, append(faults, c.faults()...))
}

// loadOrganisms reads only what the file says of organisms, for workers, which
// have none of the server's secrets.
func loadOrganisms(path string) (*organism.Catalog, error) {
	c, faults, err := readConfig(path)
	if err != nil {
		return nil, err
	}
	if err := faultsOf(path, append(faults, c.organismFaults()...)); err != nil {
		return nil, err
	}
	return c.catalog()
}

// readConfig reads the file and the reference genomes that it names.
func readConfig(path string) (c *Config, faults []string, err error) {
	content, err := os.ReadFile(path)
	if err != nil {
		return nil, nil, fmt.Errorf("read the configuration: %w", err)
	}
	return parseConfig(path, content, filepath.Dir(path))
}

// parseConfig parses a configuration whose files are relative to dir.
func parseConfig(path string, content []byte, dir string) (c *Config, faults []string, err error) {
	var anything any
	if err := yaml.Unmarshal(content, &anything); err == nil && anything == nil {
		return nil, nil, fmt.Errorf("configuration %s is empty: config/example.yaml shows what belongs into it", path)
	}
	config := defaultConfig()
	if err := yaml.Unmarshal(content, &config); err != nil {
		return nil, nil, fmt.Errorf("configuration %s: %w", path, err)
	}
	return &config, config.readReferences(dir), nil
}

func faultsOf(path string, faults []string) error {
	if len(faults) == 0 {
		return nil
	}
	return fmt.Errorf("configuration %s has %s:\n  %s", path, count(len(faults), "fault"), strings.Join(faults, "\n  "))
}

// count writes a number with its noun.
func count(n int, noun string) string {
	if n == 1 {
		return "1 " + noun
	}
	return strconv.Itoa(n) + " " + noun + "s"
}

// Validate reports every fault at once.
func (c *Config) Validate() error {
	if faults := c.faults(); len(faults) > 0 {
		return errors.New(strings.Join(faults, "; "))
	}
	return nil
}

func (c *Config) faults() []string {
	var faults []string
	fault := func(format string, args ...any) { faults = append(faults, fmt.Sprintf(format, args...)) }
	if c.AccessionPrefix == "" {
		fault("accessionPrefix is missing")
	}
	if strings.ContainsAny(c.AccessionPrefix, "./?#% \t\r\n") {
		fault("accessionPrefix %q must not contain dots, blanks or characters with a meaning in URLs", c.AccessionPrefix)
	}
	if c.WebsiteURL == "" {
		fault("websiteUrl is missing")
	}
	if c.BackendURL == "" {
		fault("backendUrl is missing")
	}
	switch terms := c.DataUseTerms; {
	case terms == nil:
		fault("dataUseTerms is missing")
	case terms.Enabled == nil:
		fault("dataUseTerms.enabled is missing")
	case terms.URLs != nil && (terms.URLs.Open == "" || terms.URLs.Restricted == ""):
		fault("dataUseTerms.urls needs both open and restricted")
	}
	for _, key := range slices.Sorted(maps.Keys(c.LapisURLs)) {
		if c.Organisms[key] == nil {
			fault("lapisUrls names %q, which is none of the organisms", key)
		}
	}
	if f := c.FileSharing; f != nil && f.OutputFileURLType != "" && !slices.Contains(fileURLTypes, f.OutputFileURLType) {
		fault("fileSharing.outputFileUrlType must be one of %s, not %q", strings.Join(fileURLTypes, ", "), f.OutputFileURLType)
	}
	if err := checkListen(c.Listen); err != nil {
		fault("listen: %v", err)
	}
	if err := checkPoolSize(c.PoolSize); err != nil {
		fault("poolSize: %v", err)
	}
	if _, err := parseStore(c.Store); err != nil {
		fault("store: %v", err)
	}
	return slices.Concat(faults, c.queueFaults(), c.organismFaults(), tokenFaults(c.Tokens), c.oidcFaults())
}

// checkListen checks a HOST:PORT to listen on, without looking the host up.
func checkListen(text string) error {
	_, port, err := net.SplitHostPort(text)
	if err == nil {
		_, err = strconv.ParseUint(port, 10, 16)
	}
	if err != nil {
		return fmt.Errorf("write HOST:PORT with a port from 0 to 65535, such as %s, not %q", defaultListen, text)
	}
	return nil
}

// maxPoolSize is more than any PostgreSQL server takes.
const maxPoolSize = 10_000

func checkPoolSize(n int) error {
	if n < 1 || n > maxPoolSize {
		return fmt.Errorf("it must be from 1 to %d connections, not %d", maxPoolSize, n)
	}
	return nil
}

func (c *Config) organismFaults() []string {
	if len(c.Organisms) == 0 {
		return []string{"organisms is missing or empty"}
	}
	var faults []string
	for _, key := range slices.Sorted(maps.Keys(c.Organisms)) {
		faults = append(faults, c.Organisms[key].faults(key)...)
	}
	return faults
}
