//go:build !linux || portable

package ethtool

import (
	"errors"

	"linerate/internal/kernel/netlink"
	"linerate/internal/model/record"
)

// Handle reads interfaces; on Linux only.
type Handle struct{}

// Open returns errors.ErrUnsupported.
func Open() (*Handle, error) { return nil, errors.ErrUnsupported }

// Close does nothing.
func (*Handle) Close() {}

// Driver returns nothing.
func (*Handle) Driver(string) string { return "" }

// SpeedMbps returns 0.
func (*Handle) SpeedMbps(string) int64 { return 0 }

// NIC returns errors.ErrUnsupported.
func (*Handle) NIC(netlink.Link) (record.NIC, error) { return record.NIC{}, errors.ErrUnsupported }
