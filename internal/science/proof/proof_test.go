package proof

import (
	"errors"
	"net/netip"
	"slices"
	"strings"
	"testing"

	"linerate/internal/model/netstate"
	"linerate/internal/model/record"
	"linerate/internal/model/setting"
	"linerate/internal/model/study"
)

const nas = `
study: nas
published: [x.csv]
topology:
  hosts:
    nas: {interfaces: {"eth{p=0..1}": {addresses: ["192.168.1.1{p}/24"]}}}
    client: {interfaces: {eth0: {addresses: [192.168.1.101/24]}}}
  switches: {switch: {}}
  links:
    - {from: "nas.eth{0..1}", to: switch, rate: 1gbit}
    - {from: client, to: switch, rate: 2gbit}
workload:
  duration: 1s
  flows: [{from: client, to: nas}]
factors:
  direction: {role: condition, levels: {writes: {workload: {direction: write}}, reads: {workload: {direction: read}}}}
  fix:
    baseline: defaults
    levels:
      other: {against: filtered}
      defaults: {}
      filtered: {unreachable: true, settings: [{host: nas, sysctl: {net.ipv4.conf.all.arp_ignore: 2, net.ipv4.conf.all.rp_filter: 1}}]}
design: {replicates: 9, budget: 1h, margin: 5%, parts: {all: {levels: {fix: [defaults, filtered]}}}}
`

func madeOf(findings ...record.Finding) *record.Run {
	run := &record.Run{ID: "nas-7", Study: "nas", StudyFile: nas, Findings: findings,
		Design: record.Design{Set: []string{"workload.duration=3s"}}}
	for _, direction := range []string{"writes", "reads"} {
		for _, fix := range []string{"filtered", "defaults"} {
			run.Treatments = append(run.Treatments, record.Treatment{Name: fix + ", " + direction,
				Baseline: fix == "defaults", Levels: map[string]string{"direction": direction, "fix": fix}})
		}
	}
	return run
}

// ignore is a finding whose fix is a parameter and more.
func ignore(treatments ...string) record.Finding {
	return record.Finding{ID: "arp-flux", Host: "nas", Summary: "it answers", Treatments: treatments,
		Fix: []string{"on nas: sysctl -w net.ipv4.conf.all.arp_ignore=1", "think"},
		Settings: []setting.Setting{
			{Host: "nas", Sysctl: []setting.Sysctl{{Key: "net.ipv4.conf.all.arp_ignore", Value: "1"}}}}}
}

// plan is that of a proof, which a run would make.
func planned(t *testing.T, p *Proof) *study.Plan {
	t.Helper()
	s, err := study.Parse("f", p.File)
	if err != nil {
		t.Fatalf("%v\n%s", err, p.File)
	}
	plan, err := study.NewPlan(s)
	if err != nil {
		t.Fatal(err)
	}
	return plan
}

func lines(list []setting.Setting) (all []string) {
	for _, s := range list {
		all = append(all, s.Lines()...)
	}
	return all
}

// TestOfRun: one condition of the run, the design of a proof, and the fix in place of what the
// treatment sets otherwise.
func TestOfRun(t *testing.T) {
	for _, test := range []struct {
		treatment, want string
		asItIs, fixed   []string
		direction       string
	}{
		{"", "defaults, reads", nil, []string{"nas: sysctl net.ipv4.conf.all.arp_ignore=1"}, "read"},
		{"filtered, writes", "filtered, writes",
			[]string{"nas: sysctl net.ipv4.conf.all.arp_ignore=2", "nas: sysctl net.ipv4.conf.all.rp_filter=1"},
			[]string{"nas: sysctl net.ipv4.conf.all.rp_filter=1", "nas: sysctl net.ipv4.conf.all.arp_ignore=1"},
			"write"},
	} {
		p, err := OfRun(madeOf(ignore("filtered, writes", "defaults, reads")), "arp-flux", test.treatment)
		if err != nil {
			t.Fatal(err)
		}
		plan := planned(t, p)
		if len(plan.Treatments) != 2 || plan.Blocks() != Replicates || plan.Study.Design.Margin != 0.05 ||
			plan.Study.Design.Budget != 0 || plan.Study.Published != nil {
			t.Fatalf("%d treatments, %+v", len(plan.Treatments), plan.Study.Design)
		}
		asItIs, fixed := plan.Treatments[0], plan.Treatments[1]
		if p.Treatment != test.want || asItIs.Name != "as it is" || !asItIs.Baseline ||
			fixed.Name != "the fix of arp-flux" || fixed.Baseline {
			t.Errorf("%q, %+v, %+v", p.Treatment, asItIs, fixed)
		}
		if !slices.Equal(lines(asItIs.Settings), test.asItIs) || !slices.Equal(lines(fixed.Settings), test.fixed) ||
			asItIs.Unreachable != (test.asItIs != nil) || !fixed.Unreachable {
			t.Errorf("%q, then %q", lines(asItIs.Settings), lines(fixed.Settings))
		}
		if got := asItIs.Workload; got.Direction != test.direction || got.Duration.Seconds() != 3 {
			t.Errorf("%s for %s", got.Direction, got.Duration)
		}
		if !slices.Equal(p.Advice, []string{"think"}) {
			t.Errorf("not tried: %q", p.Advice)
		}
	}
}

