package machine_test

import (
	"fmt"
	"math/rand/v2"
	"slices"
	"strings"
	"testing"

	"linerate/internal/model/cause"
	"linerate/internal/model/netstate"
	"linerate/internal/model/record"
	"linerate/internal/model/topology"

	"linerate/internal/science/diagnose"
	"linerate/internal/science/diagnose/diagnosetest"
	"linerate/internal/science/sciencetest"
)

// strained is a trial below its limit whose machine has two CPUs that were half
// busy.
func strained() record.Trial {
	t := sciencetest.Study.Trial(sciencetest.Fixes[4], "writes", 1, 1, rand.New(rand.NewPCG(3, 3)))
	t.GoodputBps = t.LimitBps / 2
	h := &t.Hosts[0]
	h.Begin.BeganNs, h.End.BeganNs = 0, 1e9
	idle := netstate.CPUTimes{}
	h.Begin.CPU, h.End.CPU = nil, nil
	for cpu := -1; cpu < 2; cpu++ {
		idle.CPU = cpu
		h.Begin.CPU = append(h.Begin.CPU, idle)
		h.End.CPU = append(h.End.CPU, netstate.CPUTimes{CPU: cpu, User: 0.25, SoftIRQ: 0.25, Idle: 0.5})
	}
	h.Begin.Softnet, h.End.Softnet = []netstate.SoftnetCounters{{CPU: 1}},
		[]netstate.SoftnetCounters{{CPU: 1, Processed: 1000}}
	h.Begin.Events, h.End.Events = []netstate.CPUEvents{{CPU: 1}},
		[]netstate.CPUEvents{{CPU: 1, Interrupts: 500, Softirqs: map[string]uint64{"NET_RX": 9000}}}
	h.Begin.Memory, h.End.Memory = &netstate.MemoryLoad{}, &netstate.MemoryLoad{AvailableBytes: 5e8, TCPBytes: 4e8}
	h.Begin.SNMP, h.End.SNMP = map[string]int64{}, map[string]int64{}
	return t
}

// alone makes the second CPU serve softirqs and nothing else.
func alone(h *netstate.HostReading) {
	h.End.CPU[0] = netstate.CPUTimes{CPU: -1, User: 0.05, SoftIRQ: 0.5, Idle: 0.45}
	h.End.CPU[2] = netstate.CPUTimes{CPU: 1, User: 0.01, SoftIRQ: 0.98, Idle: 0.01}
}

