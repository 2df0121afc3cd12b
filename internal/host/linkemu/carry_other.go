//go:build !linux

package linkemu

import (
	"errors"
	"fmt"

	"linerate/internal/model/record"
)

// Carry cannot carry: taps like these are Linux's.
func Carry([]record.WireLink, []int, <-chan struct{}) error {
	return fmt.Errorf("carrying frames between taps needs Linux: %w", errors.ErrUnsupported)
}
