package auth

import (
	"context"
	"errors"
	"fmt"
	"io"
	"net"
	"net/http"
	"net/netip"
	"net/url"
	"strings"
	"time"
)

// Bounds of what is fetched from a provider. Key sets have a few kilobytes.
const (
	fetchTimeout      = 5 * time.Second
	maxDocument       = 512 << 10
	maxResponseHeader = 64 << 10
)

// web fetches small documents from the provider.
type web struct{ client *http.Client }

func newWeb() *web {
	return &web{client: &http.Client{
		Timeout: fetchTimeout,
		// A redirect would lead to where nobody has checked the address.
		CheckRedirect: func(*http.Request, []*http.Request) error { return http.ErrUseLastResponse },
		Transport: &http.Transport{
			Proxy: http.ProxyFromEnvironment, MaxResponseHeaderBytes: maxResponseHeader, IdleConnTimeout: time.Minute,
			DialContext: (&net.Dialer{Timeout: fetchTimeout}).DialContext, TLSHandshakeTimeout: fetchTimeout,
			ForceAttemptHTTP2: true, MaxIdleConnsPerHost: 2,
		},
	}}
}

// statusError is an answer other than 200.
type statusError struct {
	method, url string
	status      int
}

func (e *statusError) Error() string {
	return fmt.Sprintf("%s %s answered with status %d", e.method, e.url, e.status)
}

// get fetches a document; bearer may be empty.
func (w *web) get(ctx context.Context, from, bearer string) ([]byte, error) {
	request, err := http.NewRequestWithContext(ctx, http.MethodGet, from, http.NoBody)
	if err != nil {
		return nil, err
	}
	if bearer != "" {
		request.Header.Set("Authorization", "Bearer "+bearer)
	}
	return w.send(request)
}

// post sends a form.
func (w *web) post(ctx context.Context, to string, form url.Values) ([]byte, error) {
	request, err := http.NewRequestWithContext(ctx, http.MethodPost, to, strings.NewReader(form.Encode()))
	if err != nil {
		return nil, err
	}
	request.Header.Set("Content-Type", "application/x-www-form-urlencoded")
	return w.send(request)
}

func (w *web) send(request *http.Request) ([]byte, error) {
	request.Header.Set("Accept", "application/json")
	response, err := w.client.Do(request)
	if err != nil {
		return nil, err
	}
	defer response.Body.Close() //nolint:errcheck // what was read is what counts
	if response.StatusCode != http.StatusOK {
		return nil, &statusError{request.Method, withoutQuery(request.URL), response.StatusCode}
	}
	content, err := io.ReadAll(io.LimitReader(response.Body, maxDocument+1))
	if err != nil {
		return nil, fmt.Errorf("%s: %w", withoutQuery(request.URL), err)
	}
	if len(content) > maxDocument {
		return nil, fmt.Errorf("%s: the answer has more than %d bytes", withoutQuery(request.URL), maxDocument)
	}
	return content, nil
}

func withoutQuery(u *url.URL) string {
	bare := *u
	bare.RawQuery = ""
	return bare.Redacted()
}

// DiscoveryURL is where an issuer's discovery document is.
func DiscoveryURL(issuer string) string {
	return strings.TrimSuffix(issuer, "/") + "/.well-known/openid-configuration"
}

// CheckURL says what is wrong with the address of a provider. Without TLS anybody
// on the way could hand out keys of their own: such an address must be of this
// machine, unless that is allowed.
func CheckURL(text string, allowHTTP bool) error {
	u, err := url.Parse(text)
	switch {
	case err != nil || u.Host == "" || u.Scheme != "https" && u.Scheme != "http":
		return errors.New("write a URL such as https://login.example.org/realms/loculus")
	case u.User != nil || u.Fragment != "" || u.RawQuery != "":
		return errors.New("the URL must have no user, query or fragment")
	case u.Scheme == "http" && !allowHTTP && !IsLoopback(u.Hostname()):
		return errors.New("without TLS anybody on the way can issue tokens: use https, or say allowHttp: true if the network is trusted")
	}
	return nil
}

// IsLoopback says whether a host is this machine by its name: localhost, or a
// loopback address.
func IsLoopback(host string) bool {
	if strings.EqualFold(host, "localhost") {
		return true
	}
	address, err := netip.ParseAddr(host)
	return err == nil && address.Unmap().IsLoopback()
}
