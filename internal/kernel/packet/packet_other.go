//go:build !linux || portable

package packet

import (
	"errors"
	"fmt"
	"time"
)

// Sender transmits on Linux only.
type Sender struct{}

// Open returns errors.ErrUnsupported.
func Open(Options) (*Sender, error) {
	return nil, fmt.Errorf("frames need Linux: %w", errors.ErrUnsupported)
}

// Mode returns nothing.
func (*Sender) Mode() (mode, refused string) { return "", "" }

// Frame returns errors.ErrUnsupported.
func (*Sender) Frame(int, int) ([]byte, error) { return nil, errors.ErrUnsupported }

// Send returns errors.ErrUnsupported.
func (*Sender) Send(int, int) (int, error) { return 0, errors.ErrUnsupported }

// Check returns errors.ErrUnsupported.
func Check(string) error { return errors.ErrUnsupported }

// Close does nothing.
func (*Sender) Close() error { return nil }

// Receiver receives on Linux only.
type Receiver struct{}

// OpenReceiver returns errors.ErrUnsupported.
func OpenReceiver(string, Match) (*Receiver, error) {
	return nil, fmt.Errorf("frames need Linux: %w", errors.ErrUnsupported)
}

// Receive returns errors.ErrUnsupported.
func (*Receiver) Receive(time.Duration) (int, error) { return 0, errors.ErrUnsupported }

// Frame returns nothing.
func (*Receiver) Frame(int) Message { return Message{} }

// Close does nothing.
func (*Receiver) Close() error { return nil }

// Counter counts on Linux only.
type Counter struct{}

// OpenCounter returns errors.ErrUnsupported.
func OpenCounter(string, Match) (*Counter, error) {
	return nil, fmt.Errorf("frames need Linux: %w", errors.ErrUnsupported)
}

// Count returns errors.ErrUnsupported.
func (*Counter) Count() (int64, error) { return 0, errors.ErrUnsupported }

// Close does nothing.
func (*Counter) Close() error { return nil }
