package auth

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"sync"
	"time"

	json "github.com/go-json-experiment/json"
)

// How often the provider is asked for its keys. A key that it withdraws ends within
// refreshEvery. An unknown key is asked for at once, but not more often than every
// askAtMostEvery, whatever is sent to us. While the provider can't be asked, its
// last keys are good for outlive, a day, which is longer than tokens are valid.
const (
	refreshEvery   = 5 * time.Minute
	retryEvery     = 15 * time.Second
	askAtMostEvery = 10 * time.Second
	outlive        = 24 * time.Hour
)

// providerKeys are the keys of a provider, as it last told them.
type providerKeys struct {
	issuer    string
	jwksURL   string // configured; empty: discover it
	allowHTTP bool
	web       *web
	logger    *slog.Logger
	now       func() time.Time

	mu      sync.Mutex
	keys    []publicKey
	told    time.Time     // when the keys were told
	asked   time.Time     // when the provider was last asked
	failed  error         // why it didn't tell them, the last time
	running chan struct{} // closed when the question under way is answered; nil: none is
	found   string        // jwks_uri of the discovery document
}

func newProviderKeys(o OIDCOptions, now func() time.Time) *providerKeys {
	return &providerKeys{issuer: o.Issuer, jwksURL: o.JWKSURL, allowHTTP: o.AllowHTTP, web: newWeb(), logger: o.Logger, now: now}
}

// run asks for the keys now and then until ctx ends.
func (p *providerKeys) run(ctx context.Context) error {
	for {
		wait := refreshEvery
		if err := p.ask(ctx, ctx); err != nil {
			wait = retryEvery
		}
		timer := time.NewTimer(wait)
		select {
		case <-ctx.Done():
			timer.Stop()
			return nil
		case <-timer.C:
		}
	}
}

func (p *providerKeys) candidates(ctx context.Context, algorithm, id string) ([]publicKey, error) {
	if found := p.known(algorithm, id); len(found) > 0 {
		return found, nil
	}
	// Others may wait for the answer, too: the question outlives this request.
	if err := p.ask(ctx, context.WithoutCancel(ctx)); err != nil {
		return nil, err
	}
	if found := p.known(algorithm, id); len(found) > 0 {
		return found, nil
	}
	return nil, ErrUnknownKey
}

// known returns suitable keys among those that were told and still count.
func (p *providerKeys) known(algorithm, id string) []publicKey {
	p.mu.Lock()
	defer p.mu.Unlock()
	if p.now().Sub(p.told) >= outlive {
		return nil
	}
	return suitable(p.keys, algorithm, id)
}

// ask asks the provider for its keys, or joins those who do, unless it was asked a
// moment ago: then the answer is that of the last time. The error is
// [ErrUnavailable]. ctx ends the waiting for others, question the question itself.
func (p *providerKeys) ask(ctx, question context.Context) error {
	p.mu.Lock()
	if running := p.running; running != nil {
		p.mu.Unlock()
		return p.await(ctx, running)
	}
	if p.now().Sub(p.asked) < askAtMostEvery {
		defer p.mu.Unlock()
		return p.failed
	}
	p.asked, p.running = p.now(), make(chan struct{})
	p.mu.Unlock()
	return p.question(question)
}

// question is one question to the provider. Whatever happens, those who wait for
// its answer get one.
func (p *providerKeys) question(ctx context.Context) (failed error) {
	var keys []publicKey
	err := errors.New("the question broke off")
	defer func() {
		p.mu.Lock()
		defer p.mu.Unlock()
		before := p.failed
		if p.failed = nil; err != nil {
			p.failed = fmt.Errorf("%w: %w", ErrUnavailable, err)
		} else {
			p.keys, p.told = keys, p.now()
		}
		close(p.running)
		p.running = nil
		p.tell(ctx, before)
		failed = p.failed
	}()
	keys, err = p.fetch(ctx)
	return nil
}

// await waits for the answer to a question that another request asked.
func (p *providerKeys) await(ctx context.Context, running chan struct{}) error {
	select {
	case <-running:
		p.mu.Lock()
		defer p.mu.Unlock()
		return p.failed
	case <-ctx.Done():
		return fmt.Errorf("%w: %w", ErrUnavailable, ctx.Err())
	}
}

// tell logs what has changed. The lock is held.
func (p *providerKeys) tell(ctx context.Context, before error) {
	switch {
	case p.failed != nil && before == nil:
		p.logger.LogAttrs(ctx, slog.LevelWarn, "the identity provider doesn't tell its keys; those known are used meanwhile",
			slog.String("issuer", p.issuer), slog.Int("keys", len(p.keys)), slog.Any("error", p.failed))
	case p.failed == nil && before != nil:
		p.logger.LogAttrs(ctx, slog.LevelInfo, "the identity provider tells its keys again", slog.String("issuer", p.issuer))
	}
}

// fetch asks the provider. What the discovery document said is asked anew after a
// failure. Only one fetch runs at a time.
func (p *providerKeys) fetch(ctx context.Context) (keys []publicKey, err error) {
	defer func() {
		if err != nil {
			p.found = ""
		}
	}()
	from := p.jwksURL
	if from == "" {
		if p.found == "" {
			if p.found, err = p.discover(ctx); err != nil {
				return nil, err
			}
		}
		from = p.found
	}
	document, err := p.web.get(ctx, from, "")
	if err != nil {
		return nil, err
	}
	if keys, err = readKeySet(document); err != nil {
		return nil, fmt.Errorf("%s: %w", from, err)
	}
	return keys, nil
}

// discover reads the discovery document (OpenID Connect Discovery 1.0 §4).
func (p *providerKeys) discover(ctx context.Context) (jwksURL string, err error) {
	from := DiscoveryURL(p.issuer)
	content, err := p.web.get(ctx, from, "")
	if err != nil {
		return "", err
	}
	var document struct {
		Issuer  string `json:"issuer"`
		JWKSURI string `json:"jwks_uri"`
	}
	if err := json.Unmarshal(content, &document); err != nil {
		return "", fmt.Errorf("%s: it isn't a discovery document in JSON", from)
	}
	if document.Issuer != p.issuer {
		return "", fmt.Errorf("%s: it is the document of the issuer %q, not of %q", from, document.Issuer, p.issuer)
	}
	if document.JWKSURI == "" {
		return "", fmt.Errorf("%s: %w", from, errors.New("jwks_uri is missing"))
	}
	if err := CheckURL(document.JWKSURI, p.allowHTTP); err != nil {
		return "", fmt.Errorf("%s: jwks_uri: %w", from, err)
	}
	return document.JWKSURI, nil
}
