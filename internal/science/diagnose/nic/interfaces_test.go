package nic_test

import (
	"fmt"
	"strings"
	"testing"

	"linerate/internal/model/cause"
	"linerate/internal/model/netstate"
	"linerate/internal/model/record"

	"linerate/internal/science/diagnose"
	"linerate/internal/science/diagnose/diagnosetest"
	"linerate/internal/science/diagnose/facts"
)

// TestTunnelCounters: a tunnel counts packets that it refuses, or cannot send, by the names of a
// link's errors. These are no faults of a cable.
func TestTunnelCounters(t *testing.T) {
	for _, test := range []struct {
		kind, mac string
		pasted    []string
		tunnel    bool
		ipsec     bool // its packets need a state of IPsec
	}{
		{mac: "02:00:00:00:00:0f"},
		{kind: "ipoib"}, // whose address has 20 bytes
		{kind: "vxlan", mac: "02:00:00:00:00:0f", tunnel: true},
		{kind: "wireguard", tunnel: true},
		{kind: "vti", tunnel: true, ipsec: true},
		{kind: "vti6", tunnel: true, ipsec: true},
		{kind: "xfrm", tunnel: true, ipsec: true},
		{kind: "tun", pasted: []string{"interfaces", "interface counters"}, tunnel: true},
		{pasted: []string{"interfaces", "interface counters"}}, // whose address is masked
		{pasted: []string{"nics", "interface counters"}},       // ethtool -S alone
	} {
		s := diagnosetest.HostNamed("nas", 15)
		s.Pasted = test.pasted
		i, c := &s.Reading.Snapshot.Interfaces[0], &s.Reading.End.Interfaces[0]
		i.Kind, i.MAC = test.kind, test.mac
		c.RxErrors, c.RxCRC, c.RxLength, c.TxCarrier, c.Collisions = 4, 1, 3, 3, 2
		e := diagnose.Hosts([]netstate.HostSnapshot{s})
		for _, id := range []string{"interface-errors", "tx-carrier", "collisions"} {
			list := diagnosetest.FoundBy(e, id)
			if len(list) != 1 {
				t.Errorf("%+v: %s: %+v", test, id, list)
				continue
			}
			f := list[0]
			if args, _ := f.Args.(cause.Tunnel); (args.Kind != "") != test.tunnel || args.IPsec != test.ipsec ||
				test.tunnel && (f.Confidence != record.Likely || len(f.Facts) != 1) {
				t.Errorf("%+v: %s: %+v", test, id, f)
			}
		}
		if found := len(diagnosetest.FoundBy(e, "frames-too-long")) > 0; found == test.tunnel {
			t.Errorf("%+v: frames-too-long is found: %t", test, found)
		}
		for _, d := range e.Drops {
			if d.Counter == "rx_errors" && (d.Kind == record.DropRefused) != test.tunnel {
				t.Errorf("%+v: %+v", test, d)
			}
		}
	}
}

// TestAutonegOff: an end that negotiates becomes half duplex at up to 100 Mbit/s, and has no link
// above (IEEE 802.3, clauses 28 and 40).
func TestAutonegOff(t *testing.T) {
	off := false
	for speed, half := range map[int64]bool{100: true, 1000: false, 10_000: false, 0: false} {
		s := diagnosetest.HostNamed("nas", 15)
		n := &s.State.NICs[0]
		n.SpeedMbps, n.BestMbps, n.Autoneg = speed, 10_000, &off
		if list := diagnosetest.FoundBy(diagnose.Hosts([]netstate.HostSnapshot{s}), "autoneg-off"); len(list) != 1 ||
			(list[0].Args == any(cause.Negotiation{HalfDuplex: true})) != half {
			t.Errorf("%d Mbit/s: %+v", speed, list)
		}
	}
}

