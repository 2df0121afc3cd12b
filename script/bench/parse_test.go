//go:build linux

package main

import (
	"math"
	"os"
	"path/filepath"
	"strings"
	"testing"
)

// near reports whether two figures are the same.
func (f figure) near(g figure) bool {
	same := func(a, b float64) bool { return math.Abs(a-b) <= 1e-9*max(1, math.Abs(b)) }
	return same(f.rate, g.rate) && same(f.cpu, g.cpu) && same(f.client, g.client) && same(f.units, g.units) &&
		same(f.lost, g.lost) && same(f.uncounted, g.uncounted) && same(f.p99, g.p99)
}

// TestRecorded: figures of what each tool has printed.
func TestRecorded(t *testing.T) {
	for file, c := range map[string]struct {
		parse func([]byte) (figure, error)
		want  figure
	}{
		"neper.txt":           {parseNeper, figure{rate: 35.81071, units: 28805}},
		"redis-benchmark.txt": {parsePeers, figure{rate: 92879.25, units: 30000}},
		"wrk.txt":             {parseWrk, figure{rate: 119285.02, units: 119335, p99: 2.78e-3}},
		"dnsperf.txt":         {parsePeers, figure{rate: 259662.935613, units: 259752}},
		"mails.txt":           {parsePeers, figure{rate: 32181.81, units: 4800}},
		"hey.txt": {percentile(`99% in ([0-9.]+) secs`, `Requests/sec:\s+([0-9.]+)`),
			figure{rate: 496.0855, p99: 4.1e-3}},
		"vegeta.json":  {parseVegeta, figure{rate: 500.4880018271576, units: 500, p99: 2.311817e-3}},
		"sockperf.txt": {parseSockperf, figure{rate: 1e3 / 2 / 2.947, units: 2e6 / 2 / 2.947}},
		"iperf3-gsro.json": {parseIperf3, figure{rate: 26.3263377805682, units: 3.35450196, lost: 1657440.0 / 3974085,
			uncounted: 315.0 / 3974400}},
	} {
		text, err := os.ReadFile(filepath.Join("testdata", file))
		if err != nil {
			t.Fatal(err)
		}
		if file == "iperf3-gsro.json" {
			var spent float64
			if text, spent, err = cutSpent(text); err != nil || math.Abs(spent-0.690) > 1e-9 {
				t.Errorf("CPU time of %s: %g s, %v; want 0.690 s", file, spent, err)
			}
		}
		if got, err := c.parse(text); err != nil || !got.near(c.want) {
			t.Errorf("%s: %+v, %v; want %+v", file, got, err, c.want)
		}
		for _, bad := range []string{"", "{}", "connect failed: Connection refused", `{"end":{},"error":"busy"}`,
			string(text[:len(text)/8])} {
			if f, err := c.parse([]byte(bad)); err == nil {
				t.Errorf("%s: %q is taken for %+v", file, bad, f)
			}
		}
	}
	if _, _, err := cutSpent([]byte("{}")); err == nil {
		t.Error("no CPU time is no error")
	}
}

