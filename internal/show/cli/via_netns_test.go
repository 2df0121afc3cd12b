//go:build linux

package cli

import (
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"linerate/internal/kernel/kerneltest"
	"linerate/internal/model/record"
	"linerate/internal/science/trust"
)

// TestHostsReachedByVia asks the same question of hosts that linerate did not make
// as of a lab, and expects the same answer; and afterwards the hosts are as they
// were.
func TestHostsReachedByVia(t *testing.T) {
	kerneltest.Parallel(t)
	kerneltest.InNamespace(t, func(t *testing.T) {
		dir := t.TempDir()
		hosts, real := realHosts(t, dir)
		before := stateOf(t, hosts)
		// Long enough that a moment's disturbance does not decide.
		longer := []string{"--seed", "7", "--set", "workload.duration=1s", "--set", "workload.warmup=500ms"}
		onReal := runLab(t, dir, append([]string{real}, longer...)...)
		if after := stateOf(t, hosts); after != before {
			t.Errorf("the hosts are not as they were:\n%s", firstDifference(before, after))
		}
		inLab := runLab(t, dir, append([]string{labFile(t, "small.yaml")}, longer...)...)
		if onReal.Environment.Mode != "real hosts" {
			t.Errorf("mode %q", onReal.Environment.Mode)
		}
		// Of a machine that had no more to give, as the check generator says, or that was late
		// for a window's edge by more than the check clock allows, the one run's part was not
		// the other's.
		busy := slices.ContainsFunc(slices.Concat(onReal.Trust, inLab.Trust), func(c record.Check) bool {
			return (c.Check == trust.Generator || c.Check == trust.Clock) && !c.Pass
		})
		for _, want := range inLab.Treatments {
			got := treatment(t, onReal, want.Name)
			if ratio := got.Goodput.MeanBps / want.Goodput.MeanBps; !busy && (ratio < 0.93 || ratio > 1.07) {
				t.Errorf("%s: %.3f of the lab's goodput", want.Name, ratio)
			}
			if got.LimitBps != want.LimitBps {
				t.Errorf("%s: limit %.0f, in the lab %.0f", want.Name, got.LimitBps, want.LimitBps)
			}
			for _, id := range []string{"arp-flux", "same-subnet-one-egress", "rp-filter-drop", "arp-wrong-source"} {
				_, here := found(onReal, id, want.Name)
				_, there := found(inLab, id, want.Name)
				if here != there {
					t.Errorf("%s: finding %s: %t, in the lab %t", want.Name, id, here, there)
				}
			}
		}
		for i, e := range inLab.Effects {
			if onReal.Effects[i].Verdict != e.Verdict && !busy {
				t.Errorf("%s → %s: %s, in the lab %s", e.From, e.To, onReal.Effects[i].Verdict, e.Verdict)
			}
		}
		if bad := failures(onReal); bad != "" {
			t.Errorf("trust checks failed:\n%s", bad)
		}
	})
}

// realHosts makes network namespaces with cables, a bridge and shapers, by ip(8)
// and tc(8), and a file of the study small.yaml that reaches them as its hosts.
func realHosts(t *testing.T, dir string) (hosts []string, file string) {
	t.Helper()
	// ip netns keeps its files there, and an ordinary user's /run is not his.
	kerneltest.Do(t, "mount", "-t", "tmpfs", "tmpfs", "/run")
	hosts = []string{"server", "client"}
	for _, name := range append(hosts, "sw") {
		kerneltest.Do(t, "ip", "netns", "add", name)
		kerneltest.Do(t, "ip", "-n", name, "link", "set", "dev", "lo", "up")
		t.Cleanup(func() { _ = exec.Command("ip", "netns", "del", name).Run() })
	}
	kerneltest.Do(t, "ip", "-n", "sw", "link", "add", "name", "br0", "type", "bridge")
	kerneltest.Do(t, "ip", "-n", "sw", "link", "set", "dev", "br0", "up")
	cable := func(host, port, address, rate string) {
		far := host + "-" + port
		kerneltest.Do(t, "ip", "-n", host, "link", "add", "name", port, "type", "veth", "peer", "name", far,
			"netns", "sw")
		kerneltest.Do(t, "ip", "-n", host, "address", "add", address, "dev", port)
		kerneltest.Do(t, "ip", "-n", host, "link", "set", "dev", port, "up")
		kerneltest.Do(t, "ip", "-n", "sw", "link", "set", "dev", far, "up", "master", "br0")
		for _, end := range [][2]string{{host, port}, {"sw", far}} {
			kerneltest.Do(t, "tc", "-n", end[0], "qdisc", "add", "dev", end[1], "root", "tbf", "rate", rate, "burst",
				"12500", "limit", "50k")
		}
	}
	// The port that joins last is flooded first.
	cable("client", "eth0", "192.168.1.100/24", "200mbit")
	cable("server", "eth1", "192.168.1.16/24", "40mbit")
	cable("server", "eth0", "192.168.1.15/24", "40mbit")

	lab, err := os.ReadFile(labFile(t, "small.yaml"))
	if err != nil {
		t.Fatal(err)
	}
	text := strings.Replace(string(lab), "    server:\n", "    server:\n      via: [ip, netns, exec, server]\n", 1)
	text = strings.Replace(text, "    client:\n", "    client:\n      via: [ip, netns, exec, client]\n", 1)
	text = strings.Replace(text, "    switch: {}\n", "    switch: {via: [ip, netns, exec, sw], bridge: br0}\n", 1)
	file = filepath.Join(dir, "real.yaml")
	if err := os.WriteFile(file, []byte(text), 0o644); err != nil {
		t.Fatal(err)
	}
	return hosts, file
}

// stateOf is what a run may change on a real host and must put back.
func stateOf(t *testing.T, hosts []string) string {
	t.Helper()
	var b strings.Builder
	for _, host := range hosts {
		var seen []string
		for _, what := range []string{"address", "route show table all", "rule", "neighbour show nud permanent"} {
			seen = append(seen, kerneltest.Do(t, "ip", append([]string{"-n", host, "-4", "-o"},
				strings.Fields(what)...)...))
		}
		seen = append(seen, kerneltest.Do(t, "ip", "netns", "exec", host, "sysctl", "net.ipv4.conf",
			"net.ipv4.ip_forward"))
		// The kernel notices a new link's carrier up to a second later (linkwatch).
		text := strings.ReplaceAll(strings.Join(seen, "\n"), " linkdown", "")
		for _, line := range strings.Split(text, "\n") {
			fmt.Fprintf(&b, "%s: %s\n", host, line)
		}
	}
	return b.String()
}
