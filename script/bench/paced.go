//go:build linux

package main

import (
	"encoding/json"
	"errors"
	"fmt"
	"regexp"
	"strconv"
)

// stalls are before the commands of the conditions whose server stalls; pid is nginx's file.
const (
	stalls = "sh {dir}/peers/stalled.sh 0.1 {dir}/nginx.pid "
	pace   = "{client} {web} --pace "
)

// paced compares how well tools keep a rate of requests, and which notice that a server does
// not answer during a tenth of the time.
var paced = contest{
	key: "paced", Title: "HTTP requests at a rate, also to a server that stalls", lab: pair,
	services: []service{nginxServer},
	conditions: []string{"500 per second, stalls of 100 ms", "500 per second", "50,000 per second",
		"50,000 per second, stalls of 100 ms"},
	contenders: []contender{
		{name: "linerate", command: "{}", parse: parsePerSecond, args: []string{stalls + pace + "500", pace + "500",
			pace + "50000 --connections 100", stalls + pace + "50000 --connections 100"}},
		{name: "vegeta", command: "{}", args: twice("sh {dir}/peers/vegeta.sh {web} {seconds}"), parse: parseVegeta,
			needs: "vegeta"},
		{name: "hey", command: "{}", args: twice("hey -z {seconds}s -c 4 -q 125 {web}"),
			parse: percentile(`99% in ([0-9.]+) secs`, `Requests/sec:\s+([0-9.]+)`), needs: "hey"},
		{name: "wrk, not at a rate", command: "{}", args: twice("wrk -t 1 -c 4 -d {seconds} --latency {web}"),
			parse: parseWrk, needs: "wrk"},
	},
	shown: []quantity{p99Of, rate("per second", 0), clientOf},
	marks: []mark{
		{0, "linerate", "vegeta", p99Of, 1, level},
		{0, "linerate", "hey", p99Of, 10, atLeast},
		{2, "linerate", "", rate("per second", 0), 49750, atLeast},
		{2, "linerate", "", p99Of, 5, atMost},
		{3, "linerate", "", p99Of, 90, atLeast},
	},
	About: "nginx answers with 2 bytes, and is stopped for 100 ms of each second (SIGSTOP, " +
		"[stalled.sh](../../script/bench/peers/stalled.sh)). Of requests that arrive evenly a tenth fall due " +
		"while it is stopped, and wait for up to 100 ms: their p99 is 90 ms, and what it takes to catch up. A " +
		"tool that times a request from when it was sent, and sends none while its connections wait, has each " +
		"stall in one request of a connection: p99 is that of a server without stalls. wrk knows that, and adds " +
		"the requests to its statistics that it would have made. The pace of 50,000 is kept if 99.5 % of it was " +
		"answered. vegeta is built from its module by `script/setup bench`.",
}

// twice are the commands of a contender with 500 requests a second only.
func twice(command string) []string { return []string{stalls + command, command} }

// percentile reads p99 in seconds, and a rate.
func percentile(p99, rate string) func([]byte) (figure, error) {
	find, findRate := regexp.MustCompile(p99), regexp.MustCompile(rate)
	return func(text []byte) (f figure, err error) {
		found, foundRate := find.FindSubmatch(text), findRate.FindSubmatch(text)
		if found == nil || foundRate == nil {
			return f, fmt.Errorf("%q: no p99", text)
		}
		if f.p99, err = strconv.ParseFloat(string(found[1]), 64); err != nil {
			return f, err
		}
		f.rate, err = strconv.ParseFloat(string(foundRate[1]), 64)
		return f, err
	}
}

func parseVegeta(text []byte) (figure, error) {
	var r struct {
		Latencies struct {
			P99 float64 `json:"99th"` // nanoseconds
		}
		Requests, Throughput float64
	}
	if err := json.Unmarshal(text, &r); err != nil || r.Latencies.P99 <= 0 {
		return figure{}, fmt.Errorf("vegeta: no p99 in %q: %w", text, errors.Join(err))
	}
	return figure{p99: r.Latencies.P99 / 1e9, rate: r.Throughput, units: r.Requests}, nil
}

var wrkP99 = regexp.MustCompile(` 99% +([0-9.]+)(us|ms|s)\n`)

func parseWrk(text []byte) (figure, error) {
	f, err := parsePeers(text)
	found := wrkP99.FindSubmatch(text)
	if err != nil || found == nil {
		return f, fmt.Errorf("wrk: no p99 in %q: %w", text, errors.Join(err))
	}
	v, err := strconv.ParseFloat(string(found[1]), 64)
	f.p99 = v * map[string]float64{"us": 1e-6, "ms": 1e-3, "s": 1}[string(found[2])]
	return f, err
}
