//go:build !linux || portable

package netlink

import (
	"errors"
	"fmt"
	"os"

	"linerate/internal/model/topology"
)

var errNoNamespaces = fmt.Errorf("network namespaces need Linux: %w", errors.ErrUnsupported)

// Namespace is not available on this system: NewNamespace and every method fail.
type Namespace struct{}

func NewNamespace(string) (*Namespace, error)          { return nil, errNoNamespaces }
func (*Namespace) Name() string                        { return "" }
func (*Namespace) Close()                              {}
func (*Namespace) Do(func() error) error               { return errNoNamespaces }
func (*Namespace) DoAsHost(func() error) error         { return errNoNamespaces }
func (LinkEnd) NewVethPair(LinkEnd) error              { return errNoNamespaces }
func (*Namespace) SetUp(string) error                  { return errNoNamespaces }
func (*Namespace) AddBridge(string) error              { return errNoNamespaces }
func (*Namespace) SetMaster(_, _ string) error         { return errNoNamespaces }
func (*Namespace) Impair(string, topology.Split) error { return errNoNamespaces }
func (LinkEnd) NewTap() (*os.File, error)              { return nil, errNoNamespaces }
