package trust

import (
	"slices"
	"strings"
	"testing"

	"linerate/internal/model/record"
)

// above puts an interface on top of each of the receiving host's that counts the same, and
// moves the addresses there, or with keep none; those beneath carry some bytes more.
func above(t *record.Trial, kind string, more float64, keep bool) {
	h := &t.Hosts[0]
	for i, p := range slices.Clone(h.Snapshot.Interfaces) {
		upper := record.InterfaceSnapshot{Interface: "upper" + p.Interface, Kind: kind}
		if !keep {
			upper.Addresses, h.Snapshot.Interfaces[i].Addresses = p.Addresses, nil
		}
		h.Snapshot.Interfaces = append(h.Snapshot.Interfaces, upper)
	}
	for _, r := range []*record.Reading{&h.Begin, &h.End} {
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
	const unknown = "leave by another interface"
	for name, c := range map[string]struct {
		doctor      func(*record.Trial)
		unevaluated bool
	}{
		"WireGuard":        {func(t *record.Trial) { above(t, "wireguard", 80, false) }, true},
		"tun":              {func(t *record.Trial) { above(t, "tun", 69, false) }, true},
		"ppp":              {func(t *record.Trial) { above(t, "ppp", 8, false) }, true},
		"Geneve":           {func(t *record.Trial) { above(t, "geneve", 50, false) }, true},
		"VXLAN":            {func(t *record.Trial) { above(t, "vxlan", 50, false) }, false},
		"VLAN":             {func(t *record.Trial) { above(t, "vlan", 0, false) }, false},
		"ifb":              {func(t *record.Trial) { above(t, "ifb", 0, true) }, false},
		"WireGuard beside": {func(t *record.Trial) { above(t, "wireguard", 0, true) }, false},
		"by the route": {func(t *record.Trial) {
			above(t, "gre", 24, true)
			f := t.Flows[0]
			t.Hosts[0].Snapshot.Lookups = []record.RouteLookup{{Source: f.DestinationAddr().String(), Destination: f.SourceAddr().String(), Interface: "uppereth0"}}
		}, true},
		"a bridge over VLANs": {func(t *record.Trial) {
			above(t, "bridge", 0, false)
			t.Hosts[0].Snapshot.Interfaces = append(t.Hosts[0].Snapshot.Interfaces, record.InterfaceSnapshot{Interface: "eth0.5", Kind: "vlan", Master: "uppereth0"})
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
			h.Snapshot.Interfaces = append(h.Snapshot.Interfaces, record.InterfaceSnapshot{Interface: "vnet0", Kind: "tun", Master: "uppereth0"})
		}, false},
	} {
		tr := trial(4, "writes")
		c.doctor(&tr)
		for _, check := range Trial(tr, nil) {
			if (check.Check == Wire || check.Check == Foreign) && (!check.Pass || check.Unevaluated != c.unevaluated || c.unevaluated && !strings.Contains(check.Detail, unknown)) {
				t.Errorf("%s: %+v", name, check)
			}
		}
	}
	// A lab's links of the emulator.
	tr, over := limitedTrial()
	for i := range tr.Hosts[0].Snapshot.Interfaces {
		tr.Hosts[0].Snapshot.Interfaces[i].Kind = "tun"
	}
	if c := checkOf(t, tr, over, Wire); !c.Pass || c.Unevaluated {
		t.Errorf("taps of the link emulator: %+v", c)
	}
}
