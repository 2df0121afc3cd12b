//go:build !linux || portable

package linkemu

import (
	"errors"
	"fmt"

	"linerate/internal/model/topology"
)

// Carry returns errors.ErrUnsupported: it needs Linux's taps.
func Carry([][2]topology.Impairment, []int, <-chan struct{}) error {
	return fmt.Errorf("carrying frames between taps needs Linux: %w", errors.ErrUnsupported)
}
