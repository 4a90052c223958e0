package main

import (
	"bufio"
	"context"
	"encoding/json"
	"errors"
	"io"
	"net/http"
	"net/netip"
	"net/url"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"strings"
	"syscall"
	"testing"

	"github.com/seqlease/seqlease"
	"github.com/seqlease/seqlease/client"
)

// servedDev is `seqlease serve --dev` in a process of its own.
type servedDev struct {
	url            string
	process        *exec.Cmd
	stdout, stderr *output
}

// serveDev starts it on a free port, with the store in a directory of the test, and
// waits until it has said who may log in.
func serveDev(t *testing.T, args ...string) *servedDev {
	t.Helper()
	self, err := os.Executable()
	if err != nil {
		t.Fatal(err)
	}
	s := &servedDev{stdout: &output{}, stderr: &output{}}
	s.process = exec.CommandContext(t.Context(), self, append([]string{
		"serve", "--dev", "--listen", "127.0.0.1:0", "--store", "sqlite:" + filepath.Join(t.TempDir(), "dev.db"),
	}, args...)...)
	s.process.Stderr = s.stderr
	stdout, err := s.process.StdoutPipe()
	if err != nil {
		t.Fatal(err)
	}
	if err := s.process.Start(); err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = s.process.Process.Kill() })
	lines := bufio.NewScanner(stdout)
	for lines.Scan() {
		_, _ = s.stdout.Write(append(lines.Bytes(), '\n'))
		if found := regexp.MustCompile(`curl (http://\S+?)/realms/`).FindStringSubmatch(lines.Text()); found != nil {
			s.url = found[1]
			break
		}
	}
	if s.url == "" {
		t.Fatalf("no server: %v\n%s\n%s", s.process.Wait(), s.stdout, s.stderr)
	}
	return s
}

// passwords returns the printed passwords by user.
func (s *servedDev) passwords() map[string]string {
	found := map[string]string{}
	for _, line := range regexp.MustCompile(`(?m)^([a-z_]+) {2,}([A-Z2-7]{26}) {2,}\S`).FindAllStringSubmatch(s.stdout.String(), -1) {
		found[line[1]] = line[2]
	}
	return found
}

// token logs in as clients of the protocol do.
func (s *servedDev) token(t *testing.T, user, password string) (token string, status int) {
	t.Helper()
	form := url.Values{"client_id": {"backend-client"}, "grant_type": {"password"}, "username": {user}, "password": {password}}
	r, err := http.NewRequestWithContext(t.Context(), http.MethodPost, s.url+"/realms/loculus/protocol/openid-connect/token", strings.NewReader(form.Encode()))
	if err != nil {
		t.Fatal(err)
	}
	r.Header.Set("Content-Type", "application/x-www-form-urlencoded")
	response, err := http.DefaultClient.Do(r)
	if err != nil {
		t.Fatal(err)
	}
	defer func() { _ = response.Body.Close() }()
	var grant struct {
		AccessToken string `json:"access_token"`
	}
	content, err := io.ReadAll(response.Body)
	if err != nil {
		t.Fatal(err)
	}
	if err := json.Unmarshal(content, &grant); err != nil {
		t.Fatalf("%s: %v", content, err)
	}
	return grant.AccessToken, response.StatusCode
}

// wantHosts checks that the command line client is sent here for everything.
func (s *servedDev) wantHosts(t *testing.T) {
	t.Helper()
	r, err := http.NewRequestWithContext(t.Context(), http.MethodGet, s.url+"/loculus-info", http.NoBody)
	if err != nil {
		t.Fatal(err)
	}
	response, err := http.DefaultClient.Do(r)
	if err != nil {
		t.Fatal(err)
	}
	defer func() { _ = response.Body.Close() }()
	var info struct {
		Hosts struct{ Backend, Keycloak, Website string }
	}
	if err := json.NewDecoder(response.Body).Decode(&info); err != nil ||
		info.Hosts.Backend != s.url || info.Hosts.Keycloak != s.url || info.Hosts.Website != s.url {
		t.Errorf("the hosts are %+v, %v; want %s", info.Hosts, err, s.url)
	}
}

func (s *servedDev) stop(t *testing.T) {
	t.Helper()
	if err := s.process.Process.Signal(syscall.SIGTERM); err != nil {
		t.Fatal(err)
	}
	if err := s.process.Wait(); err != nil {
		t.Errorf("the server ended with %v:\n%s", err, s.stderr)
	}
}

