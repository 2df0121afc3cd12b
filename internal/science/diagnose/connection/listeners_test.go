package connection_test

import (
	"slices"
	"strings"
	"testing"

	"linerate/internal/model/record"

	"linerate/internal/science/diagnose"
	"linerate/internal/science/diagnose/diagnosetest"
	"linerate/internal/science/diagnose/facts"
)

// TestLargerBacklog: somaxconn is the fix for an accept queue only where it bounds it; a program's
// own smaller backlog is the program's to change.
func TestLargerBacklog(t *testing.T) {
	for _, test := range []struct {
		name      string
		listeners []record.Listener
		somaxconn string
		want      string // the value that is set; empty: none
	}{
		{"the program's own backlog", []record.Listener{{Protocol: "tcp", Local: "0.0.0.0:80", Queued: 3, Backlog: 2}},
			"4096", ""},
		{"somaxconn bounds it", []record.Listener{{Protocol: "tcp", Local: "0.0.0.0:80", Queued: 129, Backlog: 128}},
			"128", "8192"},
		{"a large somaxconn bounds it", []record.Listener{{Protocol: "tcp", Local: "0.0.0.0:80", Queued: 16385,
			Backlog: 16384}}, "16384", "32768"},
		{"somaxconn was lowered since", []record.Listener{{Protocol: "tcp", Local: "0.0.0.0:80", Queued: 129,
			Backlog: 128}}, "64", "8192"},
		{"one of two", []record.Listener{{Protocol: "tcp", Local: "0.0.0.0:80", Queued: 3, Backlog: 2},
			{Protocol: "tcp", Local: "0.0.0.0:81", Queued: 4097, Backlog: 4096}}, "4096", "8192"},
		{"another one is bounded, and not full",
			[]record.Listener{{Protocol: "tcp", Local: "0.0.0.0:80", Queued: 3, Backlog: 2},
				{Protocol: "tcp", Local: "0.0.0.0:81", Backlog: 4096}}, "4096", ""},
		{"somaxconn is not known", []record.Listener{{Protocol: "tcp", Local: "0.0.0.0:80", Queued: 3, Backlog: 2}},
			"", "8192"},
		{"no queue is full any more", []record.Listener{{Protocol: "tcp", Local: "0.0.0.0:80", Backlog: 128},
			{Protocol: "tcp", Local: "0.0.0.0:81", Backlog: 16}}, "128", "8192"},
		{"no queue is full any more, and none is bounded",
			[]record.Listener{{Protocol: "tcp", Local: "0.0.0.0:80", Backlog: 100}}, "128", ""},
	} {
		s := diagnosetest.HostNamed("nas", 15)
		s.State.Listeners = test.listeners
		s.State.Parameters["net.core.somaxconn"] = test.somaxconn
		s.Reading.End.SNMP["TcpExt.ListenOverflows"] = 5
		for _, id := range []string{"accept-queue-full", "listen-overflow"} {
			findings := diagnose.Hosts([]record.HostSnapshot{s}).Findings
			i := slices.IndexFunc(findings, func(f record.Finding) bool { return f.ID == id })
			if i < 0 {
				if id != "accept-queue-full" || slices.ContainsFunc(test.listeners, facts.Full) {
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
