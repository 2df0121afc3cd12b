//go:build !linux || portable

package netlink

import (
	"context"
	"errors"
	"fmt"
	"iter"
	"net"
	"net/netip"
	"os"
	"time"

	"linerate/internal/model/device"
	"linerate/internal/model/netstate"
	"linerate/internal/model/topology"
)

// Available reports whether route netlink, /proc and sysctls can be used on this system.
const Available = false

// Conn only knows the interfaces and addresses that package net reports. All other methods return
// an error.
type Conn struct{}

func ProbeARP([]ARP, time.Duration) ([]ARP, error) { return nil, unsupported("open a packet socket") }

func ReceiveLLDP(context.Context, []int, time.Duration) ([]LLDPFrame, error) {
	return nil, unsupported("open a packet socket")
}

func Dial() (*Conn, error) { return &Conn{}, nil }
func (*Conn) Close() error { return nil }

func (*Conn) Links() ([]Link, error) {
	list, err := net.Interfaces()
	links := make([]Link, len(list))
	for i, l := range list {
		links[i] = Link{
			Index: l.Index, Name: l.Name, MAC: l.HardwareAddr.String(), MTU: l.MTU,
			Up: l.Flags&net.FlagUp != 0, Loopback: l.Flags&net.FlagLoopback != 0,
		}
	}
	return links, err
}

func (*Conn) Addresses() (addresses []Address, err error) {
	list, err := net.Interfaces()
	for _, l := range list {
		of, failed := l.Addrs()
		err = errors.Join(err, failed)
		for _, a := range of {
			if prefix, failed := netip.ParsePrefix(a.String()); failed == nil {
				addresses = append(addresses, Address{Interface: l.Name, Prefix: prefix})
			}
		}
	}
	return addresses, err
}

func (*Conn) Bridges() ([]netstate.Bridge, error) { return nil, unsupported("list bridges") }
func (*Conn) Bonds() ([]netstate.Bond, error)     { return nil, unsupported("list bonds") }

func (*Conn) LinkByName(string) (Link, error)     { return Link{}, unsupported("find interface") }
func (*Conn) ChangeLink(string, LinkChange) error { return unsupported("change link") }
func (*Conn) InterfaceCounters(map[int]string) ([]netstate.InterfaceCounters, error) {
	return nil, unsupported("read interface counters")
}
func (*Conn) Qdiscs(map[int]string) ([]Qdisc, error)            { return nil, unsupported("list qdiscs") }
func (*Conn) HasFilters(string, uint32) (bool, error)           { return false, unsupported("list filters") }
func (*Conn) ReplaceQdisc(string, QdiscSpec) error              { return unsupported("replace qdisc") }
func (*Conn) RestoreQdisc(string, QdiscSpec, []byte) error      { return unsupported("replace qdisc") }
func (*Conn) RestoreLinkQueue(Qdisc) error                      { return unsupported("replace qdisc") }
func (*Conn) DeleteRootQdisc(string) error                      { return unsupported("delete qdisc") }
func (*Conn) HasNetem() error                                   { return unsupported("probe for netem") }
func (*Conn) Shape(Qdisc) (Shape, error)                        { return Shape{}, unsupported("list classes") }
func (Qdisc) Spec() QdiscSpec                                   { return QdiscSpec{} }
func (Qdisc) OptionTexts() map[string]string                    { return nil }
func (*Conn) Neighbours() ([]Neighbour, error)                  { return nil, unsupported("list neighbours") }
func (*Conn) SetNeighbour(string, netip.Addr, string) error     { return unsupported("set neighbour") }
func (*Conn) RestoreNeighbour(Object) error                     { return unsupported("restore neighbour") }
func (*Conn) DeleteNeighbour(string, netip.Addr) error          { return unsupported("delete neighbour") }
func (*Conn) FDB() ([]netstate.FDBEntry, error)                 { return nil, unsupported("list forwarding tables") }
func (*Conn) Routes() ([]Route, error)                          { return nil, unsupported("list routes") }
func (*Conn) MainRoutes(int) ([]Route, int, error)              { return nil, 0, unsupported("list routes") }
func (*Conn) ReplaceRoute(RouteSpec) error                      { return unsupported("replace route") }
func (*Conn) AddRoutes(RouteSpec, iter.Seq[netip.Prefix]) error { return unsupported("add route") }
func (*Conn) DeleteRoutes(RouteSpec, iter.Seq[netip.Prefix]) error {
	return unsupported("delete route")
}
func (*Conn) CountRoutes(RouteSpec, netip.Prefix, netip.Prefix) (int, error) {
	return 0, unsupported("list routes")
}
func (Route) NexthopObject() int { return 0 }