func TestServeDev_EverybodyLogsInAndWorks(t *testing.T) {
	t.Parallel()
	s := serveDev(t)
	passwords := s.passwords()
	if len(passwords) != 6 {
		t.Fatalf("the passwords are %v, printed:\n%s", passwords, s.stdout)
	}
	as := map[string]*client.Client{}
	seen := map[string]bool{}
	var secrets []string
	for user, password := range passwords {
		if seen[password] {
			t.Errorf("%s has another user's password", user)
		}
		seen[password] = true
		token, status := s.token(t, user, password)
		if status != http.StatusOK {
			t.Fatalf("%s: %d", user, status)
		}
		secrets = append(secrets, password, token)
		if _, status := s.token(t, user, password+"x"); status != http.StatusUnauthorized {
			t.Errorf("%s with a wrong password: %d", user, status)
		}
		var err error
		if as[user], err = client.New(s.url, token); err != nil {
			t.Fatal(err)
		}
	}
	group, err := as["testuser"].CreateGroup(t.Context(), seqlease.NewGroup{GroupName: "g"})
	if err != nil {
		t.Fatal(err)
	}
	if err := as["testuser"].AddMember(t.Context(), group.GroupID, "otheruser"); err != nil {
		t.Error(err)
	}
	if err := as["testuser"].AddMember(t.Context(), group.GroupID, "nobody-of-that-name"); !errors.Is(err, seqlease.ErrNotFound) {
		t.Errorf("somebody who can't log in is made a member: %v", err)
	}
	s.wantHosts(t)
	for organism, upload := range map[seqlease.Organism]struct{ metadata, sequences string }{
		"zika":      {"", ""},
		"fernvirus": {"id\tcollectedOn\tvalley\na\t2026-03-04\tSedge\n", ">a\nATGGCTTGCAAAGGTTAA\n"},
		"reedvirus": {"id\tlake\tfastaIds\na\tSedge\ta1 a2\n", ">a1\nACGTACGTAC\n>a2\nGGGTTTAA\n"},
	} {
		submission := client.Submission{
			Organism: organism, GroupID: group.GroupID,
			Metadata:  client.File{Name: "metadata.tsv", Content: strings.NewReader(upload.metadata)},
			Sequences: client.File{Name: "sequences.fasta", Content: strings.NewReader(upload.sequences)},
		}
		if upload.metadata == "" {
			submission.Metadata, submission.Sequences = testFile(t, "zika/metadata.tsv"), testFile(t, "zika/sequences.fasta")
		}
		stored, err := as["testuser"].Submit(t.Context(), submission)
		if err != nil || len(stored) == 0 || !strings.HasPrefix(string(stored[0].Accession), "DEV_") {
			t.Errorf("%s: %v, %v", organism, stored, err)
		}
		batch, err := as["preprocessing_pipeline"].Claim(t.Context(), client.ClaimRequest{Organism: organism, PipelineVersion: 1, Entries: 100})
		if err != nil || len(batch.Entries) != len(stored) {
			t.Errorf("%s: %d claimed of %d, %v", organism, len(batch.Entries), len(stored), err)
		}
	}
	s.stop(t)
	for _, secret := range secrets {
		if strings.Contains(s.stderr.String(), secret) {
			t.Error("a password or a token is in the log")
		}
	}
}

func TestServeDev_AGivenPasswordIsNotPrinted(t *testing.T) {
	t.Parallel()
	s := serveDev(t, "--dev-password", "a word for scripts")
	for _, user := range []string{"testuser", "superuser", "insdc_ingest_user"} {
		if _, status := s.token(t, user, "a word for scripts"); status != http.StatusOK {
			t.Errorf("%s: %d", user, status)
		}
	}
	s.stop(t)
	if strings.Contains(s.stdout.String()+s.stderr.String(), "a word for scripts") {
		t.Errorf("the password is printed:\n%s\n%s", s.stdout, s.stderr)
	}
}

