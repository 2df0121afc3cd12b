//go:build linux

package main

import (
	"encoding/json"
	"errors"
	"fmt"
	"regexp"
	"strconv"
)

// stalled is before the commands of stall.
const stalled = "sh {dir}/peers/stalled.sh {} {dir}/nginx.pid "

// stall compares which tools notice that a server does not answer during a tenth of the
// time.
var stall = contest{
	key: "stall", Title: "HTTP requests to a server that stalls", lab: pair,
	unit: "ms, p99", digits: 2,
	conditions: []string{"100 ms each second", "none"}, args: []string{"0.1", "0"},
	contenders: []contender{
		{name: "linerate measure", command: stalled +
			"{linerate} measure {web} --pace 500 --duration 5s --json --quiet", parse: parseMeasuredP99},
		{name: "vegeta, 500 per second", command: stalled + "sh {dir}/peers/vegeta.sh {web}", parse: parseVegeta,
			needs: "vegeta"},
		{name: "fortio, 500 per second", command: stalled + "fortio load -qps 500 -c 4 -t 5s -quiet -json - {web}",
			parse: parseFortio, needs: "fortio"},
		{name: "hey, 500 per second", command: stalled + "hey -z 5s -c 4 -q 125 {web}",
			parse: percentile(`99% in ([0-9.]+) secs`, 1e3), needs: "hey"},
		{name: "wrk", command: stalled + "wrk -t 1 -c 4 -d 5s --latency {web}", parse: parseWrk, needs: "wrk"},
		{name: "ab", command: stalled + "ab -q -k -c 4 -t 5 -n 10000000 -e /dev/stdout {web}",
			parse: percentile(`\n99,([0-9.]+)\n`, 1), needs: "ab"},
	},
	marks: []mark{
		{0, "linerate measure", "hey, 500 per second", rateOf, "p99", 10, atLeast},
		{0, "linerate measure", "ab", rateOf, "p99", 10, atLeast},
	},
	About: "nginx answers with 2 bytes, and is stopped for 100 ms of each second (SIGSTOP, " +
		"[stalled.sh](../script/bench/peers/stalled.sh)). Of requests that arrive evenly a tenth fall due while it " +
		"is stopped, and wait for up to 100 ms: their p99 is 90 ms, and what it takes to catch up. A tool that " +
		"times a request from when it was sent, and sends none while its connections wait, has each stall in one " +
		"request of a connection: p99 is that of a server without stalls. wrk knows that, and adds the requests to " +
		"its statistics that it would have made. The second column is the same server without stalls. vegeta and " +
		"fortio are built from their modules by `script/setup bench`.",
}

// percentile reads one figure of a text.
func percentile(pattern string, ms float64) func([]byte) (figure, error) {
	find := regexp.MustCompile(pattern)
	return func(text []byte) (figure, error) {
		found := find.FindSubmatch(text)
		if found == nil {
			return figure{}, fmt.Errorf("%q: no p99", text)
		}
		v, err := strconv.ParseFloat(string(found[1]), 64)
		return figure{rate: v * ms}, err
	}
}

func parseMeasuredP99(text []byte) (figure, error) {
	var m struct {
		LatencyUs struct{ P99 float64 } `json:"latency_us"`
	}
	if err := json.Unmarshal(text, &m); err != nil || m.LatencyUs.P99 <= 0 {
		return figure{}, fmt.Errorf("linerate measure: no latency: %w", errors.Join(err))
	}
	return figure{rate: m.LatencyUs.P99 / 1e3}, nil
}

func parseVegeta(text []byte) (figure, error) {
	var r struct {
		Latencies struct {
			P99 float64 `json:"99th"` // nanoseconds
		}
	}
	if err := json.Unmarshal(text, &r); err != nil || r.Latencies.P99 <= 0 {
		return figure{}, fmt.Errorf("vegeta: no p99 in %q: %w", text, errors.Join(err))
	}
	return figure{rate: r.Latencies.P99 / 1e6}, nil
}

func parseFortio(text []byte) (figure, error) {
	var r struct {
		DurationHistogram struct {
			Percentiles []struct{ Percentile, Value float64 } // seconds
		}
	}
	if err := json.Unmarshal(text, &r); err != nil {
		return figure{}, fmt.Errorf("fortio: %w", err)
	}
	for _, p := range r.DurationHistogram.Percentiles {
		if p.Percentile == 99 {
			return figure{rate: p.Value * 1e3}, nil
		}
	}
	return figure{}, fmt.Errorf("fortio: no p99 in %q", text)
}

var wrkP99 = regexp.MustCompile(` 99% +([0-9.]+)(us|ms|s)\n`)

func parseWrk(text []byte) (figure, error) {
	found := wrkP99.FindSubmatch(text)
	if found == nil {
		return figure{}, fmt.Errorf("wrk: no p99 in %q", text)
	}
	v, err := strconv.ParseFloat(string(found[1]), 64)
	return figure{rate: v * map[string]float64{"us": 1e-3, "ms": 1, "s": 1e3}[string(found[2])]}, err
}
