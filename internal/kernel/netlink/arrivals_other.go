//go:build !linux

package netlink

// Arrivals does not exist on this system: WatchArrivals says so.
type Arrivals struct{}

func WatchArrivals() (*Arrivals, error)     { return nil, unsupported("watch arriving packets") }
func (*Arrivals) Drain(visit func(Arrival)) {}
func (*Arrivals) Missed() int64             { return 0 }
func (*Arrivals) Close() error              { return nil }
