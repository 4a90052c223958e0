package main

import (
	"fmt"
	"time"

	"github.com/seqlease/seqlease/internal/queue"
)

// RetryConfig bounds how often an entry is handed out before it is quarantined.
type RetryConfig struct {
	Attempts int `yaml:"attempts"` // claims that count
	HandOuts int `yaml:"handOuts"` // claims that cost no attempt
}

// The defaults and limits of the history.
const (
	defaultHistoryDays = 90
	maxHistoryDays     = 36_500
)

// maxVersionsAhead is more than anybody numbers at a time.
const maxVersionsAhead = 1_000_000_000

// maxKeepOldVersions is more than anybody has room for.
const maxKeepOldVersions = 1000

func defaultRetry() RetryConfig {
	return RetryConfig{Attempts: queue.DefaultRetry.Attempts, HandOuts: queue.DefaultRetry.HandOuts}
}

// retry is what stores and the keeper go by.
func (c *Config) retry() queue.Retry {
	return queue.Retry{Attempts: c.Retry.Attempts, HandOuts: c.Retry.HandOuts}
}

// historyFor is how long the history of entries is kept.
func (c *Config) historyFor() time.Duration { return time.Duration(c.HistoryDays) * 24 * time.Hour }

func (c *Config) queueFaults() []string {
	var faults []string
	if err := c.retry().Check(); err != nil {
		faults = append(faults, fmt.Sprintf("retry: %v", err))
	}
	if c.HistoryDays < 1 || c.HistoryDays > maxHistoryDays {
		faults = append(faults, fmt.Sprintf("historyDays must be from 1 to %d, not %d", maxHistoryDays, c.HistoryDays))
	}
	if c.VersionsAhead < 1 || c.VersionsAhead > maxVersionsAhead {
		faults = append(faults, fmt.Sprintf("versionsAhead must be from 1 to %d, not %d", maxVersionsAhead, c.VersionsAhead))
	}
	if c.KeepOldVersions < 1 || c.KeepOldVersions > maxKeepOldVersions {
		faults = append(faults, fmt.Sprintf("keepOldVersions must be from 1 to %d, not %d", maxKeepOldVersions, c.KeepOldVersions))
	}
	return faults
}
