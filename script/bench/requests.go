//go:build linux

package main

import (
	"context"
	"fmt"
	"regexp"
	"strconv"
)

// http compares clients of the same web server, whose work for each request is the same.
var http = contest{
	key: "http", Title: "HTTP/1.1 from one thread, to nginx", lab: pair,
	services:   []service{nginxServer},
	conditions: []string{"16 connections", "100 connections", "1,000 connections"}, args: []string{"16", "100", "1000"},
	contenders: []contender{
		{name: "linerate", command: "{client} {web} --connections {}", parse: parsePerSecond},
		{name: "wrk", command: "wrk -t 1 -c {} -d {seconds} {web}", parse: parsePeers},
	},
	shown: []quantity{rate("per second", 0), clientOf, cpuEach},
	marks: []mark{
		{0, "linerate", "wrk", rateOf, 1, atLeast},
		{0, "linerate", "wrk", clientOf, 0.85, atMost},
		{1, "linerate", "wrk", rateOf, 1, atLeast},
		{1, "linerate", "wrk", clientOf, 0.85, atMost},
		{2, "linerate", "wrk", rateOf, 1, atLeast},
		{2, "linerate", "wrk", clientOf, 0.85, atMost},
	},
	About: "nginx has one worker, and answers with 2 bytes. Client and server share the machine's CPUs, so " +
		"that a client that takes less of them leaves more to the server. CPU time of the client is what the " +
		"kernel counts for its process, of linerate in the window, of wrk from its start to its end " +
		"([spent.sh](../../script/bench/peers/spent.sh)); the other column has both ends and the kernel.",
}

// own is the same with a server of two threads, which is made for the length of a study: it
// answers only the flow's client, which may be another program.
var own = contest{
	key: "own", Title: "HTTP/1.1 from one thread, to linerate's server",
	conditions: http.conditions,
	contenders: []contender{
		{name: "linerate", turn: ownTurn(true)},
		{name: "wrk", turn: ownTurn(false)},
	},
	shown: []quantity{rate("per second", 0), cpuEach, clientOf},
	marks: []mark{
		{0, "linerate", "wrk", rateOf, 1.15, atLeast},
		{1, "linerate", "wrk", rateOf, 1.15, atLeast},
		{2, "linerate", "wrk", rateOf, 1.15, atLeast},
	},
	About: "A study of one trial ([own.yaml](../../script/bench/own.yaml)), with the server of `linerate serve`, " +
		"which has a thread for each CPU, and answers with 2 bytes. Requests are counted in " +
		"the same window for both. It has no CPU time of wrk's process.",
}

// ownTurn has the client of the file, or linerate's own, whose option is what a host's default is to wrk.
func ownTurn(inside bool) func(context.Context, *bench, int) (figure, error) {
	return func(ctx context.Context, l *bench, condition int) (f figure, err error) {
		edits := []string{"connections: 16", "connections: " + http.args[condition]}
		if inside {
			edits = append(edits, "tool: wrk", "congestion_control: cubic")
		}
		run, err := l.study(ctx, "own.yaml", edits...)
		if err != nil {
			return f, err
		}
		return run.transactions(inside)
	}
}

