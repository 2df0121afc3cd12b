package wording

import (
	"slices"
	"strings"
	"testing"

	"linerate/internal/model/netstate"
	"linerate/internal/model/record"
	"linerate/internal/model/topology"
	"linerate/internal/science/diagnose"
	"linerate/internal/science/diagnose/diagnosetest"
	diagfacts "linerate/internal/science/diagnose/facts"
)

// TestTracerouteThrough: a few packets a second whose time to live runs out are those of traceroute
// or mtr as well; many are a loop.
func TestTracerouteThrough(t *testing.T) {
	for n, want := range map[int64]string{60: record.Possible, 6000: record.Likely} {
		s := diagnosetest.HostNamed("router", 15)
		s.OverS = 60
		s.Reading.End.SNMP["Ip.InHdrErrors"] = n
		e := Evaluation(diagnose.Hosts([]netstate.HostSnapshot{s}))
		if list := diagnosetest.FoundBy(e, "ttl-exceeded"); len(list) != 1 || list[0].Confidence != want ||
			!strings.Contains(list[0].Summary, "traceroute") {
			t.Errorf("%d in a minute: %+v", n, list)
		}
		if len(e.Drops) != 1 || e.Drops[0].Verdict != diagfacts.Unknown {
			t.Errorf("%d in a minute: %+v", n, e.Drops)
		}
	}
}

// TestGrowthBesideAnother: a count that is larger than what it is compared with is no share of it.
func TestGrowthBesideAnother(t *testing.T) {
	for n, want := range map[int64]string{30: "that is 50 % of Tcp.OutSegs, 60",
		294: "that is 4.9 for each of Tcp.OutSegs, 60"} {
		s := diagnosetest.HostNamed("nas", 15)
		s.Reading.Begin.SNMP, s.Reading.End.SNMP = map[string]int64{}, map[string]int64{"TcpExt.TCPTimeouts": n,
			"Tcp.OutSegs": 60}
		e := Evaluation(diagnose.Hosts([]netstate.HostSnapshot{s}))
		i := slices.IndexFunc(e.Findings, func(f record.Finding) bool { return f.ID == "tcp-timeouts" })
		if i < 0 || !slices.Contains(e.Findings[i].Evidence, want) {
			t.Errorf("%d timeouts: %+v", n, e.Findings)
		}
	}
}

// TestRefusedFragments: the kernel counts a fragment that a full queue of the host dropped in
// FragFails as well. As many are no evidence for a smaller MTU, nor in the table of drops.
func TestRefusedFragments(t *testing.T) {
	for _, test := range []struct {
		name              string
		fails, drops, udp int64
		traced            int64 // as too big
		found             bool
		why               string // of the table of drops
	}{
		{"a smaller MTU", 50, 0, 0, 0, true, "packets were larger than the next link takes"},
		{"the sender's shaper", 160_140, 605_030, 605_029, 0, false, "a queue of this host was full"},
		{"a queue below a socket that asks for errors", 50, 60, 0, 0, false, "a queue of this host was full"},
		{"a queue of an interface that counts no drops", 50, 0, 50, 0, false, "a queue of this host was full"},
		{"a router with a full queue, whose kernel says which were too big", 50, 600, 0, 20, true,
			"; up to 30: a queue of this host was full"},
		{"more than the queue dropped", 50, 20, 10, 0, true, "; up to 20: a queue of this host was full"},
	} {
		s := diagnosetest.HostNamed("nas", 15)
		q := netstate.QdiscCounters{Interface: "eth0", Kind: "tbf", Handle: "1:"}
		s.Reading.Begin.Qdiscs = []netstate.QdiscCounters{q}
		q.Drops = uint64(test.drops)
		s.Reading.End.Qdiscs = []netstate.QdiscCounters{q}
		s.Reading.End.SNMP["Ip.FragFails"], s.Reading.End.SNMP["Udp.SndbufErrors"] = test.fails, test.udp
		s.State.KernelDrops = &netstate.KernelDrops{
			Rows: []netstate.KernelDrop{{Reason: "PKT_TOO_BIG", Interface: "eth0", Packets: test.traced}}}
		e := Evaluation(diagnose.Hosts([]netstate.HostSnapshot{s}))
		i := slices.IndexFunc(e.Findings, func(f record.Finding) bool { return f.ID == "fragmentation-needed" })
		if found := i >= 0; found != test.found || found && e.Findings[i].Confidence == record.Certain {
			t.Errorf("%s: %+v", test.name, e.Findings)
		}
		if d := e.Drops[slices.IndexFunc(e.Drops, func(d record.Drop) bool {
			return d.Counter == "FragFails"
		})]; !strings.Contains(d.Why, test.why) {
			t.Errorf("%s: %s, want %q", test.name, d.Why, test.why)
		}
	}
}

