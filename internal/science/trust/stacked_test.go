package trust

import (
	"fmt"
	"math"
	"net/netip"
	"slices"
	"strings"
	"testing"

	"linerate/internal/model/device"
	"linerate/internal/model/netstate"
	"linerate/internal/model/record"
	"linerate/internal/model/topology"
)

// above puts an interface on top of each of the receiving host's that counts the same, and
// moves the addresses there, or with keep none; those beneath carry some bytes more.
func above(t *record.Trial, kind string, more float64, keep bool) {
	h := &t.Hosts[0]
	for i, p := range slices.Clone(h.Snapshot.Interfaces) {
		upper := netstate.InterfaceSnapshot{Interface: "upper" + p.Interface, Kind: kind}
		if !keep {
			upper.Addresses, h.Snapshot.Interfaces[i].Addresses = p.Addresses, nil
		}
		h.Snapshot.Interfaces = append(h.Snapshot.Interfaces, upper)
	}
	for _, r := range []*netstate.Reading{&h.Begin, &h.End} {
		for i, c := range slices.Clone(r.Interfaces) {
			r.Interfaces[i].RxBytes += uint64(more * float64(c.RxPackets))
			c.Interface = "upper" + c.Interface
			r.Interfaces = append(r.Interfaces, c)
		}
	}
}

// TestInterfacesOnOthers: what an interface carries is not counted again on the one that its
// packets leave by; where their bytes there are not known, nothing is said.
func TestInterfacesOnOthers(t *testing.T) {
	// vpn puts a tun on each tap of a container, or on each tun without a MAC address.
	vpn := func(more float64, keep, ethernet bool) func(*record.Trial) {
		return func(t *record.Trial) {
			h := &t.Hosts[0]
			for i := range h.Snapshot.Interfaces {
				h.Snapshot.Interfaces[i].Kind = "tun"
				if !ethernet {
					h.Snapshot.Interfaces[i].MAC = ""
				}
			}
			above(t, "tun", more, keep)
			for i := range h.Snapshot.Interfaces {
				h.Snapshot.Interfaces[i].Up = true
			}
		}
	}
	for name, c := range map[string]struct {
		doctor      func(*record.Trial)
		unevaluated bool
	}{
		"WireGuard":                             {func(t *record.Trial) { above(t, "wireguard", 80, false) }, true},
		"tun":                                   {func(t *record.Trial) { above(t, "tun", 69, false) }, true},
		"ppp":                                   {func(t *record.Trial) { above(t, "ppp", 8, false) }, true},
		"Geneve":                                {func(t *record.Trial) { above(t, "geneve", 50, false) }, true},
		"VXLAN":                                 {func(t *record.Trial) { above(t, "vxlan", 50, false) }, false},
		"VLAN":                                  {func(t *record.Trial) { above(t, "vlan", 0, false) }, false},
		"ifb":                                   {func(t *record.Trial) { above(t, "ifb", 0, true) }, false},
		"WireGuard beside":                      {func(t *record.Trial) { above(t, "wireguard", 0, true) }, false},
		"a VPN in a container":                  {vpn(69, false, true), true},
		"a VPN beside in a container":           {vpn(0, true, true), false},
		"a VPN in a container without Ethernet": {vpn(69, false, false), true},
		"by the route": {func(t *record.Trial) {
			above(t, "gre", 24, true)
			f := t.Flows[0]
			t.Hosts[0].Snapshot.Lookups = []netstate.RouteLookup{
				{Source: f.DestinationAddr().String(), Destination: f.SourceAddr().String(), Interface: "uppereth0"}}
		}, true},
		"a bridge over VLANs": {func(t *record.Trial) {
			above(t, "bridge", 0, false)
			t.Hosts[0].Snapshot.Interfaces = append(t.Hosts[0].Snapshot.Interfaces,
				netstate.InterfaceSnapshot{Interface: "eth0.5", Kind: "vlan", Master: "uppereth0"})
		}, true},
		"a bridge with a virtual machine": {func(t *record.Trial) {
			above(t, "bridge", 0, false)
			h := &t.Hosts[0]
			for i := range h.End.Interfaces { // a bridge's are without Ethernet's header
				if p := &h.End.Interfaces[i]; strings.HasPrefix(p.Interface, "upper") {
					p.RxBytes -= 14 * (p.RxPackets - h.Begin.Interfaces[i].RxPackets)
				} else {
					h.Snapshot.Interfaces[i].Master = "upper" + p.Interface
				}
			}
			h.Snapshot.Interfaces = append(h.Snapshot.Interfaces, netstate.InterfaceSnapshot{Interface: "vnet0",
				Kind: "tun", Master: "uppereth0"})
		}, false},
	} {
		tr := trial(4, "writes")
		c.doctor(&tr)
		for _, check := range Trial(tr, nil) {
			if (check.Check == Wire || check.Check == Foreign) && (!check.Pass || check.Unevaluated != c.unevaluated ||
				c.unevaluated && !rests(check, `"carried_again"`)) {
				t.Errorf("%s: %+v", name, check)
			}
		}
	}
	// A lab's links of the emulator.
	tr, over := limitedTrial()
	ports := tr.Hosts[0].Snapshot.Interfaces
	for i := range ports {
		ports[i].Kind = "tun"
	}
	if c := checkOf(t, tr, over, Wire); !c.Pass || c.Unevaluated {
		t.Errorf("taps of the link emulator: %+v", c)
	}
	// Those of a container have nothing else to leave by.
	for _, kind := range []string{"tun", "macvlan"} {
		for i := range ports {
			ports[i].Kind = kind
		}
		if c := checkOf(t, tr, nil, Wire); !c.Pass || c.Unevaluated {
			t.Errorf("%s of a container: %+v", kind, c)
		}
	}
}