func TestParse(t *testing.T) {
	const one = "20260101000000,10.0.0.1,4,10.0.0.2,5001,1,0.0-2.0,1000000000,4000000000\n"
	const lossy = `{"goodput_bps":8e10,"received_bytes":2e10,"ends":[{"busy_cpu_s":3},{"busy_cpu_s":3}],` +
		`"flows":[{"datagrams":{"sent":50,"received":30,"lost":10}},{}],"trust":[{"check":"conservation","pass":PASS}]}`
	for _, c := range []struct {
		name  string
		parse func([]byte) (figure, error)
		text  string
		want  figure
	}{
		{"measure", parseMeasure, strings.ReplaceAll(lossy, "PASS", "false"),
			figure{rate: 80, cpu: 0.15, lost: 0.25, uncounted: 0.2}},
		{"measure, all counted", parseMeasure, strings.ReplaceAll(lossy, "PASS", "true"),
			figure{rate: 80, cpu: 0.15, lost: 0.25}},
		{"rr", parseMeasure,
			`{"rate_per_s":60000,"transactions":{"done":120000},"latency_us":{"p99":500},` +
				`"ends":[{"busy_cpu_s":3,"cpu_us_per_transaction":4}]}`,
			figure{rate: 60, cpu: 25e-6, client: 4e-6, p99: 5e-4}},
		{"a server of others", parsePerSecond,
			`{"rate_per_s":398.5,"transactions":{"done":797},"ends":[{"busy_cpu_s":0.797}]}`,
			figure{rate: 398.5, cpu: 1e-3}},
		{"iperf3", parseIperf3,
			`{"start":{},"end":{"sum_received":{"seconds":2.0,"bytes":12500000000,"bits_per_second":5e10}}}`,
			figure{rate: 50, units: 12.5}},
		{"iperf", parseIperf, one + strings.Replace(one, "10.0.0.1,4,", "10.0.0.1,6,", 1), figure{rate: 8, units: 2}},
		{"crr", parseThousands, "16128.2\n", figure{rate: 16.1282, units: 32256.4}},
	} {
		got, err := c.parse([]byte(c.text))
		if err != nil || !got.near(c.want) {
			t.Errorf("%s: %+v, %v; want %+v", c.name, got, err, c.want)
		}
		for _, bad := range []string{"", "{}", "connect failed: Connection refused", `{"end":{},"error":"busy"}`,
			strings.Replace(one, "1000000000", "0", 1)} {
			if f, err := c.parse([]byte(bad)); err == nil {
				t.Errorf("%s: %q is taken for %+v", c.name, bad, f)
			}
		}
	}
	if _, err := parseIperf3([]byte(`{"start":{},"end":{},"error":"unable to connect"}`)); err == nil ||
		!strings.Contains(err.Error(), "unable to connect") {
		t.Errorf("iperf3's error becomes %v", err)
	}
}

// TestStudied: figures of a run's one trial.
func TestStudied(t *testing.T) {
	run, err := parseStudied([]byte(`{"environment":{"hosts":[{"cpus":2}]},"trials":[{"goodput_bps":5e7,` +
		`"transactions_per_s":50000,"window_s":2,"responses":{"connections":100000,"kernel_per_connection":7075.9},` +
		`"hosts":[{"cpu_busy":0.9,"process_cpu_s":0.5},{"cpu_busy":0.9,"process_cpu_s":1.5}]}]}`))
	if err != nil || run.Trials[0].Responses["kernel_per_connection"] != 7075.9 || run.Trials[0].GoodputBps != 5e7 {
		t.Fatalf("%+v, %v", run, err)
	}
	for inside, want := range map[bool]figure{true: {rate: 50000, cpu: 36e-6, client: 5e-6},
		false: {rate: 50000, cpu: 36e-6}} {
		if f, err := run.transactions(inside); err != nil || !f.near(want) {
			t.Errorf("%+v, %v; want %+v", f, err, want)
		}
	}
	for _, bad := range []string{"", "{}", `{"trials":[{},{}]}`} {
		if run, err := parseStudied([]byte(bad)); err == nil {
			t.Errorf("%q is taken for %+v", bad, run)
		}
	}
	if run, err := parseStudied([]byte(`{"trials":[{}]}`)); err != nil {
		t.Error(err)
	} else if f, err := run.transactions(true); err == nil {
		t.Errorf("a trial without transactions is taken for %+v", f)
	}
}

// TestMemoryEach: the end with more memory counts, if all connections are open.
func TestMemoryEach(t *testing.T) {
	text := `{"transactions":{"connections":100,"failed":FAILED},"ends":[{"bytes_per_connection":606},` +
		`{"bytes_per_connection":680}]}`
	if got, err := memoryEach([]byte(strings.ReplaceAll(text, "FAILED", "0")), 100); err != nil || got != 680 {
		t.Errorf("%g, %v, want 680", got, err)
	}
	for _, bad := range []string{strings.ReplaceAll(text, "FAILED", "1"), "{}", "",
		`{"transactions":{"connections":100},"ends":[{"bytes_per_connection":1},{}]}`} {
		if got, err := memoryEach([]byte(bad), 100); err == nil {
			t.Errorf("%q is taken for %g", bad, got)
		}
	}
}

// TestAwaitUp: the line that says that a lab is up, and what that took.
func TestAwaitUp(t *testing.T) {
	text := "a host\n\nThe lab is up (lab as root, 3.45 s). Use it from another terminal:\n  linerate lab exec\n"
	if s, err := awaitUp(strings.NewReader(text)); err != nil || s != 3.45 {
		t.Errorf("%g, %v, want 3.45", s, err)
	}
	s, err := awaitUp(strings.NewReader("linerate: no\n"))
	if err == nil || !strings.Contains(err.Error(), "linerate: no") {
		t.Errorf("%g, %v", s, err)
	}
}