func (*Conn) RestoreRoute(Object, bool) error      { return unsupported("restore route") }
func (*Conn) ExpectRoute(RouteSpec) (Route, error) { return Route{}, unsupported("make route") }
func (*Conn) DeleteRoute(Object) error             { return unsupported("delete route") }
func (*Conn) NexthopObjects() ([]NexthopObject, error) {
	return nil, unsupported("list nexthop objects")
}
func (*Conn) ReplaceNexthopObject(NexthopObject) error { return unsupported("replace nexthop object") }
func (*Conn) RestoreNexthopObject(Object) error        { return unsupported("restore nexthop object") }
func (*Conn) DeleteNexthopObject(int) error            { return unsupported("delete nexthop object") }
func (*Conn) LookupRoute(q netstate.RouteLookup, _ map[int]string) (netstate.RouteLookup, error) {
	return q, unsupported("look up route")
}
func (*Conn) NextHop(netip.Addr) (Neighbour, error) {
	return Neighbour{}, unsupported("look up neighbour")
}
func (*Conn) Rules() ([]Rule, error) { return nil, unsupported("list rules") }
func (*Conn) AddRule(Rule) error     { return unsupported("add rule") }
func (*Conn) DeleteRule(Rule) error  { return unsupported("delete rule") }
func (*Conn) AddAddresses(string, []netip.Prefix) error {
	return unsupported("add address")
}
func (*Conn) DeleteAddresses(string, []netip.Prefix) error {
	return unsupported("delete address")
}
func (*Conn) RestoreAddress(Object) error { return unsupported("restore address") }

func CurrentNetNS() (NetNS, error)          { return NetNS{}, unsupported("identify the network namespace") }
func NamespacedSysctl(string) (bool, error) { return false, errNoNamespaces }

// PacketCapture is not available on this system: OpenPacketCapture fails.
type PacketCapture struct{}

func OpenPacketCapture() (*PacketCapture, error)       { return nil, unsupported("capture packets") }
func (*PacketCapture) Read(visit func(CapturedPacket)) {}
func (*PacketCapture) Dropped() int64                  { return 0 }
func (*PacketCapture) Close() error                    { return nil }

// LinkWatch is not available on this system: WatchLinks fails.
type LinkWatch struct{}

func WatchLinks() (*LinkWatch, error)          { return nil, unsupported("watch links") }
func (*LinkWatch) Close() ([]LinkState, error) { return nil, nil }

// Nftables is not available on this system.
func Nftables() (*netstate.Nftables, error) { return nil, unsupported("list nftables") }

// SocketDiag is not available on this system: DialSocketDiag fails.
type SocketDiag struct{}

func DialSocketDiag() (*SocketDiag, error)     { return nil, unsupported("open socket diagnostics") }
func (*SocketDiag) Watch() error               { return unsupported("watch sockets") }
func (*SocketDiag) Close() error               { return nil }
func (*SocketDiag) TCP(bool) ([]Socket, error) { return nil, unsupported("list sockets") }
func (*SocketDiag) AllTCP() ([]Socket, error)  { return nil, unsupported("list sockets") }
func (*SocketDiag) UDP() ([]Socket, error)     { return nil, unsupported("list sockets") }
func (*SocketDiag) Destroyed() ([]Socket, error) {
	return nil, unsupported("wait for destroyed sockets")
}

var errNoNamespaces = unsupported("make a network namespace")

// Namespace is not available on this system: NewNamespace and every method fail.
type Namespace struct{}

func NewNamespace(string) (*Namespace, error)   { return nil, errNoNamespaces }
func (*Namespace) Name() string                 { return "" }
func (*Namespace) Close()                       {}
func (*Namespace) Do(func() error) error        { return errNoNamespaces }
func (*Namespace) DoAsHost(func() error) error  { return errNoNamespaces }
func (LinkEnd) NewVethPair(LinkEnd) error       { return errNoNamespaces }
func (*Namespace) SetUp(string) error           { return errNoNamespaces }
func (*Namespace) AddBridge(string, bool) error { return errNoNamespaces }
func (*Namespace) SetMaster(_, _ string) error  { return errNoNamespaces }
func (LinkEnd) NewNetemLink(LinkEnd, *Namespace, string, [2]topology.Impairment) error {
	return errNoNamespaces
}
func (*Namespace) Segment(string) error                    { return errNoNamespaces }
func (*Namespace) Shape(string, topology.Impairment) error { return errNoNamespaces }
func HasTun() error                                        { return errNoNamespaces }
func (LinkEnd) NewTap() (*os.File, error)                  { return nil, errNoNamespaces }
func (*Namespace) AddDevice(Device) error                  { return errNoNamespaces }
func (*Namespace) HasDevices(device.Shape) bool            { return false }
func (*Namespace) HasVLANFiltering() bool                  { return false }
func (*Namespace) AddVLAN(string, device.VLAN, bool) error {
	return errNoNamespaces
}
func (*Namespace) AwaitLACP(string, time.Duration) error {
	return errNoNamespaces
}

// unsupported returns the error of an operation that needs Linux.
func unsupported(op string) error {
	return fmt.Errorf("%s: %w: this part of linerate needs Linux", op, errors.ErrUnsupported)
}

// First returns errors.ErrUnsupported.
func First() (bool, error) { return false, errors.ErrUnsupported }
