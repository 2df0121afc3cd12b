package controltest

import (
	"context"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"linerate/internal/kernel/kerneltest"
)

// Wired makes a server and clients, each a network namespace with one port on a
// common bridge. What leaves a port is shaped. The first client is the test's own
// namespace, which it must have (kerneltest.InNamespace).
func Wired(t *testing.T, rate string, clients ...string) {
	t.Helper()
	hosts := append([]string{"server"}, clients...)
	Hosts(t, clients[0], append([]string{"server", "sw"}, clients[1:]...)...)
	kerneltest.Do(t, "ip", "-n", "sw", "link", "add", "name", "br0", "type", "bridge")
	kerneltest.Do(t, "ip", "-n", "sw", "link", "set", "dev", "br0", "up")
	for i, host := range hosts {
		kerneltest.Do(t, "ip", "-n", host, "link", "add", "name", "eth0", "type", "veth", "peer", "name", host,
			"netns", "sw")
		kerneltest.Do(t, "ip", "-n", host, "address", "add", fmt.Sprintf("10.0.0.%d/24", i+1), "dev", "eth0")
		kerneltest.Do(t, "ip", "-n", host, "-6", "address", "add", fmt.Sprintf("fd00::%d/64", i+1), "dev",
			"eth0", "nodad")
		kerneltest.Do(t, "ip", "-n", host, "link", "set", "dev", "eth0", "up")
		kerneltest.Do(t, "ip", "-n", "sw", "link", "set", "dev", host, "up", "master", "br0")
		for _, end := range [][2]string{{host, "eth0"}, {"sw", host}} {
			kerneltest.Do(t, "tc", "-n", end[0], "qdisc", "add", "dev", end[1], "root", "tbf", "rate", rate, "burst",
				"31250", "limit", "150k")
		}
	}
}

// PlainPair makes a server and a client on a veth pair that nothing shapes; the client is
// the test's own namespace.
func PlainPair(t *testing.T) {
	t.Helper()
	Hosts(t, "client", "server")
	kerneltest.Do(t, "ip", "-n", "server", "link", "add", "name", "eth0", "type", "veth", "peer", "name", "eth0",
		"netns", "client")
	for host, address := range map[string]string{"server": "10.0.0.1/24", "client": "10.0.0.2/24"} {
		kerneltest.Do(t, "ip", "-n", host, "address", "add", address, "dev", "eth0")
		kerneltest.Do(t, "ip", "-n", host, "link", "set", "dev", "eth0", "up")
	}
}

// RealHosts makes network namespaces with cables, a bridge and shapers by ip(8) and tc(8). It
// returns the names of the hosts, and the path of a copy of the study small.yaml in dir that
// reaches these namespaces as real hosts.
func RealHosts(t *testing.T, dir string) (hosts []string, file string) {
	t.Helper()
	hosts = []string{"server", "client"}
	Hosts(t, "", append(hosts, "sw")...)
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

	lab, err := os.ReadFile(File(t, "small.yaml"))
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

// StateOf returns, as text, the state of hosts that a run may change and must restore: addresses,
// routes, rules, permanent neighbours and sysctls.
func StateOf(t *testing.T, hosts []string) string {
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

// FirstDifference lists the lines that occur more often in one of the two texts than in the
// other.
func FirstDifference(before, after string) string {
	old := map[string]int{} // how often
	for line := range strings.Lines(before) {
		old[line]++
	}
	var b strings.Builder
	for line := range strings.Lines(after) {
		if old[line]--; old[line] < 0 {
			fmt.Fprint(&b, "new or changed: ", line)
		}
	}
	for line, n := range old {
		if n > 0 {
			fmt.Fprint(&b, "was: ", line)
		}
	}
	return b.String()
}

// Started runs a program in a host until the test ends, and waits until it listens at a TCP port.
func Started(t *testing.T, host string, port int, name string, args ...string) {
	t.Helper()
	kerneltest.Slow(t)
	path := kerneltest.Program(t, name)
	ctx, cancel := context.WithCancel(context.Background())
	server := exec.CommandContext(ctx, "ip", append([]string{"netns", "exec", host, path}, args...)...)
	var said strings.Builder
	server.Stdout, server.Stderr = &said, &said
	if err := server.Start(); err != nil {
		t.Fatal(err)
	}
	ended := make(chan struct{})
	go func() { _ = server.Wait(); close(ended) }()
	t.Cleanup(func() { cancel(); <-ended })
	for end := time.Now().Add(20 * time.Second); ; time.Sleep(20 * time.Millisecond) {
		if kerneltest.Do(t, "ip", "netns", "exec", host, "ss", "-Hltn", fmt.Sprintf("sport = :%d", port)) != "" {
			return
		}
		select {
		case <-ended:
			t.Fatalf("%s ended: %s", name, said.String())
		default:
		}
		if time.Now().After(end) {
			t.Fatalf("%s does not listen at port %d", name, port)
		}
	}
}
