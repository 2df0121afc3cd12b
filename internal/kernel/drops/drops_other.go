//go:build !linux || portable

package drops

import "fmt"

// Tracer is only functional on Linux.
type Tracer struct{}

// Start returns ErrUnavailable.
func Start(Options) (*Tracer, error) { return nil, fmt.Errorf("%w: it needs Linux", ErrUnavailable) }

// Read returns no counts.
func (*Tracer) Read() (Counts, error) { return Counts{}, nil }

// Close does nothing.
func (*Tracer) Close() error { return nil }
