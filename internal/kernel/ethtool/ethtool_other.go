//go:build !linux || portable

package ethtool

import (
	"errors"

	"linerate/internal/kernel/netlink"
	"linerate/internal/model/netstate"
	"linerate/internal/model/setting"
)

// Handle has no function on this system.
type Handle struct{}

// Open returns errors.ErrUnsupported.
func Open() (*Handle, error) { return nil, errors.ErrUnsupported }

// Close does nothing.
func (*Handle) Close() {}

// Driver returns nothing.
func (*Handle) Driver(string) string { return "" }

// SpeedMbps returns 0.
func (*Handle) SpeedMbps(string) int64 { return 0 }

// Interrupts returns nothing.
func (*Handle) Interrupts([]netlink.Link) []int { return nil }

// Module returns nothing.
func (*Handle) Module(string) *netstate.Module { return nil }

// Counters returns nothing.
func (*Handle) Counters(_, _ string) map[string]int64 { return nil }

// NIC returns errors.ErrUnsupported.
func (*Handle) NIC(netlink.Link) (netstate.NIC, error) { return netstate.NIC{}, errors.ErrUnsupported }

// Resolve returns errors.ErrUnsupported.
func (*Handle) Resolve(string, setting.NICOption) ([]setting.NICOption, error) {
	return nil, errors.ErrUnsupported
}

// Steering returns nothing.
func (*Handle) Steering(string) []setting.Option { return nil }

// Option returns errors.ErrUnsupported.
func (*Handle) Option(_, _, _ string) (string, error) { return "", errors.ErrUnsupported }

// SetOption returns errors.ErrUnsupported.
func (*Handle) SetOption(string, setting.NICOption) error { return errors.ErrUnsupported }
