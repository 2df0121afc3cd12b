//go:build linux

package cli

import (
	"fmt"
	"strings"
	"testing"

	"linerate/internal/control/controltest"
	"linerate/internal/kernel/kerneltest"
	"linerate/internal/science/limits"
)

// cabled makes a server, a client and another host. The client has two links to
// the server, one to the other; all are shaped.
func cabled(t *testing.T, rate string) {
	t.Helper()
	kerneltest.Do(t, "mount", "-t", "tmpfs", "tmpfs", "/run")
	for _, name := range []string{"server", "client", "other"} {
		kerneltest.Do(t, "ip", "netns", "add", name)
		kerneltest.Do(t, "ip", "-n", name, "link", "set", "dev", "lo", "up")
	}
	for i, there := range []string{"server", "server", "other"} {
		port := fmt.Sprintf("eth%d", i)
		kerneltest.Do(t, "ip", "-n", "client", "link", "add", "name", port, "type", "veth", "peer", "name", port,
			"netns", there)
		for j, host := range []string{there, "client"} {
			kerneltest.Do(t, "ip", "-n", host, "address", "add", fmt.Sprintf("10.0.%d.%d/24", i, j+1), "dev", port)
			kerneltest.Do(t, "ip", "-n", host, "link", "set", "dev", port, "up")
			kerneltest.Do(t, "tc", "-n", host, "qdisc", "add", "dev", port, "root", "tbf", "rate", rate, "burst",
				"31250", "limit", "150k")
		}
	}
}

// TestMeasureAddresses: flows to several addresses of one server use all their
// links, each its own; another machine's address is reported before anything is done.
func TestMeasureAddresses(t *testing.T) {
	kerneltest.Parallel(t)
	kerneltest.InNamespace(t, func(t *testing.T) {
		cabled(t, "50mbit")
		s := serving(t, "--listen", ":{5202..5203}")
		one := 50e6 * limits.Frame{Shaped: true}.Fraction()
		var tried []string
		both := false
		for range 4 {
			m, status, said := measured(t, "client", "10.0.{0..1}.1:{5202..5203}", "--source", "10.0.0.2", "--source",
				"10.0.0.2", "--source", "10.0.1.2", "--source", "10.0.1.2",
				"--source-port", "{7001..7008}", "--direction", "both", "--duration", "1s")
			if status != ExitOK && status != ExitDoubt {
				t.Fatalf("exit status %d: %s", status, said)
			}
			if len(m.Flows) != 8 || len(m.Addresses) != 4 || len(m.Ends) != 2 || len(m.Ends[0].Interfaces) != 2 ||
				len(m.Ends[1].Interfaces) != 2 {
				t.Fatalf("%d flows, addresses %+v, ends %+v", len(m.Flows), m.Addresses, m.Ends)
			}
			used := map[string]bool{}
			for _, f := range m.Flows {
				used[f.Source+" "+f.Destination] = true
				local, remote := f.Source, f.Destination
				if f.From == "server" {
					local, remote = remote, local
				}
				if port := local[strings.LastIndex(local, ":")+1:]; port < "7001" || port > "7008" ||
					local[:7] != remote[:7] {
					t.Errorf("%s goes from %s to %s", f.ID, f.Source, f.Destination)
				}
			}
			if len(used) != 8 {
				t.Errorf("flows with both ends in common: %v", used)
			}
			full := true
			for _, a := range m.Addresses {
				tried = append(tried, fmt.Sprintf("%s %.2f %.2f", a.Address, a.WriteBps/one, a.ReadBps/one))
				if a.WriteBps > controltest.Fuller*one || a.ReadBps > controltest.Fuller*one || a.Flows != 4 {
					t.Fatalf("%+v over a link that carries %.0f", a, one)
				}
				full = full && a.WriteBps > 0.7*one && a.ReadBps > 0.7*one
			}
			if both = full; both {
				break
			}
		}
		if !both {
			t.Errorf("never all links in four tries: %s", strings.Join(tried, ", "))
		}

		elsewhere := in(t, "other", "serve")
		other := &served{Cmd: elsewhere, over: make(chan struct{})}
		other.Stderr = other
		if err := other.Start(); err != nil {
			t.Fatal(err)
		}
		go func() { _ = other.Wait(); close(other.over) }()
		t.Cleanup(func() { _ = other.Process.Kill(); <-other.over })
		other.until(t, "listening on", 1)
		before := strings.Count(s.log(), "\n")
		_, status, said := measured(t, "client", "10.0.0.1", "10.0.2.1", "10.0.1.1:9", "10.0.0.77")
		for _, words := range []string{
			"10.0.2.1:5202 and 10.0.0.1:5202 are two servers",
			"reaching 10.0.1.1:9: connection refused", "reaching 10.0.0.77:5202: no route to host",
		} {
			if status != ExitFailed || !strings.Contains(said, words) {
				t.Errorf("exit status %d, no %q in %q", status, words, said)
			}
		}
		s.until(t, "no test", 1)
		if log := s.log(); strings.Count(log, "\n") != before+1 {
			t.Errorf("asking for a name was logged:\n%s", log)
		}
	})
}