// TestOfState: a finding of a host's state, which has no treatments, is one of all.
func TestOfState(t *testing.T) {
	for treatment, want := range map[string]string{"": "defaults, writes", "filtered, reads": "filtered, reads"} {
		if p, err := OfRun(madeOf(ignore()), "arp-flux", treatment); err != nil || p.Treatment != want {
			t.Errorf("%v, want %s", err, want)
		}
	}
}

// TestNone: what there is to say instead of a proof.
func TestNone(t *testing.T) {
	text := ignore("defaults, writes")
	text.Settings = nil
	measurement := madeOf(ignore("x"))
	measurement.StudyFile = ""
	ablated := madeOf(ignore("only x"))
	ablated.Treatments = append(ablated.Treatments,
		record.Treatment{Name: "only x", Levels: map[string]string{"direction": "writes", "fix": "only x"}})
	for want, run := range map[string]*record.Run{
		"arp-flux was not found in run nas-7; found was: mtu":     madeOf(record.Finding{ID: "mtu"}),
		"arp-flux was not found in run nas-7; found was: nothing": madeOf(),
		"\n  on nas: sysctl -w net.ipv4.conf.all.arp_ignore=1\n":  madeOf(text),
		"is a measurement": measurement,
		"ablate made":      ablated,
	} {
		if _, err := OfRun(run, "arp-flux", ""); !errors.Is(err, ErrNone) || !strings.Contains(err.Error(), want) {
			t.Errorf("%v, want %s", err, want)
		}
	}
	if err := Known("arp-fluxx"); err == nil || !strings.Contains(err.Error(), `"arp-flux"`) {
		t.Error(err)
	}
	for id := range trafficFor {
		if err := Known(id); err != nil {
			t.Error(err)
		}
	}
}

// hostWith is a host with interfaces and addresses, and sack off where it is so named.
func hostWith(name string, interfaces ...[]string) Host {
	h := Host{Via: []string{"ssh", name}}
	h.Snapshot.Reading.Host = name
	for _, i := range interfaces {
		h.Snapshot.Reading.Snapshot.Interfaces = append(h.Snapshot.Reading.Snapshot.Interfaces,
			netstate.InterfaceSnapshot{Interface: i[0], Up: true, MTU: 1500, Addresses: i[1:]})
	}
	h.Snapshot.State.Parameters = map[string]string{"net.ipv4.tcp_rmem": "4096 131072 6291456",
		setting.CongestionControl: "reno"}
	h.Snapshot.State.Parts = []netstate.StatePart{{Part: "parameters"}}
	return h
}

// TestOfHosts: traffic to the host with the finding, on a subnet that both have, of each of its
// interfaces; names are those that a study can have.
func TestOfHosts(t *testing.T) {
	docker := []string{"docker0", "172.17.0.1/16"}
	nas := hostWith("nas.example.net", docker, []string{"eno1", "10.0.0.1/24", "fe80::1/64"},
		[]string{"eno2", "10.0.0.2/24"}, []string{"eno3", "10.1.0.1/24"})
	peer := hostWith("klient é{0..9}", docker, []string{"eth0", "10.0.0.9/24"}, []string{"eth1", "10.1.0.9/24"})
	nas.Snapshot.State.Parameters["net.ipv4.tcp_rmem"] = "4096 65536 131072"
	for _, test := range []struct {
		network string
		to      []string
	}{{"", []string{"10.0.0.1", "10.0.0.2"}}, {"10.1.0.0/24", []string{"10.1.0.1"}}} {
		var network netip.Prefix
		if test.network != "" {
			network = netip.MustParsePrefix(test.network)
		}
		for _, order := range [][]Host{{nas, peer}, {peer, nas}} {
			p, err := OfHosts(order[0], order[1], "receive-buffer-small", network, asFound)
			if err != nil {
				t.Fatal(err)
			}
			var to []string
			for _, f := range planned(t, p).Treatments[1].Flows {
				if to = append(to, f.Destination.String()); f.Sender() != "klient---0" || f.Receiver() != "nas" ||
					f.CongestionControl != "reno" {
					t.Errorf("from %s to %s with %s", f.Sender(), f.Receiver(), f.CongestionControl)
				}
			}
			if !slices.Equal(to, test.to) {
				t.Errorf("%q: flows to %s, want %s", test.network, to, test.to)
			}
		}
	}
	if _, err := OfHosts(nas, peer, "receive-buffer-small", netip.MustParsePrefix("172.17.0.0/16"),
		asFound); err == nil ||
		!strings.Contains(err.Error(), "they share: 10.0.0.0/24, 10.1.0.0/24") {
		t.Error(err)
	}
	if _, err := OfHosts(nas, hostWith("far", []string{"eth0", "10.2.0.1/24"}), "receive-buffer-small",
		netip.Prefix{}, asFound); err == nil || !strings.Contains(err.Error(), "no addresses of one subnet") {
		t.Error(err)
	}
	if _, err := OfHosts(nas, peer, "sack-off", netip.Prefix{}, asFound); !errors.Is(err, ErrNone) {
		t.Error(err)
	}
	same := hostWith("nas", []string{"eth0", "10.0.0.7/24"})
	if p, err := OfHosts(nas, same, "receive-buffer-small", netip.Prefix{}, asFound); err != nil ||
		len(planned(t, p).Study.Topology.Hosts) != 2 {
		t.Errorf("two hosts of one name: %v", err)
	}
}

