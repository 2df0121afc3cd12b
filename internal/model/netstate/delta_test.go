package netstate_test

import (
	"encoding/json"
	"fmt"
	"math"
	"testing"

	. "linerate/internal/model/netstate"
)

func TestDeltas(t *testing.T) {
	h := HostReading{
		Begin: Reading{Interfaces: []InterfaceCounters{{Interface: "eth0", RxBytes: 100, TxBytes: 50, RxPackets: 3,
			RxMissed: 2, AtNs: 1e9}, {Interface: "gone"}}, SNMP: map[string]int64{"Tcp.RetransSegs": 4}},
		End: Reading{Interfaces: []InterfaceCounters{{Interface: "new"},
			{Interface: "eth0", RxBytes: 600, TxBytes: 20, RxPackets: 8, RxMissed: 9, AtNs: 3e9}},
			SNMP: map[string]int64{"Tcp.RetransSegs": 9}},
	}
	list := h.Deltas()
	if len(list) != 1 || list[0].Interface != "eth0" {
		t.Fatalf("interfaces at both edges: %+v", list)
	}
	d := list[0]
	if d.Seconds != 2 || d.RxBps() != 2000 || d.RxPackets != 5 || d.RxMissed != 7 {
		t.Errorf("500 bytes in 2 s: %+v, %g bit/s", d, d.RxBps())
	}
	if d.TxBps() != 0 {
		t.Errorf("a counter that ran backwards counts %g", d.TxBps())
	}
	if (InterfaceDelta{RxBytes: 9}).RxBps() != 0 {
		t.Error("a rate over no time")
	}
	if h.SNMPDelta("Tcp.RetransSegs") != 5 || h.SNMPDelta("unknown") != 0 {
		t.Error("SNMP deltas")
	}
	h.Begin.Own, h.End.Own = map[string]int64{"Tcp.RetransSegs": 1}, map[string]int64{"Tcp.RetransSegs": 4}
	if n := h.OthersDelta("Tcp.RetransSegs"); n != 2 {
		t.Errorf("without what linerate caused: %d", n)
	}
	if h.End.Own["Tcp.RetransSegs"] = 99; h.OthersDelta("Tcp.RetransSegs") != 0 {
		t.Error("less than nothing grew")
	}
}

// TestHeaderlessDelta: a bridge and a team count what they receive without the Ethernet header.
func TestHeaderlessDelta(t *testing.T) {
	h := HostReading{Snapshot: Snapshot{Interfaces: []InterfaceSnapshot{{Interface: "br0", Kind: "bridge"},
		{Interface: "team0", Kind: "team"}, {Interface: "eth0", Kind: "veth"}}}}
	for _, name := range []string{"br0", "team0", "eth0"} {
		carried(&h, name)
	}
	list := h.Deltas()
	if list[0].RxBytes != 1514 || list[0].TxBytes != 1514 || list[1].RxBytes != 1514 || list[2].RxBytes != 1500 {
		t.Errorf("%+v", list)
	}
}

// carried has an interface receive and send a frame.
func carried(h *HostReading, name string) {
	h.Begin.Interfaces = append(h.Begin.Interfaces, InterfaceCounters{Interface: name})
	h.End.Interfaces = append(h.End.Interfaces, InterfaceCounters{Interface: name, RxBytes: 1500, TxBytes: 1514,
		RxPackets: 1, TxPackets: 1})
}

