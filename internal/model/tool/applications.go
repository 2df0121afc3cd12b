package tool

import (
	"slices"

	"linerate/internal/model/flow"
	"linerate/internal/model/lists"
)

// Clients of application protocols. linerate serves them and counts its answers. They request what
// linerate's server answers to any client.

var wrk = Tool{
	Name: "wrk", Package: "wrk", Client: "wrk", Protocols: []string{flow.HTTP}, All: true, NoSource: true,
	Args: []Arg{{Names: "--timeout", Value: Number}},
	Decided: map[string]string{"connections": "-c --connections", "duration": "-d --duration",
		"nothing": "-v --version"},
	client: []group{
		always("-t 1 -c $CONNECTIONS -d ${SECONDS}s"),
		given("plain", "http://$AUTHORITY/"), given("tls", "https://$AUTHORITY/"),
	},
	parse: figures(
		finds(`^Requests/sec: +([\d.]+)`, flow.Requests, transactionRate),
		finds(`^ +Latency +([\d.]+)(?P<unit>us|ms|s) `, "", meanLatency),
		finds(` requests in ([\d.]+)s,`, "s", duration),
	),
}

var ab = Tool{
	Name: "ab", Package: "apache2-utils", Client: "ab", Protocols: []string{flow.HTTP}, All: true,
	Args: []Arg{{Names: "-s", Value: Number}},
	Decided: map[string]string{"connections": "-c", "duration": "-t -n", "source": "-B",
		"linerate, which reads the figures": "-q -v -w -d -S"},
	client: []group{
		always("-q -k -c $CONNECTIONS -t $SECONDS -n 10000000"), // without -n it ends after 50000 requests
		given("source", "-B $SOURCE"),
		given("plain", "http://$AUTHORITY/"), given("tls", "https://$AUTHORITY/"),
	},
	parse: figures(
		finds(`^Requests per second: +([\d.]+)`, flow.Requests, transactionRate),
		finds(`^Time per request: +([\d.]+) \[ms\] \(mean\)$`, "ms", meanLatency),
		finds(`^Time taken for tests: +([\d.]+) seconds`, "s", duration),
	),
}

var h2load = Tool{
	Name: "h2load", Package: "nghttp2-client", Client: "h2load", Protocols: []string{flow.HTTP, flow.HTTP2}, All: true,
	NoSource: true,
	Args: []Arg{{Names: "-t --threads", Value: Number}, {Names: "-w --window-bits", Value: Number},
		{Names: "-W --connection-window-bits", Value: Number}},
	Decided: map[string]string{"connections": "-c --clients", "duration": "-D --duration -n --requests",
		"pipeline": "-m --max-concurrent-streams", "protocol": "--h1"},
	client: []group{
		always("-D $SECONDS -c $CONNECTIONS"),
		given("http", "--h1"),
		given("pipeline", "-m $PIPELINE"),
		given("plain", "http://$AUTHORITY/"), given("tls", "https://$AUTHORITY/"),
	},
	parse: figures(
		finds(`^finished in [\d.]+\w+, ([\d.]+) req/s`, flow.Requests, transactionRate),
		finds(`^time for request: +\S+ +\S+ +([\d.]+)(?P<unit>us|ms|s) `, "", meanLatency),
		finds(`^finished in ([\d.]+)(?P<unit>us|ms|s),`, "", duration),
	),
}

var dnsperf = Tool{
	Name: "dnsperf", Package: "dnsperf", Client: "dnsperf", Protocols: []string{flow.DNS, flow.DNSTCP, flow.DoT},
	All: true,
	Args: []Arg{{Names: "-T", Value: Number}, {Names: "-t", Value: Number}, {Names: "-b", Value: Number},
		{Names: "-e"}, {Names: "-D"}},
	Decided: map[string]string{"the flow": "-s -p", "protocol": "-m", "connections": "-c",
		"connections and pipeline": "-q", "duration": "-l -n", "source": "-a", "pace": "-Q", "names": "-d"},
	client: []group{
		always("-s $ADDRESS -p $PORT -l $SECONDS -c $CONNECTIONS -q $OUTSTANDING"),
		given("stream", "-m tcp"), given("dot", "-m dot"),
		given("source", "-a $SOURCE"),
		given("pace", "-Q $PACE"),
	},
	input: func(j Job) (lines []string) {
		names, query := j.Names, j.Query
		if len(names) == 0 {
			names = []string{"a.linerate.test"}
		}
		if query == "" {
			query = flow.QueryTypes[0]
		}
		return lists.Map(names, func(name string) string { return name + " " + query })
	},
	Options: []string{"names", "query"},
	parse: figures(
		finds(`^ *Queries per second: +([\d.]+)`, flow.Requests, transactionRate),
		finds(`Queries per second: [^:]+Average Latency \(s\): +([\d.]+)`, "s", meanLatency),
		finds(`^ *Run time \(s\): +([\d.]+)`, "s", duration),
	),
}

// smtpSource is part of Postfix. It prints no result and cannot run for a given time.
var smtpSource = Tool{
	Name: "smtp-source", Package: "postfix", Client: "smtp-source", Protocols: []string{flow.SMTP}, All: true,
	NoSource: true,
	Args:     []Arg{{Names: "-N"}},
	Decided:  map[string]string{"connections": "-s", "request": "-l", "duration": "-m", "linerate": "-d"},
	client:   []group{always("-d -s $CONNECTIONS -l $MAIL -m 100000000 $AUTHORITY")},
}

// served are options that apply to linerate's server for a tool's client.
var served = []string{"response", "think"}

// Serves reports whether the tool has a server program, or a fixed port on which something else
// listens. False: linerate serves its flows.
func (t *Tool) Serves() bool { return t.Server != "" || t.Port != 0 }

func withOptions(all ...*Tool) []*Tool {
	for _, t := range all {
		t.Options = append(t.Options, options(append(slices.Clone(t.client), t.server...))...)
		if !t.Serves() {
			t.Options = append(t.Options, served...)
		}
	}
	return all
}