func TestMachine(t *testing.T) {
	for _, test := range []struct {
		name       string
		change     func(t *record.Trial, h *netstate.HostReading)
		id         string // empty: none
		confidence string
		evidence   string
	}{
		{"nothing", func(*record.Trial, *netstate.HostReading) {}, "", "", ""},
		{"one core", func(_ *record.Trial, h *netstate.HostReading) {
			alone(h)
		}, "softirq-one-core", record.Likely, `"receive_per_s":9000,"interrupts_per_s":500`},
		{"one core, squeezed", func(_ *record.Trial, h *netstate.HostReading) {
			alone(h)
			h.End.Softnet[0].Squeezed = 7
		}, "softirq-one-core", record.Certain, `"squeezed":7`},
		{"one core at the limit", func(t *record.Trial, h *netstate.HostReading) {
			alone(h)
			t.GoodputBps = t.LimitBps
		}, "", "", ""},
		{"one core of other work", func(_ *record.Trial, h *netstate.HostReading) {
			alone(h)
			h.End.CPU[2].User, h.End.CPU[2].SoftIRQ = 0.98, 0.01
		}, "", "", ""},
		{"all cores", func(_ *record.Trial, h *netstate.HostReading) {
			alone(h)
			h.End.CPU[0] = netstate.CPUTimes{CPU: -1, SoftIRQ: 0.98, Idle: 0.02}
		}, "", "", ""},
		{"one core of two that receive", func(_ *record.Trial, h *netstate.HostReading) {
			alone(h)
			h.Begin.Events = append(h.Begin.Events, netstate.CPUEvents{CPU: 0})
			h.End.Events = append(h.End.Events, netstate.CPUEvents{CPU: 0, Softirqs: map[string]uint64{"NET_RX": 1200}})
		}, "", "", ""},
		{"one core, and flows on a full link", func(t *record.Trial, h *netstate.HostReading) {
			alone(h)
			for i := range t.Flows {
				t.Flows[i].LimitedBy = "full link"
			}
		}, "", "", ""},
		{"one core without receiving", func(_ *record.Trial, h *netstate.HostReading) {
			alone(h)
			h.End.Events = nil
		}, "", "", ""},
		{"drops", func(_ *record.Trial, h *netstate.HostReading) {
			h.End.Softnet[0].Dropped = 3
		}, "softnet-drop", record.Certain, `"cpu":1,"dropped":3,"took":1000`},
		{"drops among other namespaces' packets", func(_ *record.Trial, h *netstate.HostReading) {
			h.End.Softnet[0].Dropped, h.End.Softnet[0].Processed = 3, 1<<40
		}, "softnet-drop", record.Possible,
			`"whole_machine":{"hosts":["server"`},
		{"one core, squeezed by other namespaces' packets", func(_ *record.Trial, h *netstate.HostReading) {
			alone(h)
			h.End.Softnet[0].Squeezed, h.End.Softnet[0].Processed = 7, 1<<40
		}, "softirq-one-core", record.Possible, `"squeezed":7`},
		{"ring overrun", func(_ *record.Trial, h *netstate.HostReading) {
			h.Snapshot.Interfaces[0].Kind, h.End.Interfaces[0].RxMissed = "", 42
		}, "ring-overrun", record.Certain, `"interface":"eth0","missed":42`},
		{"the same packets counted by a bond", func(_ *record.Trial, h *netstate.HostReading) {
			h.Snapshot.Interfaces[0].Kind, h.End.Interfaces[0].RxMissed = "bond", 42
		}, "", "", ""},
		{"tcp_mem", func(_ *record.Trial, h *netstate.HostReading) {
			h.End.SNMP["TcpExt.TCPMemoryPressures"] = 2
		}, "memory-pressure", record.Certain, `"grew":2,"bytes":400000000`},
		{"waiting", func(_ *record.Trial, h *netstate.HostReading) {
			h.End.Memory.SomeWaitedUs = 200_000
		}, "memory-pressure", record.Likely, `"some":0.2,"all":0,"available_bytes":500000000`},
		{"hardly waiting", func(_ *record.Trial, h *netstate.HostReading) {
			h.End.Memory.SomeWaitedUs = 90_000
		}, "", "", ""},
	} {
		trial := strained()
		test.change(&trial, &trial.Hosts[0])
		over := sciencetest.Study.Topology()
		found := slices.DeleteFunc(diagnose.Diagnose(trial, &over), func(f record.Finding) bool {
			return !slices.Contains([]string{"softirq-one-core", "ring-overrun", "softnet-drop", "memory-pressure"},
				f.ID)
		})
		host := "this machine"
		if test.id == "ring-overrun" {
			host = "server"
		}
		switch {
		case test.id == "" && len(found) > 0:
			t.Errorf("%s: %+v", test.name, found)
		case test.id == "":
		case len(found) != 1 || found[0].ID != test.id || found[0].Confidence != test.confidence ||
			found[0].Host != host:
			t.Errorf("%s: %+v, want %s (%s)", test.name, found, test.id, test.confidence)
		case !strings.Contains(diagnosetest.Facts(found[0]), test.evidence):
			t.Errorf("%s: the evidence is %s, want %q", test.name, diagnosetest.Facts(found[0]), test.evidence)
		}
	}
}

// TestMachinesOfSnapshots: each host of several snapshots is a machine of its own, and what its
// CPUs and rings dropped before the readings is possible.
func TestMachinesOfSnapshots(t *testing.T) {
	a, b, c := diagnosetest.HostNamed("a", 1), diagnosetest.HostNamed("b", 2), diagnosetest.HostNamed("c", 3)
	for n, s := range []*netstate.HostSnapshot{&a, &b, &c} {
		s.Reading.Begin.BeganNs, s.Reading.End.BeganNs = 1e9, 4e9
		s.Reading.Begin.CPU[0].Idle += float64(1000 * n) // otherwise they are one machine
		s.Reading.End.CPU[0].Idle += float64(1000 * n)
	}
	b.Reading.End.Softnet = []netstate.SoftnetCounters{{Processed: 1000, Dropped: 7}}
	for _, r := range []*netstate.Reading{&c.Reading.Begin, &c.Reading.End} {
		r.Softnet = []netstate.SoftnetCounters{{Processed: 1000, Dropped: 9}}
		r.Interfaces = []netstate.InterfaceCounters{{Interface: "eth0", RxMissed: 5}}
	}
	var got []string
	for _, f := range diagnose.Hosts([]netstate.HostSnapshot{a, b, c}).Findings {
		got = append(got, f.ID+" "+f.Host+" "+f.Confidence+": "+diagnosetest.Facts(f))
	}
	want := []string{
		`softnet-drop b certain: [{"host":"b","backlog_dropped":{"cpu":0,"dropped":7,"took":1000`,
		`ring-overrun c possible: [{"host":"c","ring_missed":{"interface":"eth0","missed":5,"since_boot":true}}]`,
		`softnet-drop c possible: [{"host":"c","backlog_dropped":{"cpu":0,"dropped":9,"took":1000`,
	}
	for _, line := range want {
		if !slices.ContainsFunc(got, func(g string) bool { return strings.HasPrefix(g, line) }) {
			t.Errorf("no %q in %q", line, got)
		}
	}
}