// TestBondDelta: a bond counts as its members do.
func TestBondDelta(t *testing.T) {
	for name, c := range map[string]struct {
		drivers  []string
		known    bool
		rx       float64
		refreshS float64
	}{
		"check sequences":        {[]string{"e1000e", "e1000e"}, true, 1496, 0},
		"none":                   {[]string{"ixgbe", "i40e"}, true, 1500, 0},
		"one of two":             {[]string{"e1000e", "ixgbe"}, false, 1500, 0},
		"one not known":          {[]string{"e1000e", ""}, false, 1500, 0},
		"refreshed":              {[]string{"ixgbe", "tg3"}, true, 1500, 1},
		"refreshed or not known": {[]string{"", "bnxt_en"}, false, 1500, 1},
	} {
		h := HostReading{Snapshot: Snapshot{Interfaces: []InterfaceSnapshot{{Interface: "bond0", Kind: "bond"},
			{Interface: "eth9", Driver: "other"}}}}
		for i, driver := range c.drivers {
			h.Snapshot.Interfaces = append(h.Snapshot.Interfaces, InterfaceSnapshot{Interface: fmt.Sprintf("eth%d", i),
				Driver: driver, Master: "bond0"})
		}
		carried(&h, "bond0")
		if d := h.Deltas()[0]; d.Known != c.known || d.RxBytes != c.rx || d.Counting.RefreshS != c.refreshS {
			t.Errorf("%s: %+v", name, d)
		}
	}
	// Records of a peer may say anything.
	h := HostReading{Snapshot: Snapshot{
		Interfaces: []InterfaceSnapshot{{Interface: "bond0", Kind: "bond", Master: "bond0"}}}}
	carried(&h, "bond0")
	if d := h.Deltas()[0]; d.Known {
		t.Errorf("a bond in itself: %+v", d)
	}
}

// TestQdiscAtBegin: a qdisc is found among those of its kind and handle by its parent. Records in
// which no parent was kept are read all the same.
func TestQdiscAtBegin(t *testing.T) {
	var h HostReading
	if err := json.Unmarshal([]byte(`{"begin": {"qdiscs": [
		{"interface": "eth0", "kind": "mq", "handle": "0:", "parent": "root", "drops": 9},
		{"interface": "eth0", "kind": "fq_codel", "handle": "0:", "parent": "0:1", "drops": 2},
		{"interface": "eth0", "kind": "fq_codel", "handle": "0:", "parent": "0:2", "drops": 7},
		{"interface": "old", "kind": "tbf", "handle": "1:", "drops": 4}]}}`), &h); err != nil {
		t.Fatal(err)
	}
	for _, b := range h.Begin.Qdiscs {
		now := b
		now.Drops, now.Backlog = b.Drops+5, 1514
		if got, ok := h.QdiscsAtBegin()[now.Key()]; !ok || got != b {
			t.Errorf("%+v: %+v, %t", now, got, ok)
		}
	}
	other := QdiscCounters{Interface: "eth0", Kind: "fq_codel", Handle: "0:", Parent: "0:3"}
	if got, ok := h.QdiscsAtBegin()[other]; ok {
		t.Errorf("one that was not there: %+v", got)
	}
}

// TestDoubt: between readings the count is that of a line, which may be wrong where the rate changed
// around it, and is right at the readings and at a steady rate.
func TestDoubt(t *testing.T) {
	at := func(s float64, bytes uint64) Reading {
		return Reading{Interfaces: []InterfaceCounters{{Interface: "eth0", RxBytes: bytes, AtNs: int64(s * 1e9)}}}
	}
	series := func(late float64, bytes uint64) HostReading {
		h := HostReading{Begin: at(0, 0), End: at(4, 4000)}
		for _, r := range []Reading{at(1, 1000), at(2+late, bytes), at(3, 3000)} {
			h.Series = append(h.Series, Sample{Interfaces: r.Interfaces, AtNs: r.Interfaces[0].AtNs})
		}
		return h
	}
	for name, c := range map[string]struct {
		h        HostReading
		to       float64
		bytes, d float64
	}{
		"steady":                      {series(0, 2000), 2.4, 2400, 0},
		"at a reading":                {series(0.2, 2000), 2.2, 2000, 0},
		"between, where rates differ": {series(0.2, 2000), 2, 1833, 83},
	} {
		got, ok := c.h.Between("eth0", 0, int64(c.to*1e9))
		if !ok || math.Abs(got.RxBytes-c.bytes) > 1 || math.Abs(got.RxDoubt-c.d) > 1 || got.TxDoubt != 0 {
			t.Errorf("%s: %.0f bytes, doubt %.0f", name, got.RxBytes, got.RxDoubt)
		}
	}
}