// requests compares clients of other services.
var requests = contest{
	key: "requests", Title: "DNS, mail and Redis from one thread", lab: pair,
	services: []service{
		{":5353", "-u", "sh {dir}/peers/nsd.sh {dir}"},
		{":2525", "-t", "smtp-sink -u nobody {server}:2525 1000"},
		{":6390", "-t", "sh {dir}/peers/redis.sh {server} 6390 {dir}"}},
	conditions: []string{"DNS over UDP, 256 unanswered", "mail, 16 sessions", "Redis PING, 50 connections",
		"Redis GET, 50 connections"},
	contenders: []contender{
		{name: "linerate", command: "{client} {}", parse: parsePerSecond, args: []string{
			"dns://{server}:5353/www.linerate.test --connections 16 --pipeline 16",
			"smtp://{server}:2525 --connections 16",
			"redis://{server}:6390 --connections 50",
			"redis://{server}:6390/key:__rand_int__ --connections 50"}},
		{name: "dnsperf", command: "dnsperf -s {server} -p 5353 -d {dir}/peers/queries -c 16 -q 256 -l {}",
			args: []string{"{seconds}"}, parse: parsePeers},
		{name: "smtp-source", command: "sh {dir}/peers/mails.sh {}", parse: parsePeers,
			args: []string{"", "{server}:2525 4000 44000"}},
		{name: "redis-benchmark -P 1", command: "redis-benchmark -h {server} -p 6390 -c 50 -P 1 -n 300000 -t {}",
			args: []string{"", "", "ping_mbulk", "get"}, parse: parsePeers},
	},
	shown: []quantity{rate("per second", 0), clientOf, cpuEach},
	marks: []mark{
		{0, "linerate", "dnsperf", rateOf, 1.5, atLeast},
		{1, "linerate", "smtp-source", rateOf, 1, atLeast},
		{2, "linerate", "redis-benchmark -P 1", rateOf, 1.1, atLeast},
		{3, "linerate", "redis-benchmark -P 1", rateOf, 1.1, atLeast},
	},
	About: "nsd, smtp-sink (Postfix's, which discards mails) and redis-server have one process each. " +
		"smtp-source prints no rate and counts from its own start, so that its rate is that of 40,000 mails " +
		"more, in the time that 44,000 take beyond 4,000 ([mails.sh](../../script/bench/peers/mails.sh)). " +
		"redis-benchmark asks for the same key, which has 3 bytes. memtier_benchmark is in no registry of " +
		"packages that `script/setup bench` could install it from.",
}

// services compares what linerate and other clients measure of the same servers with the
// same load: a fixed number of concurrent requests, over a path whose delay determines the
// rate.
var services = contest{
	key: "services", Title: "Requests to nginx, nsd and Postfix over 40 ms", lab: "served.yaml",
	conditions: []string{"HTTP, nginx", "DNS, nsd", "mail, Postfix"},
	contenders: []contender{
		{name: "linerate", command: "{client} {} --connections 16",
			args:  []string{"http://{server}/1000", "dns://{server}/www.linerate.test", "smtp://{server}/"},
			parse: parsePerSecond},
		{name: "wrk, dnsperf, smtp-source", command: "{}",
			args: []string{"wrk -t 1 -c 16 -d 4 http://{server}/1000",
				"dnsperf -s {server} -d {dir}/peers/queries -c 16 -q 16 -l 4",
				"sh {dir}/peers/mails.sh {server}:25 160 480"},
			parse: parsePeers},
	},
	shown: []quantity{rate("per second", 1), clientOf},
	marks: []mark{
		{0, "linerate", "wrk, dnsperf, smtp-source", rateOf, 0.05, within},
		{1, "linerate", "wrk, dnsperf, smtp-source", rateOf, 0.05, within},
		{2, "linerate", "wrk, dnsperf, smtp-source", rateOf, 0.05, within},
	},
	About: "The servers are a lab's `services` ([served.yaml](../../script/bench/served.yaml)); each " +
		"client keeps 16 requests unanswered, over 16 connections or sockets.",
}

func parsePerSecond(text []byte) (figure, error) {
	f, err := parseMeasure(text)
	f.rate *= 1e3
	return f, err
}

// perSecond and inAll are how wrk, dnsperf, redis-benchmark and mails.sh print a rate, and how
// many requests they made in all.
var (
	perSecond = regexp.MustCompile(
		`(?:Requests/sec|Queries per second|Mails per second|throughput summary):\s+([0-9.]+)`)
	inAll = regexp.MustCompile(`(?:Queries sent|Mails):\s+(\d+)|(\d+) requests (?:in|completed in) `)
)

func parsePeers(text []byte) (f figure, err error) {
	found, all := perSecond.FindSubmatch(text), inAll.FindSubmatch(text)
	if found == nil || all == nil {
		return f, fmt.Errorf("%q: no rate", text)
	}
	if f.units, err = strconv.ParseFloat(string(all[1])+string(all[2]), 64); err != nil {
		return f, err
	}
	f.rate, err = strconv.ParseFloat(string(found[1]), 64)
	return f, err
}
