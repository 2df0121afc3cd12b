package conformance

import (
	"fmt"
	"net/netip"
	"time"

	"linerate/internal/control/notebook"
	"linerate/internal/model/netstate"
	"linerate/internal/model/record"
	"linerate/internal/model/topology"
)

// Started is the start time of every run in the suite.
var Started = time.Date(2024, 2, 29, 23, 59, 58, 123456789, time.UTC)

// Run returns the record of a run that is about to begin.
func Run(study string, seed uint64) *record.Run {
	address := func(text string) topology.Address {
		prefix := netip.MustParsePrefix(text)
		return topology.Address{First: prefix.Addr(), Last: prefix.Addr(), Bits: prefix.Bits()}
	}
	return &record.Run{
		Schema:    record.RunSchema,
		ID:        notebook.ProposeID(study, seed),
		Study:     study,
		Question:  "Does “everything” come back — é, 你, <&>, \u2028?",
		Seed:      seed,
		Started:   Started,
		Unit:      "MB/s",
		Responses: []string{"latency_p99", "goodput"},
		Factors: []record.Factor{{Name: "fix", Role: "compare", Baseline: "kernel defaults", Levels: []record.Level{
			{Name: "kernel defaults"}, {Name: "arp_ignore=1", Settings: 1,
				SettingLines: []string{"server: sysctl net.ipv4.conf.all.arp_ignore=1"}},
		}}},
		Topology: topology.Topology{
			Hosts: []topology.Host{
				{Name: "server", Interfaces: []topology.Interface{
					{Name: "eth0", Addresses: []topology.Address{address("192.168.1.15/24"), address("fd00::1/64")}}}},
				{Name: "client1", Via: []string{"ip", "netns", "exec", "blue"}, Interfaces: []topology.Interface{
					{Name: "eth0"}}},
			},
			Switches: []topology.Switch{{Name: "switch"}},
			Links: []topology.Link{
				{From: topology.End{Node: "server", Interface: "eth0"}, To: topology.End{Node: "switch"},
					Impairment: topology.Impairment{Rate: 1e9}},
				{From: topology.End{Node: "client1", Interface: "eth0"}, To: topology.End{Node: "switch"}}, // no rate
			},
		},
		Environment: record.Environment{Version: "1", Mode: "lab, rootless", Hosts: []netstate.HostEnvironment{
			{Host: "server", Kernel: "6.18.1"}}},
		Confidence: 0.95,
		Margin:     0.02,
		StudyFile:  "# a comment\nstudy: " + study + "\n",
		Again:      fmt.Sprintf("linerate run %s --seed %d", study, seed),
	}
}

// Trial returns the record of a trial whose place in its run is order.
func Trial(order int) record.Trial {
	return record.Trial{
		Treatment:  "writes, kernel defaults",
		Levels:     map[string]string{"direction": "writes", "fix": "kernel defaults"},
		Block:      1 + order/2,
		Order:      order,
		Started:    Started.Add(time.Duration(order) * 1500 * time.Millisecond),
		WindowS:    1.000000123,
		GoodputBps: 956.4e6 + 1.0/3,
		LimitBps:   956.4e6,
		// What flows of other protocols than tcp add.
		TransactionsPerS: 1e5 / 3.0,
		Latency: &record.Distribution{Count: 1 << 40, MinUs: 0.001, P99Us: 1.0 / 3,
			Histogram: []byte{0, 0xff, 0x1f, 0x8b}},
		Datagrams: &record.Datagrams{Sent: 1<<53 + 1, Received: 1 << 53, Lost: 1},
		Flows: []record.Flow{{
			ID: "1", From: "client1", To: "server", ReceivedBytes: 1<<53 + 1,
			Path:      []string{"client1.eth0", "server.eth0"},
			Connected: true, SenderInfo: &netstate.TCPInfo{RTTUs: 40, BytesAcked: 1<<64 - 1}, Bins: []int64{1, 2, 3},
		}},
		Hosts: []netstate.HostReading{{
			Host:  "server",
			Begin: netstate.Reading{BeganNs: 17, SNMP: map[string]int64{"TcpExt.TCPTimeouts": 1}},
			End:   netstate.Reading{Interfaces: []netstate.InterfaceCounters{{Interface: "eth0", RxBytes: 1<<64 - 1}}},
			Snapshot: netstate.Snapshot{Host: "server", Tables: netstate.Tables{
				Neighbours: []netstate.Neighbour{{Interface: "eth0", Address: "192.168.1.101", State: "FAILED"}},
			}},
		}},
		Clocks: []record.Clock{{Host: "server", OffsetNs: -12, UncertaintyNs: 900}},
	}
}
