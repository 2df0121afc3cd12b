//go:build linux

package main

import (
	"fmt"
	"regexp"
	"strconv"
)

// requests compares how many requests clients make of the same server, whose work for each is the same.
var requests = contest{
	key: "requests", Title: "Requests from one thread", lab: pair,
	unit: "per second", digits: 0,
	conditions: []string{"HTTP, 16 connections", "HTTP, 100", "HTTP, 1,000", "DNS, 256 unanswered",
		"Redis, 50 connections"},
	contenders: []contender{
		{name: "linerate measure", command: "{linerate} measure {} --duration 3s --warmup 500ms --json --quiet",
			args: []string{"{web} --connections 16", "{web} --connections 100", "{web} --connections 1000",
				"dns://{server}:5353/www.linerate.test --connections 16 --pipeline 16",
				"redis://{server}:6390 --connections 50"},
			parse: parsePerSecond},
		{name: "wrk, dnsperf, redis-benchmark", command: "{}",
			args: []string{"wrk -t 1 -c 16 -d 3s {web}", "wrk -t 1 -c 100 -d 3s {web}", "wrk -t 1 -c 1000 -d 3s {web}",
				"dnsperf -s {server} -p 5353 -d {dir}/peers/queries -c 16 -q 256 -l 3",
				"redis-benchmark -h {server} -p 6390 -c 50 -n 300000 -t ping_mbulk -q"},
			parse: parseLastRate},
	},
	marks: []mark{
		{0, "linerate measure", "wrk, dnsperf, redis-benchmark", rateOf, "rate", 1, atLeast},
		{1, "linerate measure", "wrk, dnsperf, redis-benchmark", rateOf, "rate", 1, atLeast},
		{2, "linerate measure", "wrk, dnsperf, redis-benchmark", rateOf, "rate", 1, atLeast},
		{3, "linerate measure", "wrk, dnsperf, redis-benchmark", rateOf, "rate", 1.5, atLeast},
		{4, "linerate measure", "wrk, dnsperf, redis-benchmark", rateOf, "rate", 1.1, atLeast},
	},
	About: "nginx, nsd and redis-server have one process each, at the other end of a veth pair without a limit. " +
		"Client and server share two CPUs, so that a client that takes less of them leaves more to the server. " +
		"Answers of nginx have 2 bytes, Redis answers PING.",
}

// lastRate is how redis-benchmark prints a rate, again and again on one line.
var lastRate = regexp.MustCompile(`([0-9.]+) requests per second`)

func parseLastRate(text []byte) (figure, error) {
	all := lastRate.FindAllSubmatch(text, -1)
	if len(all) == 0 {
		return parsePeersPerSecond(text)
	}
	rate, err := strconv.ParseFloat(string(all[len(all)-1][1]), 64)
	if err != nil {
		return figure{}, fmt.Errorf("redis-benchmark: %w", err)
	}
	return figure{rate: rate}, nil
}
