package trust

import (
	"encoding/json"
	"strings"
	"testing"

	"linerate/internal/model/netstate"
	"linerate/internal/model/record"
)

// oneWay is a direction of 10 s at 800 Mbit/s with a peer that had 10.1 s.
func oneWay(counted string, there int64) record.Part {
	p := record.Part{
		From: record.NodeClient, To: record.NodeServer, Flows: 1, TotalBytes: 1_110_000_000, GoodputBps: 800e6,
		ReceivedBytes: 1_000_000_000, LimitBps: 941e6, Counted: counted,
		Peer: &record.PeerCount{Bytes: there, Seconds: 10.1, OmitS: 1, GoodputBps: float64(there) * 8 / 10.1},
	}
	if counted == record.CountedReceived {
		p.From, p.To = p.To, p.From
	}
	return p
}

// withPeer is a trial of such parts.
func withPeer(protocol string, parts ...record.Part) record.Trial {
	t := record.Trial{WindowS: 10, Hosts: []netstate.HostReading{{Host: record.NodeClient}}, Parts: parts}
	for _, p := range parts {
		t.Flows = append(t.Flows, record.Flow{From: p.From, To: p.To, Protocol: protocol})
	}
	return t
}

func udp(p record.Part) record.Part {
	p.Datagrams = &record.Datagrams{}
	return p
}

// TestPeer: what the other end says is held against what is known here, as far as
// its time and its buffers allow.
func TestPeer(t *testing.T) {
	const acked, got, there = record.CountedAcknowledged, record.CountedReceived, record.CountedByPeer
	for _, test := range []struct {
		name   string
		d      record.Part
		change func(*record.Part)
		fails  string // empty: passes
		fact   string
	}{
		{"sent as much as received", oneWay(acked, 1_008_000_000), nil, "",
			`"all_bytes":1110000000,"window_bytes":1000000000}`},
		{"received more than was sent", oneWay(acked, 1_111_000_000), nil, Conservation + " " + Agreement,
			`"expected":{"least_bytes":988627856,"most_bytes":1110000001}`},
		{"received less than was acknowledged in the window", oneWay(acked, 950_000_000), nil, Conservation + " " +
			Agreement, ""},
		{"idle beyond the window", oneWay(acked, 1_000_000_000), func(d *record.Part) {
			d.Peer.Seconds, d.Peer.GoodputBps = 12, 1e9*8/12.0
		}, "", `"least":-0.1833`},
		{"everything counted, and lost", oneWay(acked, 1_008_000_000), func(d *record.Part) {
			d.Peer.OmitS = 0
		}, Conservation, ""},
		{"everything counted", oneWay(acked, 1_110_000_000), func(d *record.Part) {
			d.Peer.OmitS, d.Peer.GoodputBps = 0, 801e6
		}, "", ""},
		{"no time reported", oneWay(acked, 1_008_000_000), func(d *record.Part) {
			d.Peer.Seconds, d.Peer.GoodputBps = 0, 0
		}, "", ""},
		{"above the limit", oneWay(acked, 1_008_000_000), func(d *record.Part) {
			d.LimitBps = 700e6
		}, Agreement, `"limit_bps":700000000,`},
		{"hours", oneWay(acked, 1_008_000_000), func(d *record.Part) {
			d.Peer.Seconds = 12_000
		}, "", `"seconds":12000`},
		{"hours, by its word alone", oneWay(there, 1_008_000_000), func(d *record.Part) {
			d.Peer.Seconds = 12_000
		}, "", `"seconds":12000`},
		{"wrote what was read", oneWay(got, 1_010_000_000), nil, "", `{"direction":"read","peer_bytes":1010000000,`},
		{"a sender above the limit", oneWay(got, 1_010_000_000), func(d *record.Part) { d.LimitBps = 700e6 }, "", ""},
		{"wrote more than came", oneWay(got, 1_200_000_000), func(d *record.Part) {
			d.Peer.GoodputBps = 801e6
		}, Conservation, ""},
		{"wrote less than came", oneWay(got, 900_000_000), nil, Conservation + " " + Agreement, ""},
		{"its own word alone", udp(oneWay(there, 1_008_000_000)), nil, "", `"udp":true,"sends":true,"peer_bytes":1008000000,"all_bytes":1110000000,`},
		{"datagrams from nowhere", udp(oneWay(there, 1_120_000_000)), nil, Conservation, ""},
		{"datagrams received that were not sent", udp(oneWay(got, 900_000_000)), func(d *record.Part) {
			d.Peer.GoodputBps = 800e6
		}, Conservation, ""},
	} {
		if test.change != nil {
			test.change(&test.d)
		}
		var failed []string
		said := ""
		protocol := "tcp"
		if test.d.Datagrams != nil {
			protocol = "udp"
		}
		for _, c := range peer(withPeer(protocol, test.d)) {
			text, _ := json.Marshal(c.Facts)
			said += string(text) + "\n"
			if !c.Pass {
				failed = append(failed, c.Check)
			}
		}
		if got := strings.Join(failed, " "); got != test.fails || !strings.Contains(said, test.fact) {
			t.Errorf("%s: failed %q, want %q, and %s:\n%s", test.name, got, test.fails, test.fact, said)
		}
	}
	both := peer(withPeer("tcp", oneWay(acked, 1_008_000_000), oneWay(got, 900_000_000), record.Part{}))
	if len(both) != 2 || both[0].Pass || !rests(both[0], `"write"`) || !rests(both[0], `"read"`) {
		t.Errorf("two directions: %+v", both)
	}
	if list := peer(withPeer("tcp", record.Part{})); len(list) != 0 {
		t.Errorf("no peer: %+v", list)
	}
}