// TestPlace: a machine is changed on the host that was read, also where several hosts are on it;
// the machine of a lab is none of its hosts.
func TestPlace(t *testing.T) {
	reading := func(name string) (h netstate.HostReading) {
		h.Host = name
		h.Begin.BeganNs, h.End.BeganNs = 1e9, 4e9
		h.Begin.CPU, h.End.CPU = []netstate.CPUTimes{{}}, []netstate.CPUTimes{{Idle: 2.8, User: 0.2}}
		h.Begin.Softnet, h.End.Softnet = []netstate.SoftnetCounters{{}},
			[]netstate.SoftnetCounters{{Processed: 2000, Dropped: 50}}
		h.Begin.Memory, h.End.Memory = &netstate.MemoryLoad{}, &netstate.MemoryLoad{SomeWaitedUs: 2_000_000}
		return h
	}
	for want, via := range map[string][]string{"client": {"linerate"}, "this machine": nil} {
		over := &topology.Topology{Hosts: []topology.Host{{Name: "client", Via: via}, {Name: "server", Via: via}}}
		var ids []string
		for _, f := range diagnose.Diagnose(record.Trial{Hosts: []netstate.HostReading{reading("client"),
			reading("server")}},
			over) {
			ids = append(ids, f.ID)
			if f.Host != want || f.ID == "softnet-drop" && len(f.Changes()) != len(via) || len(f.Changes()) > 0 &&
				f.Changes()[0].Host != want {
				t.Errorf("%s: %+v", want, f)
			}
		}
		if !slices.Equal(ids, []string{"softnet-drop", "memory-pressure"}) {
			t.Errorf("%s: %q", want, ids)
		}
	}
}

// TestRaised: a fix never lowers a parameter, and from a bound on there is only advice.
func TestRaised(t *testing.T) {
	const backlog, budget = "net.core.netdev_max_backlog", "net.core.netdev_budget"
	for _, test := range []struct{ has, backlog, budget string }{
		{"", "10000", "600"}, {"300", "10000", "600"}, {"4000", "10000", "8000"}, {"20000", "40000", ""},
		{"250000", "", ""},
	} {
		s := diagnosetest.HostNamed("a", 1)
		s.Reading.End.Softnet = []netstate.SoftnetCounters{{Processed: 2000, Dropped: 50, Squeezed: 500}}
		trial := s.Reading // which has it among the parameters of its snapshot
		if test.has != "" {
			s.State.Parameters[backlog], s.State.Parameters[budget] = test.has, test.has
			trial.Snapshot.Sysctls = map[string]string{backlog: test.has}
		}
		over := &topology.Topology{Hosts: []topology.Host{{Name: "a", Via: []string{"linerate"}}}}
		for _, f := range append(diagnose.Hosts([]netstate.HostSnapshot{s}).Findings,
			diagnose.Diagnose(record.Trial{Hosts: []netstate.HostReading{trial}}, over)...) {
			want, ours := map[string]string{"softnet-drop": test.backlog, "packets-squeezed": test.budget}[f.ID]
			switch {
			case !ours:
			case want == "" && (len(f.Steps) > 0 || fmt.Sprint(f.Args.(cause.Raised).Already) != test.has):
				t.Errorf("%s of %s: %+v, %+v", f.ID, test.has, f.Args, f.Steps)
			case want != "" && (len(f.Changes()) != 1 || f.Changes()[0].Sysctl[0].Value != want):
				t.Errorf("%s of %s: %+v, want %s", f.ID, test.has, f.Steps, want)
			}
		}
	}
}