// TestNetworkOfChange: the subnet of an interface that the fix changes comes before others.
func TestNetworkOfChange(t *testing.T) {
	nas := hostWith("nas", []string{"eno1", "10.0.0.1/24"}, []string{"eno2", "10.1.0.1/24"})
	i := &nas.Snapshot.Reading.Snapshot.Interfaces[1]
	i.MAC, i.MTU = "02:00:00:00:00:02", 1000
	peer := hostWith("client", []string{"eth0", "10.0.0.9/24"}, []string{"eth1", "10.1.0.9/24"})
	nas.Snapshot.State.NICs = []netstate.NIC{{Interface: "eno1"}, {Interface: "eno2"}}
	p, err := OfHosts(nas, peer, "mtu-below-minimum", netip.Prefix{}, asFound)
	if err != nil {
		t.Fatal(err)
	}
	flows := planned(t, p).Treatments[0].Flows
	if len(flows) != 2 || flows[0].Destination.String() != "10.1.0.1" || flows[0].OpenerSends == flows[1].OpenerSends {
		t.Errorf("%+v", flows)
	}
}

// TestNotMet: traffic between the hosts that does not meet a finding proves nothing of its fix,
// and that is said instead of concluded.
func TestNotMet(t *testing.T) {
	for id := range notMet {
		if err := Known(id); err != nil {
			t.Error(err)
		}
	}
	peer := hostWith("client", []string{"eth0", "10.0.0.9/24"}, []string{"eth1", "10.1.0.9/24"})
	queue := hostWith("nas", []string{"eno1", "10.0.0.1/24"})
	queue.Snapshot.State.Parameters["net.core.somaxconn"] = "8"
	if _, err := OfHosts(queue, peer, "somaxconn-small", netip.Prefix{}, asFound); !errors.Is(err, ErrNone) ||
		!strings.Contains(err.Error(), oneAtATime) ||
		!strings.Contains(err.Error(), "linerate prove somaxconn-small FILE.yaml") {
		t.Error(err)
	}
	filtering := func(interfaces ...[]string) Host {
		h := hostWith("nas", interfaces...)
		h.Snapshot.Reading.Snapshot.Sysctls = map[string]string{"net.ipv4.conf.all.rp_filter": "1",
			"net.ipv4.conf.all.arp_ignore": "1"}
		h.Snapshot.Reading.Snapshot.Routes = []netstate.RouteEntry{
			netstate.ParseRoute(254, "0.0.0.0/0", "default via 10.0.0.254 dev eno1")}
		h.Snapshot.Reading.End.SNMP = map[string]int64{"TcpExt.IPReversePathFilter": 300}
		return h
	}
	if _, err := OfHosts(filtering([]string{"eno1", "10.0.0.1/24"}, []string{"eno2", "10.1.0.1/24"}), peer,
		"strict-rp-filter", netip.Prefix{}, asFound); !errors.Is(err, ErrNone) ||
		!strings.Contains(err.Error(), "one interface in 10.0.0.0/24") {
		t.Error(err)
	}
	p, err := OfHosts(filtering([]string{"eno1", "10.0.0.1/24"}, []string{"eno2", "10.1.0.1/24"},
		[]string{"eno3", "10.1.0.2/24"}), peer, "strict-rp-filter", netip.Prefix{}, asFound)
	if err != nil {
		t.Fatal(err)
	}
	var to []string
	for _, f := range planned(t, p).Treatments[1].Flows {
		to = append(to, f.Destination.String())
	}
	if !slices.Equal(to, []string{"10.1.0.1", "10.1.0.2"}) {
		t.Errorf("flows to %s", to)
	}
}

// asFound leaves findings without words.
func asFound(e record.Evaluation) record.Evaluation { return e }
