//go:build linux

package main

import (
	"context"
	"encoding/json"
	"fmt"
	"os"
	"path/filepath"
	"strings"
)

// tools compares a program that is described by a study with the same program as linerate
// knows it (built in).
var tools = contest{
	key: "tools", Title: "iperf3, as linerate knows it and as a study describes it",
	conditions: []string{"50 Mbit/s"},
	contenders: []contender{
		{name: "described", turn: goodputOf("described.yaml")},
		{name: "built-in", turn: goodputOf("known.yaml")},
	},
	shown: []quantity{rate("Mbit/s", 3)},
	marks: []mark{{0, "described", "built-in", rateOf, 0.01, within}},
	About: "Goodput is what the sockets' reader counts of the program's connection in the window, in a " +
		"study of one trial ([described.yaml](../../script/bench/described.yaml), " +
		"[known.yaml](../../script/bench/known.yaml), `tool` in [foreign " +
		"tools](../foreign-tools.md#any-program)).",
}

func goodputOf(file string) func(context.Context, *bench, int) (figure, error) {
	return func(ctx context.Context, l *bench, _ int) (figure, error) {
		run, err := l.study(ctx, file)
		if err != nil {
			return figure{}, err
		}
		return figure{rate: run.Trials[0].GoodputBps / 1e6}, nil
	}
}

// connections has no other program: what many connections take.
var connections = contest{
	key: "connections", Title: "100,000 connections", lab: pair,
	services:   []service{linerateServer},
	conditions: []string{"100,000 open"},
	contenders: []contender{{name: "linerate", turn: connectionsTurn}},
	shown:      []quantity{kernelOf, memoryOf},
	marks:      []mark{{0, "linerate", "", kernelOf, 8000, atMost}, {0, "linerate", "", memoryOf, 1000, atMost}},
	About: "Of each connection, which is open at both ends on this machine: what the kernel has for both " +
		"ends, in a study ([connections.yaml](../../script/bench/connections.yaml), `kernel_per_connection` in " +
		"[metrics](../metrics.md)), and what linerate's processes have at the end that takes more, in a " +
		"measurement with `linerate serve`. A turn in which one of them is not open, or has failed, does not " +
		"count.",
}

func connectionsTurn(ctx context.Context, l *bench, _ int) (f figure, err error) {
	run, err := l.study(ctx, "connections.yaml")
	if err != nil {
		return f, err
	}
	responses := run.Trials[0].Responses
	if f.kernel = responses["kernel_per_connection"]; responses["connections"] != 100_000 {
		return f, fmt.Errorf("%.0f connections in the study", responses["connections"])
	}
	out, err := l.in(ctx, "a", strings.Fields(l.expand("{linerate} measure {server} --json --quiet --protocol rr "+
		"--connections 100000 --pace 10000 --warmup 1s --duration 1s"))...)
	if err != nil {
		return f, err
	}
	f.memory, err = memoryEach(out, 100_000)
	return f, err
}

// memoryEach reads the memory for each of so many connections that are open, of the end where
// it is more.
func memoryEach(text []byte, open int) (most float64, err error) {
	var m struct {
		Transactions struct{ Connections, Failed int }
		Ends         []struct {
			Bytes float64 `json:"bytes_per_connection"`
		}
	}
	if err := json.Unmarshal(text, &m); err != nil {
		return 0, err
	}
	if t := m.Transactions; t.Connections != open || t.Failed > 0 || len(m.Ends) != 2 {
		return 0, fmt.Errorf("linerate measure: %d connections are open, and %d failed", t.Connections, t.Failed)
	}
	for _, end := range m.Ends {
		if end.Bytes <= 0 {
			return 0, fmt.Errorf("linerate measure: no bytes_per_connection of an end")
		}
		most = max(most, end.Bytes)
	}
	return most, nil
}

// studied is the part of a run's JSON document that is read.
type studied struct {
	Environment struct{ Hosts []struct{ CPUs float64 } }
	Trials      []struct {
		GoodputBps float64            `json:"goodput_bps"`
		PerS       float64            `json:"transactions_per_s"`
		WindowS    float64            `json:"window_s"`
		Responses  map[string]float64 `json:"responses"`
		Hosts      []struct {
			Busy float64 `json:"cpu_busy"`
			CPUS float64 `json:"process_cpu_s"`
		}
	}
}

func parseStudied(text []byte) (run studied, err error) {
	if err := json.Unmarshal(text, &run); err != nil {
		return run, err
	}
	if len(run.Trials) != 1 {
		return run, fmt.Errorf("%d trials, want one", len(run.Trials))
	}
	return run, nil
}

// transactions is the figure of a trial whose first host has the client, and of whose
// machine each host reads the CPUs; inside: the client is linerate's process there.
func (r studied) transactions(inside bool) (f figure, err error) {
	t := r.Trials[0]
	done := t.PerS * t.WindowS
	if done <= 0 || len(t.Hosts) == 0 || len(r.Environment.Hosts) == 0 {
		return f, fmt.Errorf("no transactions in the trial")
	}
	f.rate, f.cpu = t.PerS, t.Hosts[0].Busy*r.Environment.Hosts[0].CPUs/t.PerS
	if inside {
		f.client = t.Hosts[0].CPUS / done
	}
	return f, nil
}

// study makes the one trial of a file, in which pairs of texts are replaced.
func (l *bench) study(ctx context.Context, file string, edits ...string) (run studied, err error) {
	text, err := os.ReadFile(filepath.Join(l.dir, file))
	if err != nil {
		return run, err
	}
	path := filepath.Join(l.dir, "edited-"+file)
	edited := strings.NewReplacer(edits...).Replace(string(text))
	edited = strings.ReplaceAll(edited, "congestion_control: cubic", "congestion_control: "+l.control)
	if err := os.WriteFile(path, []byte(edited), 0o644); err != nil {
		return run, err
	}
	out, err := output(ctx, "env", "LINERATE_NOTEBOOK="+filepath.Join(l.dir, "notebook.db"),
		l.binary, "run", path, "--trust", "--json", "--quiet")
	if err != nil {
		return run, err
	}
	run, err = parseStudied(out)
	if err != nil {
		err = fmt.Errorf("%s: %w", file, err)
	}
	return run, err
}
