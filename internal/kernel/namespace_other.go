//go:build !linux

package kernel

import (
	"errors"
	"fmt"
	"os"
)

var errNoNamespaces = fmt.Errorf("network namespaces need Linux: %w", errors.ErrUnsupported)

// Namespace does not exist on this system; every method says so.
type Namespace struct{}

// CableEnd is one end of a cable.
type CableEnd struct {
	In   *Namespace
	Port string
	MAC  string
	MTU  int
}

// Shaping is what a port does to the frames it sends.
type Shaping struct {
	RateBps    float64
	BurstBytes int64
	QueueBytes int64
	DelayUs    int64
	Loss       float64
	MTU        int
}

func NewNamespace(string) (*Namespace, error)     { return nil, errNoNamespaces }
func (*Namespace) Close()                         {}
func (*Namespace) Do(func() error) error          { return errNoNamespaces }
func (*Namespace) DoAsHost(func() error) error    { return errNoNamespaces }
func Cable(_, _ CableEnd) error                   { return errNoNamespaces }
func (*Namespace) Up(string) error                { return errNoNamespaces }
func (*Namespace) Bridge(string) error            { return errNoNamespaces }
func (*Namespace) Enslave(_, _ string) error      { return errNoNamespaces }
func (*Namespace) Shape(string, Shaping) error    { return errNoNamespaces }
func SocketPair() (near, far *os.File, err error) { return nil, nil, errNoNamespaces }
