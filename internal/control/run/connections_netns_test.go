//go:build linux

package run_test

import (
	"runtime"
	"strings"
	"syscall"
	"testing"

	"linerate/internal/control/controltest"
	"linerate/internal/kernel/kerneltest"
	"linerate/internal/model/fact"
	"linerate/internal/model/record"
)

// TestAliasConnections: a pair of addresses has as many connections as the range has
// ports, a further address at either end as many again; where bind(2) takes the port,
// only a further source has.
func TestAliasConnections(t *testing.T) {
	kerneltest.Long(t)
	run := controltest.Run(t, controltest.Study{File: controltest.BuiltIn(t, "alias-connections"),
		Replicates: 2, Seed: 3})
	for name, want := range map[string]float64{
		"one address at each end, connect(2)": 500, "four of the server, connect(2)": 2000,
		"four of the client, connect(2)": 2000, "four at each end, connect(2)": 8000,
		"one address at each end, bind(2)": 500, "four of the server, bind(2)": 500,
		"four of the client, bind(2)": 2000, "four at each end, bind(2)": 2000,
	} {
		tr := controltest.Treatment(t, run, name)
		if len(tr.Responses) != 1 || tr.Responses[0].Response != "connections" || tr.Responses[0].Mean != want {
			t.Errorf("%s: %+v, want %.0f connections", name, tr.Responses, want)
		}
		f, ok := controltest.Found(run, "ports-exhausted", name)
		failed := fact.Failed{Call: "connect(2)", Error: "EADDRNOTAVAIL"}
		if strings.HasSuffix(name, "bind(2)") {
			failed = fact.Failed{Call: "bind(2)", Error: "EADDRINUSE"}
		}
		if !ok || !record.Within([]fact.Fact{{Host: "client", Is: failed},
			{Host: "client", Is: fact.LocalPorts{First: 40000, Last: 40499}}}, f.Facts) {
			t.Errorf("%s: the finding is %+v", name, f)
		}
		if _, ok := controltest.Found(run, "unreachable", name); ok {
			t.Errorf("%s: the server is said to be unreachable", name)
		}
	}
	if text := controltest.Failures(run.Trust); text != "" {
		t.Error(text)
	}
}

// TestConnections: the study's levels with a twenty-fifth of the connections. nginx as installed
// keeps as many as its workers may have; with more, all are open, and each takes some
// kilobytes of the kernel's memory, with nginx and with linerate's own server.
func TestConnections(t *testing.T) {
	kerneltest.Program(t, "nginx")
	manyConnections(t, controltest.BuiltIn(t, "connections", "connections: 12500", "connections: 500",
		"connections: 100000",
		"connections: 4000",
		"pace: 125", "pace: 50", "pace: 1000", "pace: 400", "duration: 5s", "duration: 1s",
		"{program: nginx, settings: {", "{program: nginx, settings: {worker_processes: 2, "), 4000, 2)
}

// TestConnectionsInFull is the study itself.
func TestConnectionsInFull(t *testing.T) {
	kerneltest.Long(t)
	kerneltest.Program(t, "nginx")
	manyConnections(t, controltest.BuiltIn(t, "connections"), 100_000, 1)
}

func manyConnections(t *testing.T, study string, wanted float64, blocks int) {
	t.Helper()
	run := controltest.Run(t, controltest.Study{File: study, Replicates: blocks, Seed: 3})
	value := func(name, response string) (float64, bool) {
		for _, r := range controltest.Treatment(t, run, name).Responses {
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
		few := syscall.Rlimit{Cur: 400, Max: 400}
		if err := syscall.Setrlimit(syscall.RLIMIT_NOFILE, &few); err != nil {
			t.Fatal(err)
		}
		for ports, want := range map[string]record.Finding{
			"40000 40199": *(&record.Finding{ID: "ports-exhausted"}).With("client",
				fact.Failed{Call: "connect(2)", Error: "EADDRNOTAVAIL"}),
			"1024 65535": *(&record.Finding{ID: "descriptors-exhausted"}).With("client",
				fact.DescriptorLimit{Limit: 400})} {
			file := controltest.Write(t, strings.ReplaceAll(`study: one
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
`, "RANGE", ports))
			run := controltest.Run(t, controltest.Study{File: file, Replicates: 1})
			f, ok := controltest.Found(run, want.ID, "client")
			if !ok || !record.Within(want.Facts, f.Facts) {
				t.Errorf("%s: %+v", want.ID, run.Findings)
			}
			if _, ok := controltest.Found(run, "unreachable", "client"); ok {
				t.Error("the server is said to be unreachable")
			}
			// Of the ports each is used once; some descriptors are the process's own.
			open := controltest.Treatment(t, run, "client").Responses[0].Mean
			if few := want.ID == "ports-exhausted"; few && open != 200 || !few && (open < 200 || open >= 400) {
				t.Errorf("%s: %.0f connections are open", want.ID, open)
			}
		}
	})
}
