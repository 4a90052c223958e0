//go:build !linux

package postgres_test

import (
	"testing"
	"time"

	"github.com/seqlease/seqlease/internal/postgres"
)

func postmasterOf(*testing.B, *postgres.Store) int { return 0 }

func serverCPU(int) time.Duration { return 0 }

func clientCPU() time.Duration { return 0 }
