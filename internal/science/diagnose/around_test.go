package diagnose

import (
	"slices"
	"testing"

	"linerate/internal/model/record"
	"linerate/internal/model/setting"
	"linerate/internal/model/topology"
)

// aroundRun is a run on a healthy host, real or of a lab, with a trial in which nothing stands out.
func aroundRun(real bool) *record.Run {
	s := hostNamed("nas", 1)
	host := topology.Host{Name: "nas"}
	if real {
		host.Via = []string{"ssh", "nas"}
	}
	return &record.Run{
		Topology:  topology.Topology{Hosts: []topology.Host{host}},
		Snapshots: []record.HostSnapshots{{Host: "nas", Before: &s}},
		Trials:    []record.Trial{{Treatment: "one", WindowS: 2, Hosts: []record.HostReading{hostNamed("nas", 1).Reading}}},
	}
}

// TestAround: the rules for hosts see a run's snapshots and the counters of its trials; of a
// lab's hosts only what these are by themselves; and not what the study sets.
func TestAround(t *testing.T) {
	scaling := func(r *record.Run) { r.Snapshots[0].Before.State.Parameters["net.ipv4.tcp_window_scaling"] = "0" }
	duplex := func(r *record.Run) { r.Snapshots[0].Before.State.NICs[0].Duplex = "half" }
	overflow := func(r *record.Run) { r.Trials[0].Hosts[0].End.SNMP["Udp.RcvbufErrors"] = 9 }
	forwarded := func(r *record.Run) { r.Trials[0].Hosts[0].End.SNMP["Ip.InAddrErrors"] = 100 }
	resent := func(r *record.Run) { r.Trials[0].Hosts[0].End.SNMP["Tcp.RetransSegs"] = 100 }
	oneSubnet := func(r *record.Run) {
		s := &r.Snapshots[0].Before.Reading.Snapshot
		s.Interfaces = append(s.Interfaces, record.InterfaceSnapshot{Interface: "eth1", MAC: "02:00:00:00:00:77", MTU: 1500, Up: true, Addresses: []string{"192.0.2.77/24"}})
		s.Sysctls = map[string]string{}
		for _, key := range []string{"all.arp_ignore", "all.arp_filter", "all.arp_announce", "eth0.arp_ignore", "eth1.arp_ignore", "eth0.arp_filter", "eth1.arp_filter"} {
			s.Sysctls["net.ipv4.conf."+key] = "0"
		}
	}
	for name, test := range map[string]struct {
		real   bool
		change []func(*record.Run)
		known  []record.Finding
		want   []string
	}{
		"healthy":                     {real: true},
		"healthy lab":                 {},
		"parameter":                   {real: true, change: []func(*record.Run){scaling}, want: []string{"window-scaling-off"}},
		"parameter of a lab":          {change: []func(*record.Run){scaling}, want: []string{"window-scaling-off"}},
		"NIC":                         {real: true, change: []func(*record.Run){duplex}, want: []string{"half-duplex"}},
		"NIC of a lab":                {change: []func(*record.Run){duplex}},
		"counters of a trial":         {real: true, change: []func(*record.Run){overflow, forwarded}, want: []string{"udp-buffer-overflow", "not-for-us"}},
		"counters of a lab's trial":   {change: []func(*record.Run){overflow, forwarded}, want: []string{"udp-buffer-overflow"}},
		"what full paths bring about": {real: true, change: []func(*record.Run){resent}},
		"what trials look for":        {real: true, change: []func(*record.Run){oneSubnet}},
		"known":                       {real: true, change: []func(*record.Run){overflow}, known: []record.Finding{{ID: "udp-queue-full", Host: "nas"}}},
		"known of another host":       {real: true, change: []func(*record.Run){overflow}, known: []record.Finding{{ID: "udp-queue-full", Host: "other"}}, want: []string{"udp-buffer-overflow"}},
		"one explains another":        {real: true, change: []func(*record.Run){overflow, func(r *record.Run) { r.Snapshots[0].Before.State.Parameters["net.core.rmem_default"] = "4096" }}, want: []string{"udp-buffer-overflow", "udp-buffer-default-small"}},
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
		"without snapshots":          {real: true, change: []func(*record.Run){scaling, overflow, func(r *record.Run) { r.Snapshots = nil }}, want: []string{"udp-buffer-overflow"}},
		"the latest snapshot counts": {real: true, change: []func(*record.Run){scaling, func(r *record.Run) { s := hostNamed("nas", 1); r.Snapshots[0].After = &s }}},
	} {
		run := aroundRun(test.real)
		for _, change := range test.change {
			change(run)
		}
		var ids []string
		for _, f := range Around(run, test.known) {
			ids = append(ids, f.ID)
			if slices.Equal(f.Treatments, []string{"one"}) != ruleOf(f.ID).growth {
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
