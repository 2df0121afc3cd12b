package device

import (
	"cmp"
	"net/netip"
)

// VXLAN carries Ethernet frames in UDP between two hosts (RFC 7348).
type VXLAN struct {
	ID     int        `yaml:"id,required" json:"id" doc:"the VXLAN network identifier, 1 to 16777215; both ends have the same"`
	Local  netip.Addr `yaml:"local,required" json:"local" doc:"the host's own address, on another of its interfaces"`
	Remote netip.Addr `yaml:"remote,required" json:"remote" doc:"the address of the other end"`
	Port   int        `yaml:"port" json:"port,omitempty" doc:"UDP port; 4789 when absent"`
}

// Overhead of VXLAN in front of the inner IP header: the outer IP header, UDP, VXLAN and the inner
// Ethernet header (RFC 7348, section 5).
const (
	vxlanOverIPv4 = 20 + 8 + 8 + 14
	vxlanOverIPv6 = 40 + 8 + 8 + 14
	vxlanPort     = 4789
)

// Shape implements Kind.
func (v *VXLAN) Shape(Device, string) Shape {
	const id, remote, local, learning, port, remote6, local6 = 1, 2, 4, 7, 15, 16, 17 // IFLA_VXLAN_*
	s := Shape{
		Kind: "vxlan", Key: "vxlan", Config: "CONFIG_VXLAN", Module: "vxlan",
		Tunnel: &Tunnel{v.Local, v.Remote, v.ID}, Overhead: vxlanOverIPv4,
	}
	peer, own := Attribute{Type: remote, Value: v.Remote.AsSlice()}, Attribute{Type: local, Value: v.Local.AsSlice()}
	if v.Remote.Is6() {
		peer.Type, own.Type, s.Overhead = remote6, local6, vxlanOverIPv6
	}
	number := cmp.Or(v.Port, vxlanPort)
	s.Attributes = []Attribute{{Type: id, Value: uint32(v.ID)}, peer, own, {Type: learning, Value: uint8(1)},
		{Type: port, Value: uint16(number), BigEndian: true}}
	return s
}

// Check implements Kind.
func (v *VXLAN) Check(report func(key, format string, args ...any)) {
	const most = 1<<24 - 1
	switch {
	case v.ID < 1 || v.ID > most:
		report(".id", "VXLAN identifier %d: expected 1 to %d", v.ID, most)
	case v.Remote.Is4() != v.Local.Is4() || v.Remote == v.Local || v.Remote.IsMulticast():
		report(".remote", "a tunnel from %s to %s: expected two different unicast addresses of one family",
			v.Local, v.Remote)
	case v.Port < 0 || v.Port > 65535:
		report(".port", "port %d: expected 1 to 65535", v.Port)
	}
}
