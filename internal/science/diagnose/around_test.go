package diagnose

import (
	"slices"
	"testing"

	"linerate/internal/model/netstate"
	"linerate/internal/model/record"
	"linerate/internal/model/setting"
	"linerate/internal/model/topology"

	"linerate/internal/science/bottleneck"
	"linerate/internal/science/diagnose/diagnosetest"
)

// aroundRun is a run on a healthy host, real or of a lab, with a trial in which nothing stands out.
func aroundRun(real bool) *record.Run {
	s := diagnosetest.HostNamed("nas", 1)
	host := topology.Host{Name: "nas"}
	if real {
		host.Via = []string{"ssh", "nas"}
	}
	return &record.Run{
		Topology:  topology.Topology{Hosts: []topology.Host{host}},
		Snapshots: []netstate.HostSnapshots{{Host: "nas", Before: &s}},
		Trials: []record.Trial{
			{Treatment: "one", WindowS: 2, Hosts: []netstate.HostReading{diagnosetest.HostNamed("nas", 1).Reading}}},
	}
}

// TestAround: the rules for hosts see a run's snapshots and the counters of its trials; of a
// lab's hosts only what these are by themselves; and not what the study sets.
func TestAround(t *testing.T) {
	growth := map[string]bool{}
	for _, r := range Rules() {
		growth[r.ID] = r.Growth
	}
	scaling := func(r *record.Run) { r.Snapshots[0].Before.State.Parameters["net.ipv4.tcp_window_scaling"] = "0" }
	duplex := func(r *record.Run) { r.Snapshots[0].Before.State.NICs[0].Duplex = "half" }
	overflow := func(r *record.Run) { r.Trials[0].Hosts[0].End.SNMP["Udp.RcvbufErrors"] = 9 }
	forwarded := func(r *record.Run) { r.Trials[0].Hosts[0].End.SNMP["Ip.InAddrErrors"] = 100 }
	resent := func(r *record.Run) { r.Trials[0].Hosts[0].End.SNMP["Tcp.RetransSegs"] = 100 }
	wmem := func(r *record.Run) { r.Snapshots[0].Before.State.Parameters["net.ipv4.tcp_wmem"] = "4096 16384 262144" }
	rmem := func(r *record.Run) {
		r.Snapshots[0].Before.State.Parameters["net.ipv4.tcp_rmem"] = "4096 131072 262144"
	}
	flow := func(f record.Flow) func(*record.Run) {
		return func(r *record.Run) { r.Trials[0].Flows = append(r.Trials[0].Flows, f) }
	}
	queueDrops := func(r *record.Run) {
		h := &r.Trials[0].Hosts[0]
		q := netstate.QdiscCounters{Interface: "eth0", Kind: "tbf", Handle: "1:"}
		h.Begin.Qdiscs = append(h.Begin.Qdiscs, q)
		q.Drops, q.Packets = 5000, 5000
		h.End.Qdiscs = append(h.End.Qdiscs, q)
	}
	oneSubnet := func(r *record.Run) {
		s := &r.Snapshots[0].Before.Reading.Snapshot
		s.Interfaces = append(s.Interfaces, netstate.InterfaceSnapshot{Interface: "eth1", MAC: "02:00:00:00:00:77",
			MTU: 1500, Up: true, Addresses: []string{"192.0.2.77/24"}})
		s.Sysctls = map[string]string{}
		for _, key := range []string{"all.arp_ignore", "all.arp_filter", "all.arp_announce", "eth0.arp_ignore",
			"eth1.arp_ignore", "eth0.arp_filter", "eth1.arp_filter"} {
			s.Sysctls["net.ipv4.conf."+key] = "0"
		}
	}
	for name, test := range map[string]struct {
		real   bool
		change []func(*record.Run)
		known  []record.Finding
		want   []string
	}{
		"a small buffer, and no flow that it holds back": {real: true,
			change: []func(*record.Run){wmem,
				flow(record.Flow{From: "nas", LimitedBy: bottleneck.ReceiverWindow, SndbufBytes: 131072,
					GoodputBps: 39e6, SenderInfo: &netstate.TCPInfo{RTTUs: 10_000}})}},
		"a small buffer of the other direction": {real: true,
			change: []func(*record.Run){wmem, flow(record.Flow{From: "b", To: "nas", LimitedBy: bottleneck.SendBuffer,
				SndbufBytes: 262144})}},
		"a flow that a socket's option holds back": {real: true,
			change: []func(*record.Run){wmem,
				flow(record.Flow{From: "nas", LimitedBy: bottleneck.SendBuffer, SndbufBytes: 65536,
					SenderInfo: &netstate.TCPInfo{}})}},
		"a flow that has its link": {real: true,
			change: []func(*record.Run){wmem,
				flow(record.Flow{From: "nas", LimitedBy: bottleneck.FullLink, SndbufBytes: 262144, GoodputBps: 1e9,
					SenderInfo: &netstate.TCPInfo{RTTUs: 40_000}})}},
		"a flow that the buffer holds back": {real: true,
			change: []func(*record.Run){wmem,
				flow(record.Flow{From: "nas", LimitedBy: bottleneck.SendBuffer, SndbufBytes: 262144,
					SenderInfo: &netstate.TCPInfo{}})}, want: []string{"send-buffer-small"}},
		"a flow that it nearly holds back": {real: true,
			change: []func(*record.Run){wmem,
				flow(record.Flow{From: "nas", LimitedBy: bottleneck.ReceiverWindow, SndbufBytes: 262144,
					GoodputBps: 39e6, SenderInfo: &netstate.TCPInfo{RTTUs: 40_000}})},
			want: []string{"send-buffer-small"}},
		"a flow that the receive buffer holds back": {real: true,
			change: []func(*record.Run){rmem,
				flow(record.Flow{To: "nas", LimitedBy: bottleneck.ReceiverWindow, RcvbufBytes: 262144})},
			want: []string{"receive-buffer-small"}},
		"a small receive buffer that holds back none": {real: true,
			change: []func(*record.Run){rmem,
				flow(record.Flow{To: "nas", LimitedBy: bottleneck.ReceiverWindow, RcvbufBytes: 65536})}},
		"a lab, of which one host has the parameters of all": {
			change: []func(*record.Run){rmem,
				flow(record.Flow{From: "nas", To: "b", LimitedBy: bottleneck.ReceiverWindow, RcvbufBytes: 262144})},
			want: []string{"receive-buffer-small"}},
		"a queue that drops, of a flow that has its link": {real: true, change: []func(*record.Run){queueDrops,
			flow(record.Flow{From: "nas", LimitedBy: bottleneck.FullLink})}},
		"a queue that holds a flow back": {real: true, change: []func(*record.Run){queueDrops,
			flow(record.Flow{From: "nas", LimitedBy: bottleneck.InterfaceQueue})}, want: []string{"qdisc-drop"}},
		"another real host": {real: true,
			change: []func(*record.Run){rmem,
				flow(record.Flow{From: "nas", To: "b", LimitedBy: bottleneck.ReceiverWindow, RcvbufBytes: 262144})}},
		"healthy":     {real: true},
		"healthy lab": {},
		"parameter": {real: true, change: []func(*record.Run){scaling},
			want: []string{"window-scaling-off"}},
		"parameter of a lab": {change: []func(*record.Run){scaling},
			want: []string{"window-scaling-off"}},
		"NIC": {real: true, change: []func(*record.Run){duplex},
			want: []string{"half-duplex"}},
		"NIC of a lab": {change: []func(*record.Run){duplex}},
		"counters of a trial": {real: true, change: []func(*record.Run){overflow,
			forwarded}, want: []string{"udp-buffer-overflow", "not-for-us"}},
		"counters of a lab's trial": {change: []func(*record.Run){overflow, forwarded},
			want: []string{"udp-buffer-overflow"}},
		"what full paths bring about": {real: true, change: []func(*record.Run){resent}},
		"what trials look for":        {real: true, change: []func(*record.Run){oneSubnet}},
		"known": {real: true, change: []func(*record.Run){overflow},
			known: []record.Finding{{ID: "udp-queue-full", Host: "nas"}}},
		"known of another host": {real: true, change: []func(*record.Run){overflow},
			known: []record.Finding{{ID: "udp-queue-full", Host: "other"}}, want: []string{"udp-buffer-overflow"}},
		"one explains another": {real: true, change: []func(*record.Run){overflow,
			func(r *record.Run) { r.Snapshots[0].Before.State.Parameters["net.core.rmem_default"] = "4096" }},
			want: []string{"udp-buffer-overflow", "udp-buffer-default-small"}},
		"the topology sets it": {change: []func(*record.Run){scaling, func(r *record.Run) {
			r.Topology.Hosts[0].Sysctls = []setting.Sysctl{{Key: "net.ipv4.tcp_window_scaling", Value: "0"}}
		}}},
		"the treatment sets it": {change: []func(*record.Run){overflow, func(r *record.Run) {
			r.Trials[0].Settings = []record.Applied{{Host: "nas", Kind: "sysctl", What: "net.core.rmem_max"}}
		}}},
		"the treatment sets another": {change: []func(*record.Run){overflow, func(r *record.Run) {
			r.Trials[0].Settings = []record.Applied{{Host: "nas", Kind: "sysctl", What: "net.core.rmem"}}
		}}, want: []string{"udp-buffer-overflow"}},
		"another host's is set": {change: []func(*record.Run){overflow, func(r *record.Run) {
			r.Trials[0].Settings = []record.Applied{{Host: "b", Kind: "sysctl", What: "net.core.rmem_max"}}
		}}, want: []string{"udp-buffer-overflow"}},
		"without snapshots": {real: true, change: []func(*record.Run){scaling, overflow, func(r *record.Run) {
			r.Snapshots = nil
		}}, want: []string{"udp-buffer-overflow"}},
		"the latest snapshot counts": {real: true, change: []func(*record.Run){scaling, func(r *record.Run) {
			s := diagnosetest.HostNamed("nas", 1)
			r.Snapshots[0].After = &s
		}}},
	} {
		run := aroundRun(test.real)
		for _, change := range test.change {
			change(run)
		}
		var ids []string
		for _, f := range Around(run, test.known) {
			ids = append(ids, f.ID)
			if slices.Equal(f.Treatments, []string{"one"}) != growth[f.ID] {
				t.Errorf("%s: %s in %q", name, f.ID, f.Treatments)
			}
		}
		slices.Sort(ids)
		slices.Sort(test.want)
		if !slices.Equal(ids, test.want) {
			t.Errorf("%s: found %q, want %q", name, ids, test.want)
		}
	}
}
