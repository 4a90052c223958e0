package auth

import (
	"context"
	"time"
)

// The bounds that tests step over.
const (
	AskAtMostEvery = askAtMostEvery
	Outlive        = outlive
	MaxToken       = maxToken
	MaxDocument    = maxDocument
	MaxAttempts    = maxAttempts
	AttemptWindow  = attemptWindow
)

// Refresh does what [OIDC.Run] does now and then.
func (o *OIDC) Refresh(ctx context.Context) error { return o.keys.(*providerKeys).ask(ctx, ctx) }

// SetFetchTimeout changes how long a fetch may take.
func (o *OIDC) SetFetchTimeout(d time.Duration) { o.keys.(*providerKeys).web.client.Timeout = d }