// TestHeadersOfUpperInterfaces: the bytes that tunnels and VLANs have beside a flow's headers are
// taken off, or allowed for where it is not known whether they are there.
func TestHeadersOfUpperInterfaces(t *testing.T) {
	const segments = 40 // of a frame that the kernel counts once
	in := func(driver string, more float64) func(*record.Trial) {
		return func(t *record.Trial) {
			hardware(t, driver, func(bytes, packets float64) (float64, float64) {
				return bytes + packets*(segments-1)*66 + packets*segments*more, packets * segments
			})
		}
	}
	for name, c := range map[string]struct {
		kind    string
		local   string // of a tunnel in the topology
		beneath func(*record.Trial)
		allowed float64 // bytes of each packet
	}{
		"VXLAN over IPv4":                 {"vxlan", "", in("virtio_net", 50), 20},
		"VXLAN over IPv6":                 {"vxlan", "", in("virtio_net", 70), 20},
		"VXLAN over IPv4 in the topology": {"vxlan", "10.9.0.1", in("virtio_net", 50), 0},
		"VXLAN over IPv6 in the topology": {"vxlan", "fd00::1", in("virtio_net", 70), 0},
		"a tag that the NIC counts":       {"vlan", "", in("e1000e", 4+4), 4},
		"a tag that it does not count":    {"vlan", "", in("ixgbe", 0), 4},
		"a tag of a virtual interface":    {"vlan", "", func(*record.Trial) {}, 0},
	} {
		tr := trial(4, "writes")
		v := view{Trial: tr, skew: map[string]float64{}}
		want := accounts(v, true)[0]
		c.beneath(&v.Trial)
		above(&v.Trial, c.kind, 0, false)
		if c.local != "" {
			_, v.topology = limitedTrial()
			server, _ := v.topology.Host("server")
			for i := range 4 {
				server.Interfaces = append(server.Interfaces, topology.Interface{Name: fmt.Sprintf("uppereth%d", i),
					Device: device.Device{VXLAN: &device.VXLAN{Remote: netip.MustParseAddr(c.local).Next(),
						Local: netip.MustParseAddr(c.local)}}})
			}
		}
		packets := 0.0
		for _, d := range v.Hosts[0].Deltas() {
			if !strings.HasPrefix(d.Interface, "upper") {
				packets += d.RxPackets
			}
		}
		got := accounts(v, true)[0]
		if others := got.others() - want.others(); others > 1 || others < -c.allowed*packets-1 ||
			math.Abs(got.besides-c.allowed*packets) > 1 || got.wired < want.wired-1 {
			t.Errorf("%s: %.0f bytes of others, allowed %.0f of %.0f packets; payload %.0f, want %.0f", name, others,
				got.besides, packets, got.wired, want.wired)
		}
	}
}