// TestDamagedWhileMissed: damaged frames are found also while the ring is full, whether or not the
// driver counts missed packets among its errors.
func TestDamagedWhileMissed(t *testing.T) {
	for _, test := range []struct {
		errors, crc, length, missed uint64
		damaged, dropped            int64
		counter, table              string // of each
	}{
		// ixgbe, mlx5
		{errors: 40, crc: 40, missed: 5000, damaged: 40, dropped: 40, counter: "rx_crc_errors", table: "rx_errors"},
		// the same
		{errors: 60, crc: 40, length: 20, missed: 5000, damaged: 40, dropped: 60, counter: "rx_crc_errors",
			table: "rx_errors"},
		// bnx2x
		{errors: 5040, crc: 40, missed: 5000, damaged: 40, dropped: 40, counter: "rx_errors", table: "rx_errors"},
		{errors: 5000, missed: 5000}, // the same, without damage
		{errors: 20, length: 20, dropped: 20, table: "rx_errors"},
		{crc: 40, damaged: 40, dropped: 40, counter: "rx_crc_errors", table: "rx_crc_errors"}, // which has them apart
		{errors: 7, crc: 40, missed: 5000, damaged: 40, dropped: 40, counter: "rx_crc_errors", table: "rx_crc_errors"},
	} {
		s := diagnosetest.HostNamed("nas", 15)
		c := &s.Reading.End.Interfaces[0]
		c.RxErrors, c.RxCRC, c.RxLength, c.RxMissed = test.errors, test.crc, test.length, test.missed
		e := diagnose.Hosts([]netstate.HostSnapshot{s})
		list := diagnosetest.FoundBy(e, "interface-errors")
		row := fmt.Sprintf(`"name":"%s","grew":%d,`, test.counter, test.damaged)
		if (len(list) > 0) != (test.damaged > 0) ||
			len(list) > 0 && !strings.Contains(diagnosetest.Facts(list[0]), row) {
			t.Errorf("%+v: %+v", test, list)
		}
		dropped, table := int64(0), ""
		for _, d := range e.Drops {
			if d.Counter == "rx_errors" || d.Counter == "rx_crc_errors" {
				dropped, table = dropped+d.Packets, d.Counter
			}
		}
		if dropped != test.dropped || table != test.table {
			t.Errorf("%+v: %d of %s in the table of drops", test, dropped, table)
		}
	}
}

// TestRingSmall: a short ring is likely while it misses packets, and possible where it has missed
// some since the boot.
func TestRingSmall(t *testing.T) {
	for _, test := range []struct {
		begin, end uint64
		driver     int64 // what its own counter grew by
		want       string
	}{{0, 0, 0, ""}, {1, 1, 0, record.Possible}, {1, 8, 0, record.Likely}, {1, 1, 7, record.Likely}} {
		s := diagnosetest.HostNamed("nas", 15)
		s.State.NICs[0].Rings = &netstate.Rings{Rx: 256, MostRx: 4096}
		n := &s.State.NICs[0]
		before := int64(test.begin)
		n.Driver, n.Before, n.Counters, n.CountedS = "igb", map[string]int64{facts.Missed: before},
			map[string]int64{facts.Missed: before + test.driver}, 1
		s.Reading.Begin.Interfaces[0].RxMissed, s.Reading.End.Interfaces[0].RxMissed = test.begin, test.end
		got := ""
		for _, f := range diagnosetest.FoundBy(diagnose.Hosts([]netstate.HostSnapshot{s}), "ring-small") {
			got += f.Confidence
		}
		if got != test.want {
			t.Errorf("missed %d, then %d: %q, want %q", test.begin, test.end, got, test.want)
		}
	}
}

// TestPCIeNarrow: a slot is too slow for the link that there is, and not for one that the port could
// have.
func TestPCIeNarrow(t *testing.T) {
	for _, test := range []struct {
		speed, best int64
		confidence  string
		says        string
	}{
		{25_000, 100_000, record.Possible, `"needed_gbps":25}`},
		{100_000, 100_000, record.Certain, `"needed_gbps":100}`},
		{0, 100_000, record.Certain, `"needed_gbps":100,"of_port":true`},
		{0, 25_000, record.Possible, `"needed_gbps":25,"of_port":true`},
	} {
		s := diagnosetest.HostNamed("nas", 15)
		n := &s.State.NICs[0]
		n.SpeedMbps, n.BestMbps, n.PCIe = test.speed, test.best, &netstate.PCIeLink{Width: 8, MostWidth: 16, GTps: 8,
			MostGTps: 8}
		if list := diagnosetest.FoundBy(diagnose.Hosts([]netstate.HostSnapshot{s}), "pcie-narrow"); len(list) != 1 ||
			list[0].Confidence != test.confidence || !strings.Contains(diagnosetest.Facts(list[0]), test.says) {
			t.Errorf("%+v: %+v", test, list)
		}
	}
}
