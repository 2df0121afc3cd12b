//go:build linux

package measure_test

import (
	"testing"

	"linerate/internal/control/controltest"
	"linerate/internal/control/measure"
	"linerate/internal/show/export"
)

func TestMain(m *testing.M) { controltest.Main(m) }

// measured measures to the end.
func measured(t *testing.T, host string, o measure.Options) export.Measurement {
	t.Helper()
	return *export.Measure(controltest.Measured(t, host, o), "")
}
