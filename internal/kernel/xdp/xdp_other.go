//go:build !linux || portable

package xdp

import (
	"errors"

	"linerate/internal/kernel/netlink"
)

// Attached returns errors.ErrUnsupported.
func Attached(*netlink.Conn, string) (string, error) { return "", errors.ErrUnsupported }

// Attach returns errors.ErrUnsupported.
func Attach(*netlink.Conn, string, string) error { return errors.ErrUnsupported }

// Detach returns errors.ErrUnsupported.
func Detach(*netlink.Conn, string) error { return errors.ErrUnsupported }
