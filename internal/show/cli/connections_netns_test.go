//go:build linux

package cli

import (
	"strings"
	"testing"

	"linerate/internal/kernel/kerneltest"
)

// TestPortsExhausted: connections that come to one port of a serving host,
// from as many ports as there are; an alias at either end brings as many again.
func TestPortsExhausted(t *testing.T) {
	kerneltest.Parallel(t)
	kerneltest.InNamespace(t, func(t *testing.T) {
		aliased(t, "100mbit")
		kerneltest.Do(t, "ip", "netns", "exec", "client", "sh", "-c",
			"echo 40000 40199 > /proc/sys/net/ipv4/ip_local_port_range")
		serving(t, "--alias", "eth0=10.0.0.11/24", "--listen", ":5202", "--max-connections", "1000")
		few := []string{"--protocol", "rr", "--pace", "100", "--duration", "200ms", "--warmup", "100ms"}
		_, status, said := measured(t, "client", append([]string{"10.0.0.1", "--connections", "300"}, few...)...)
		for _, words := range []string{"connect 10.0.0.2 → 10.0.0.1:5202", "EADDRNOTAVAIL", "40000 to 40199 (200)",
			"of 300 connections were open"} {
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
		_, status, said = measured(t, "client",
			append([]string{"10.0.0.1", "10.0.0.11", "--source", "10.0.0.2", "--bind-no-port=false", "--connections",
				"150"}, few...)...)
		if status != ExitFailed || !strings.Contains(said, "EADDRINUSE") || !strings.Contains(said, "bind_no_port") {
			t.Errorf("exit status %d: %s", status, said)
		}
	})
}
