//go:build linux

package main

import (
	"fmt"
	"regexp"
	"strconv"
)

// services compares what linerate and other clients measure of the same servers with the
// same load: a fixed number of concurrent requests, over a path whose delay determines the
// rate.
var services = contest{
	key: "services", Title: "Requests to nginx, nsd and Postfix over 40 ms", lab: "served.yaml",
	unit: "per second", digits: 1,
	conditions: []string{"HTTP, nginx", "DNS, nsd", "mail, Postfix"},
	contenders: []contender{
		{name: "linerate measure", command: "{linerate} measure {} --connections 16 --duration 5s --json --quiet",
			args:  []string{"http://{server}/1000", "dns://{server}/www.linerate.test", "smtp://{server}/"},
			parse: parsePerSecond},
		{name: "wrk, dnsperf, smtp-source", command: "{}",
			args: []string{"wrk -t 1 -c 16 -d 6s http://{server}/1000",
				"dnsperf -s {server} -d {dir}/peers/queries -c 16 -q 16 -l 6", "sh {dir}/peers/mails.sh {server}"},
			parse: parsePeersPerSecond},
	},
	marks: []mark{
		{0, "linerate measure", "wrk, dnsperf, smtp-source", rateOf, "rate", 0.05, within},
		{1, "linerate measure", "wrk, dnsperf, smtp-source", rateOf, "rate", 0.05, within},
		{2, "linerate measure", "wrk, dnsperf, smtp-source", rateOf, "rate", 0.05, within},
	},
	About: "The servers are a lab's `services` ([served.yaml](../script/bench/served.yaml)); each client keeps 16 " +
		"requests unanswered, over 16 connections or sockets. smtp-source prints no rate and counts from its own " +
		"start, so that its rate is that of 480 mails more, in the time that 640 take beyond 160 " +
		"([mails.sh](../script/bench/peers/mails.sh)).",
}

func parsePerSecond(text []byte) (figure, error) {
	f, err := parseMeasure(text)
	f.rate *= 1e3
	return f, err
}

// perSecond is how wrk, dnsperf and mails.sh print a rate.
var perSecond = regexp.MustCompile(`(?:Requests/sec|Queries per second|Mails per second):\s+([0-9.]+)`)

func parsePeersPerSecond(text []byte) (figure, error) {
	found := perSecond.FindSubmatch(text)
	if found == nil {
		return figure{}, fmt.Errorf("%q: no rate", text)
	}
	rate, err := strconv.ParseFloat(string(found[1]), 64)
	return figure{rate: rate}, err
}
