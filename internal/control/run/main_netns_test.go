//go:build linux

package run_test

import (
	"testing"

	"linerate/internal/control/controltest"
)

func TestMain(m *testing.M) { controltest.Main(m) }