func TestServeDev_TakesAConfiguration(t *testing.T) {
	t.Parallel()
	s := serveDev(t, "--config", "../../config/example.yaml", "--dev-password", "a word for scripts")
	token, _ := s.token(t, "testuser", "a word for scripts")
	c, err := client.New(s.url, token)
	if err != nil {
		t.Fatal(err)
	}
	if _, err := c.ListEntries(t.Context(), "sars-cov-2", client.ListFilter{}); err != nil {
		t.Error(err)
	}
	s.stop(t)
}

func TestServeDev_ListensOnThisMachineOnly(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	store := "sqlite:" + filepath.Join(dir, "x.db")
	for _, listen := range []string{"0.0.0.0:0", ":0", "[::]:0", "192.0.2.1:0", "10.0.0.1:0"} {
		code, stdout, stderr := command(t, "serve", "--dev", "--store", store, "--listen", listen)
		if code != exitUsage || stdout != "" || !strings.Contains(stderr, "--dev listens on this machine only") {
			t.Errorf("--listen %s: exit code %d, stdout %q, stderr %s", listen, code, stdout, stderr)
		}
	}
	inFile := write(t, dir, "c.yaml", minimal+"listen: 0.0.0.0:0\n")
	if code, _, stderr := command(t, "serve", "--dev", "--store", store, "--config", inFile); code != exitUsage {
		t.Errorf("an address in the file: exit code %d: %s", code, stderr)
	}
	if _, err := os.Stat(filepath.Join(dir, "x.db")); err == nil {
		t.Error("a server that was refused has made a store")
	}
}

func TestLoopbackOnly_Names(t *testing.T) {
	t.Parallel()
	hosts := map[string][]string{
		"localhost": {"::1", "127.0.0.1"}, "mine": {"127.0.1.1"}, "127.0.0.9": {"127.0.0.9"}, "::1": {"::1"}, "::ffff:127.0.0.1": {"::ffff:127.0.0.1"},
		"elsewhere": {"192.0.2.1"}, "both": {"127.0.0.1", "192.0.2.1"}, "any": {"0.0.0.0"}, "none": {},
	}
	find := func(_ context.Context, _, host string) ([]netip.Addr, error) {
		texts, found := hosts[host]
		if !found {
			return nil, errors.New("no such host")
		}
		var addresses []netip.Addr
		for _, text := range texts {
			addresses = append(addresses, netip.MustParseAddr(text))
		}
		return addresses, nil
	}
	for listen, want := range map[string]string{
		"localhost:7": "127.0.0.1:7", "mine:7": "127.0.1.1:7", "127.0.0.9:7": "127.0.0.9:7", "[::1]:7": "[::1]:7", "[::ffff:127.0.0.1]:7": "127.0.0.1:7",
		"elsewhere:7": "", "both:7": "", "any:7": "", "none:7": "", "unknown:7": "", ":7": "",
	} {
		got, err := loopbackOnly(t.Context(), listen, find)
		var usage *usageError
		if got != want || (want == "") != errors.As(err, &usage) {
			t.Errorf("%s: got %q, %v; want %q", listen, got, err, want)
		}
	}
}

func TestLoadDevConfig(t *testing.T) {
	t.Parallel()
	c, err := loadDevConfig("", environment(nil))
	if err != nil {
		t.Fatal(err)
	}
	catalog, err := c.catalog()
	if err != nil {
		t.Fatal(err)
	}
	zika, err := catalog.Get("zika")
	if err != nil || len(zika.Segments) != 1 || len(zika.Segments[0].Sequence) < 10_000 {
		t.Errorf("zika is %.200v, %v", zika, err)
	}
	dir := t.TempDir()
	tokens := "tokens:\n  - {user: ann, env: ANN_TOKEN}\n  - {user: bob, env: BOB_TOKEN}\n"
	c, err = loadDevConfig(write(t, dir, "c.yaml", minimal+tokens), environment(map[string]string{"BOB_TOKEN": "bob's own long token"}))
	if err != nil || len(c.Tokens) != 1 || c.Tokens[0].User != "bob" {
		t.Errorf("tokens %+v, %v; want bob's only", c, err)
	}
	_, err = loadDevConfig(write(t, dir, "d.yaml", minimal+"oidc: {issuer: 'https://x/realms/y'}\npoolSize: -1\n"), environment(nil))
	if err == nil || !strings.Contains(err.Error(), "--dev has an issuer of its own") || !strings.Contains(err.Error(), "poolSize") {
		t.Errorf("two issuers: %v", err)
	}
}