// TestUDPBufferFix: net.core.rmem_max is the fix where it can bound the buffer that was full.
func TestUDPBufferFix(t *testing.T) {
	for _, test := range []struct {
		name     string
		most     string // rmem_max
		buffer   int64  // as the kernel counts it
		settings bool
		says     string
	}{
		{"bounded by it", "212992", 425984, true, "sysctl -w net.core.rmem_max=26214400"},
		{"not known", "", 33554432, true, "sysctl -w net.core.rmem_max=26214400"},
		{"of no socket that is known", "4194304", 0, true, "the largest that it can set"},
		{"above it, as root sets it", "4194304", 33554432, false,
			"its buffer is 33.55 MB, and net.core.rmem_max, 4194304, which bounds only SO_RCVBUF, does not bound it"},
		{"far below it", "4194304", 32768, false, "up to net.core.rmem_max, 4194304"},
		{"raised before", "67108864", 425984, false, "up to net.core.rmem_max, 67108864"},
	} {
		s := diagnosetest.HostNamed("nas", 15)
		s.Reading.Snapshot.Sysctls = map[string]string{"net.core.rmem_max": test.most}
		s.Reading.End.SNMP["Udp.RcvbufErrors"] = 500
		run := &record.Run{Snapshots: []netstate.HostSnapshots{{Host: "nas", After: &s}}}
		trial := record.Trial{WindowS: 3, Hosts: []netstate.HostReading{s.Reading},
			Flows: []record.Flow{{To: "nas", Datagrams: &record.Datagrams{LostInBuffer: 500,
				BufferBytes: test.buffer}}}}
		run.Trials = []record.Trial{trial}
		run.Topology.Hosts = []topology.Host{{Name: "nas", Via: []string{"ssh"}}}
		s.State.Listeners = []netstate.Listener{{Protocol: "udp", Local: "0.0.0.0:5202", Drops: 500,
			ReceiveBuffer: test.buffer}}
		for where, findings := range map[string][]record.Finding{
			"snapshot": Evaluation(diagnose.Hosts([]netstate.HostSnapshot{s})).Findings,
			"run":      Findings(diagnose.Around(run, nil), false)} {
			i := slices.IndexFunc(findings, func(f record.Finding) bool { return f.ID == "udp-buffer-overflow" })
			if i < 0 {
				t.Errorf("%s, %s: %+v", test.name, where, findings)
				continue
			}
			if f := findings[i]; len(f.Settings) > 0 != test.settings ||
				!strings.Contains(strings.Join(f.Fix, "\n"), test.says) {
				t.Errorf("%s, %s: %q, %+v", test.name, where, f.Fix, f.Settings)
			}
		}
	}
}

// TestLargerBacklog: somaxconn is the fix for an accept queue only where it bounds it; a program's
// own smaller backlog is the program's to change.
func TestLargerBacklog(t *testing.T) {
	for _, test := range []struct {
		name      string
		listeners []netstate.Listener
		somaxconn string
		want      string // the value that is set; empty: none
	}{
		{"the program's own backlog", []netstate.Listener{{Protocol: "tcp", Local: "0.0.0.0:80", Queued: 3,
			Backlog: 2}},
			"4096", ""},
		{"somaxconn bounds it", []netstate.Listener{{Protocol: "tcp", Local: "0.0.0.0:80", Queued: 129, Backlog: 128}},
			"128", "8192"},
		{"a large somaxconn bounds it", []netstate.Listener{{Protocol: "tcp", Local: "0.0.0.0:80", Queued: 16385,
			Backlog: 16384}}, "16384", "32768"},
		{"somaxconn was lowered since", []netstate.Listener{{Protocol: "tcp", Local: "0.0.0.0:80", Queued: 129,
			Backlog: 128}}, "64", "8192"},
		{"one of two", []netstate.Listener{{Protocol: "tcp", Local: "0.0.0.0:80", Queued: 3, Backlog: 2},
			{Protocol: "tcp", Local: "0.0.0.0:81", Queued: 4097, Backlog: 4096}}, "4096", "8192"},
		{"another one is bounded, and not full",
			[]netstate.Listener{{Protocol: "tcp", Local: "0.0.0.0:80", Queued: 3, Backlog: 2},
				{Protocol: "tcp", Local: "0.0.0.0:81", Backlog: 4096}}, "4096", ""},
		{"somaxconn is not known", []netstate.Listener{{Protocol: "tcp", Local: "0.0.0.0:80", Queued: 3, Backlog: 2}},
			"", "8192"},
		{"no queue is full any more", []netstate.Listener{{Protocol: "tcp", Local: "0.0.0.0:80", Backlog: 128},
			{Protocol: "tcp", Local: "0.0.0.0:81", Backlog: 16}}, "128", "8192"},
		{"no queue is full any more, and none is bounded",
			[]netstate.Listener{{Protocol: "tcp", Local: "0.0.0.0:80", Backlog: 100}}, "128", ""},
	} {
		s := diagnosetest.HostNamed("nas", 15)
		s.State.Listeners = test.listeners
		s.State.Parameters["net.core.somaxconn"] = test.somaxconn
		s.Reading.End.SNMP["TcpExt.ListenOverflows"] = 5
		for _, id := range []string{"accept-queue-full", "listen-overflow"} {
			findings := Evaluation(diagnose.Hosts([]netstate.HostSnapshot{s})).Findings
			i := slices.IndexFunc(findings, func(f record.Finding) bool { return f.ID == id })
			if i < 0 {
				if id != "accept-queue-full" || slices.ContainsFunc(test.listeners, diagfacts.Full) {
					t.Errorf("%s: %s is not found", test.name, id)
				}
				continue
			}
			got := ""
			for _, one := range findings[i].Settings {
				got += one.Sysctl[0].Value
			}
			text := strings.Join(findings[i].Fix, "\n")
			if got != test.want || strings.Contains(text, "sysctl -w") != (test.want != "") ||
				!strings.Contains(text, "listen(2)") {
				t.Errorf("%s: %s sets %q, want %q: %s", test.name, id, got, test.want, text)
			}
		}
	}
}
