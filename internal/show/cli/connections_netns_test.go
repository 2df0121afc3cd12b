//go:build linux

package cli

import (
	"os"
	"path/filepath"
	"runtime"
	"strconv"
	"strings"
	"testing"

	"linerate/internal/kernel/kerneltest"
)

// TestAliasConnections: a pair of addresses has as many connections as the range has
// ports, a further address at either end as many again; where bind(2) takes the port,
// only a further source has.
func TestAliasConnections(t *testing.T) {
	kerneltest.Long(t)
	run := runLab(t, t.TempDir(), "alias-connections", "--replicates", "2", "--seed", "3")
	for name, want := range map[string]float64{
		"one address at each end, connect(2)": 500, "four of the server, connect(2)": 2000,
		"four of the client, connect(2)": 2000, "four at each end, connect(2)": 8000,
		"one address at each end, bind(2)": 500, "four of the server, bind(2)": 500,
		"four of the client, bind(2)": 2000, "four at each end, bind(2)": 2000,
	} {
		tr := treatment(t, run, name)
		if len(tr.Responses) != 1 || tr.Responses[0].Response != "connections" || tr.Responses[0].Mean != want {
			t.Errorf("%s: %+v, want %.0f connections", name, tr.Responses, want)
		}
		f, ok := found(run, "ports-exhausted", name)
		if errno := map[bool]string{true: "EADDRINUSE", false: "EADDRNOTAVAIL"}[strings.HasSuffix(name,
			"bind(2)")]; !ok || !strings.Contains(strings.Join(f.Evidence, "\n"), errno) ||
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

// TestConnections: the study's levels with a twenty-fifth of the connections. nginx as installed
// keeps as many as its workers may have; with more, all are open, and each takes some
// kilobytes of the kernel's memory, with nginx and with linerate's own server.
func TestConnections(t *testing.T) {
	installed(t, "nginx")
	manyConnections(t, slowFabric(t, "connections", "connections: 12500", "connections: 500", "connections: 100000",
		"connections: 4000",
		"pace: 125", "pace: 50", "pace: 1000", "pace: 400", "duration: 5s", "duration: 1s",
		"{program: nginx, settings: {", "{program: nginx, settings: {worker_processes: 2, "), 4000, 2)
}

// TestConnectionsInFull is the study itself.
func TestConnectionsInFull(t *testing.T) {
	kerneltest.Long(t)
	installed(t, "nginx")
	manyConnections(t, "connections", 100_000, 1)
}

func manyConnections(t *testing.T, study string, wanted float64, blocks int) {
	t.Helper()
	run := runLab(t, t.TempDir(), study, "--replicates", strconv.Itoa(blocks), "--seed", "3")
	value := func(name, response string) (float64, bool) {
		for _, r := range treatment(t, run, name).Responses {
			if r.Response == response {
				return r.Mean, true
			}
		}
		return 0, false
	}
	kept, _ := value("nginx as installed", "connections")
	// Each of two or more workers has 768, of which some are its listening sockets and free ones.
	if least, most := 2*768*0.7, min(wanted*0.9, 768*float64(max(2, runtime.NumCPU()))); kept < least || kept > most {
		t.Errorf("nginx as installed keeps %.0f connections, want %.0f to %.0f", kept, least, most)
	}
	for _, name := range []string{"worker_connections", "rr of one client"} {
		if open, _ := value(name, "connections"); open != wanted {
			t.Errorf("%s: %.0f connections, want %.0f", name, open, wanted)
		}
		if rate, known := value(name, "connection_rate"); !known || rate <= 0 {
			t.Errorf("%s: %g opened per second", name, rate)
		}
		// Two sockets with their files: net/ipv4, struct tcp_sock has more than 2 kB. A few thousand
		// drown in what other programs take.
		if bytes, known := value(name, "kernel_per_connection"); !known || wanted > 50_000 &&
			(bytes < 4e3 || bytes > 40e3) {
			t.Errorf("%s: %.0f bytes of the kernel's for each connection", name, bytes)
		}
	}
	for _, trial := range run.Trials {
		for _, f := range trial.Flows {
			if trial.Treatment == "worker_connections" && (!f.Alive || f.Transactions == nil ||
				f.Transactions.Failed+f.Transactions.Unanswered > 0 || f.Transactions.Application.Errors > 0) {
				t.Errorf("trial %d, %s: %+v, %+v", trial.Order, f.ID, f, f.Transactions)
			}
		}
	}
}

// TestOneClient: what keeps one client from more connections of HTTP is a finding: its
// ports, or where there are more of these, its descriptors.
func TestOneClient(t *testing.T) {
	kerneltest.Parallel(t)
	kerneltest.InNamespace(t, func(t *testing.T) { // whose root cannot raise the limit of descriptors
		dir := t.TempDir()
		for ports, want := range map[string]string{"40000 40199": "ports-exhausted EADDRNOTAVAIL",
			"1024 65535": "descriptors-exhausted RLIMIT_NOFILE is 400"} {
			file := filepath.Join(dir, "one.yaml")
			if err := os.WriteFile(file, []byte(strings.ReplaceAll(`study: one
response: connections
topology:
  hosts:
    server: {interfaces: {eth0: {addresses: [10.0.0.1/24]}}}
    client: {interfaces: {eth0: {addresses: [10.0.0.2/24]}}, sysctls: {net.ipv4.ip_local_port_range: RANGE}}
  links: [{from: client, to: server}]
workload:
  protocol: http
  connections: 600
  pace: 100
  duration: 300ms
  flows: [{from: client, to: server}]
factors: {one: {levels: {client: {unreachable: true}}}}
`, "RANGE", ports)), 0o600); err != nil {
				t.Fatal(err)
			}
			cmd := command(t, t.Context(), dir, "run", file, "--replicates", "1", "--json", "--quiet", "--trust")
			cmd.Args = append([]string{"sh", "-c", `ulimit -n 400 && exec "$0" "$@"`, cmd.Path}, cmd.Args[1:]...)
			cmd.Path = "/bin/sh"
			out, err := cmd.Output()
			if err != nil && cmd.ProcessState.ExitCode() != ExitDoubt {
				t.Fatalf("%v: %s", err, stderr(err))
			}
			run := recorded(t, dir, cmd.Args, out)
			id, words, _ := strings.Cut(want, " ")
			f, ok := found(run, id, "client")
			if !ok || !strings.Contains(strings.Join(f.Evidence, "\n"), words) {
				t.Errorf("%s: %+v", want, run.Findings)
			}
			if _, ok := found(run, "unreachable", "client"); ok {
				t.Error("the server is said to be unreachable")
			}
			// Of the ports each is used once; some descriptors are the process's own.
			open := treatment(t, run, "client").Responses[0].Mean
			if few := id == "ports-exhausted"; few && open != 200 || !few && (open < 200 || open >= 400) {
				t.Errorf("%s: %.0f connections are open", want, open)
			}
		}
	})
}

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
