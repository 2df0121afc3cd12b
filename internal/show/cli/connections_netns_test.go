//go:build linux

package cli

import (
	"strings"
	"testing"

	"linerate/internal/kernel/kerneltest"
)

// TestAliasConnections: a pair of addresses has as many connections as the range has
// ports, a further address at either end as many again; where bind(2) takes the port,
// only a further source has.
func TestAliasConnections(t *testing.T) {
	run := runLab(t, t.TempDir(), "alias-connections", "--replicates", "2", "--seed", "3")
	for name, want := range map[string]float64{
		"one address at each end, connect(2)": 500, "four of the server, connect(2)": 2000, "four of the client, connect(2)": 2000, "four at each end, connect(2)": 8000,
		"one address at each end, bind(2)": 500, "four of the server, bind(2)": 500, "four of the client, bind(2)": 2000, "four at each end, bind(2)": 2000,
	} {
		tr := treatment(t, run, name)
		if len(tr.Responses) != 1 || tr.Responses[0].Response != "connections" || tr.Responses[0].Mean != want {
			t.Errorf("%s: %+v, want %.0f connections", name, tr.Responses, want)
		}
		f, ok := found(run, "ports-exhausted", name)
		if errno := map[bool]string{true: "EADDRINUSE", false: "EADDRNOTAVAIL"}[strings.HasSuffix(name, "bind(2)")]; !ok || !strings.Contains(strings.Join(f.Evidence, "\n"), errno) ||
			!strings.Contains(strings.Join(f.Evidence, "\n"), "40000 40499") {
			t.Errorf("%s: the finding is %+v", name, f)
		}
		if _, ok := found(run, "unreachable", name); ok {
			t.Errorf("%s: the server is said to be unreachable", name)
		}
	}
	if text := failures(run); text != "" {
		t.Error(text)
	}
}

// TestPortsExhausted: connections that come to one port of a serving host,
// from as many ports as there are; an alias at either end brings as many again.
func TestPortsExhausted(t *testing.T) {
	kerneltest.InNamespace(t, func(t *testing.T) {
		aliased(t, "100mbit")
		kerneltest.Do(t, "ip", "netns", "exec", "client", "sh", "-c", "echo 40000 40199 > /proc/sys/net/ipv4/ip_local_port_range")
		serving(t, "--alias", "eth0=10.0.0.11/24", "--listen", ":5202", "--max-connections", "1000")
		few := []string{"--protocol", "rr", "--pace", "100", "--duration", "200ms", "--warmup", "100ms"}
		_, status, said := measured(t, "client", append([]string{"10.0.0.1", "--connections", "300"}, few...)...)
		for _, words := range []string{"connect 10.0.0.2 → 10.0.0.1:5202", "EADDRNOTAVAIL", "40000 to 40199 (200)", "of 300 connections were open"} {
			if status != ExitFailed || !strings.Contains(said, words) {
				t.Errorf("exit status %d, no %q in %q", status, words, said)
			}
		}
		for _, more := range [][]string{
			{"10.0.0.1", "10.0.0.11", "--connections", "150"},
			{"10.0.0.1", "--alias", "eth0=10.0.0.21-22/24", "--connections", "150"},
		} {
			m, status, said := measured(t, "client", append(more, few...)...)
			if status != ExitOK && status != ExitDoubt || m.Transactions == nil || m.Transactions.Connections != 300 {
				t.Errorf("%v: exit status %d, %+v: %s", more, status, m.Transactions, said)
			}
		}
		// Binding takes ports for the source, whichever the destination.
		_, status, said = measured(t, "client", append([]string{"10.0.0.1", "10.0.0.11", "--source", "10.0.0.2", "--bind-no-port=false", "--connections", "150"}, few...)...)
		if status != ExitFailed || !strings.Contains(said, "EADDRINUSE") || !strings.Contains(said, "bind_no_port") {
			t.Errorf("exit status %d: %s", status, said)
		}
	})
}
