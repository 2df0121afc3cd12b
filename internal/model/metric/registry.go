package metric

import (
	"slices"

	"linerate/internal/model/flow"
	"linerate/internal/model/record"
)

// All lists the metrics in the order of presentation. A new metric is an entry here and its
// declaration below; docs/metrics.md is generated from it (go test ./internal/model/study -update).
var All = []Metric{
	Goodput, Transactions, latencyMean, LatencyP50, latencyP90, LatencyP99, latencyP999, latencyP9999, latencyMax,
	Datagrams, LossFree, Lost, Answered, Errors, retransmissions, Jitter, Surplus, Connections, connectionRate,
	kernelPerConnection, cpuPerGigabyte, cpuPerTransaction, bufferDelay, grade,
}

// unitOf describes how values with a unit of records are formatted and parsed.
type unitOf struct {
	// scales are the units in which values are shown, largest first.
	scales []Scale
	// column is the suffix of column names in tables.
	column string
	// example is a value in the syntax of --expect. parse parses one; nil: a number with one of the
	// scales.
	example string
	parse   func(text string) (float64, error)
}

// units maps the units of values in records. Format and Parse know no others.
var units = map[string]unitOf{
	"bps": {[]Scale{{"Tbit/s", 1e-12}, {"Gbit/s", 1e-9}, {"Mbit/s", 1e-6}, {"kbit/s", 1e-3}, {"bit/s", 1}}, "_bps",
		"900mbit", parseBitRate},
	"per_s":    {[]Scale{{"M/s", 1e-6}, {"k/s", 1e-3}, {"/s", 1}}, "_per_s", "10000/s", nil},
	"us":       {[]Scale{{"s", 1e-6}, {"ms", 1e-3}, {"µs", 1}}, "_us", "500us", parseMicroseconds},
	"share":    {[]Scale{{"%", 100}}, "_share", "0.1%", parseShare},
	"s_per_gb": {[]Scale{{"s/GB", 1}, {"ms/GB", 1e3}}, "_s", "0.5s/GB", nil},
	"per_gb":   {[]Scale{{"/GB", 1}}, "", "1", nil},
	"count":    {[]Scale{{"open", 1}}, "", "1000", nil},
	"bytes":    {[]Scale{{"MB", 1e-6}, {"kB", 1e-3}, {"B", 1}}, "_bytes", "10kB", parseBytes},
	"grade":    {nil, "", "B", parseGrade},
}

var (
	bulk          = flow.Names(flow.Protocol.Bulk)
	streams       = flow.Names(func(p flow.Protocol) bool { return p.Bulk() && p.Transport == flow.TCP })
	datagrams     = flow.Names(func(p flow.Protocol) bool { return p.Bulk() && p.Transport == flow.UDP })
	transactional = flow.Names(flow.Protocol.Transactional)
	applications  = flow.Names(func(p flow.Protocol) bool { return p.Application })
	// persistent lists transactional protocols over TCP connections that stay open.
	persistent = flow.Names(func(p flow.Protocol) bool {
		return p.Transactional() && p.Transport == flow.TCP &&
			!p.Connects
	})
)

// The metrics.
var (
	Goodput = Metric{
		Name: "goodput", Label: "goodput", Unit: "bps", Protocols: bulk,
		About: "what the receivers of tcp and udp flows read",
		value: func(t *record.Trial) (float64, bool) { return t.GoodputBps, true },
	}
	Transactions = Metric{
		Name: "transactions", Label: "transaction rate", Unit: "per_s", Protocols: transactional,
		Absent: "no flow makes transactions",
		About:  "transactions done per second",
		value: func(t *record.Trial) (float64, bool) {
			return t.TransactionsPerS, slices.ContainsFunc(t.Flows, func(f record.Flow) bool {
				return !flow.Of(f.Protocol).Bulk()
			})
		},
	}

	latencyMean = latency("mean", "mean latency", 0, "the mean time of a transaction",
		func(d *record.Distribution) float64 { return d.MeanUs })
	LatencyP50 = latency("p50", "latency p50", 0.5,
		"50th percentile of the times of transactions, all flows together", func(d *record.Distribution) float64 {
			return d.P50Us
		})
	latencyP90 = latency("p90", "latency p90", 0.9, "90th percentile, likewise",
		func(d *record.Distribution) float64 { return d.P90Us })
	LatencyP99 = latency("p99", "latency p99", 0.99, "99th percentile, likewise",
		func(d *record.Distribution) float64 { return d.P99Us })
	latencyP999 = latency("p999", "latency p99.9", 0.999, "99.9th percentile, likewise",
		func(d *record.Distribution) float64 { return d.P999Us })
	latencyP9999 = latency("p9999", "latency p99.99", 0.9999, "99.99th percentile, likewise",
		func(d *record.Distribution) float64 { return d.P9999Us })
	latencyMax = latency("max", "maximum latency", 0, "the time of the slowest transaction",
		func(d *record.Distribution) float64 { return d.MaxUs })

	Datagrams = ofFlows(Metric{
		Name: "datagrams", Label: "datagram rate", Unit: "per_s", Protocols: datagrams,
		Absent: "no flow is of datagrams",
		About:  "datagrams received per second; of flows with `frame`, each is a frame",
	}, datagramRate)
	LossFree = Metric{
		Name: "loss_free", Label: "loss-free rate", Unit: "bps", Protocols: datagrams, Searched: true,
		Absent: "no rate was confirmed",
		About: "the [highest rate without loss](loss-free.md#in-a-study), of a workload with `loss_free`; 0 if " +
			"every rate lost datagrams",
		whole: true,
		value: func(t *record.Trial) (float64, bool) { return searched(t.LossFree) },
	}
	// Floor: applications do not notice one datagram in a thousand.
	Lost = Metric{
		Name: "lost", Label: "loss", Unit: "share", Lower: true, Floor: 0.001,
		Protocols: flow.Names(func(p flow.Protocol) bool { return p.Transport == flow.UDP && !p.Application }),
		Absent:    "no datagram was sent",
		About:     "the share of datagrams that did not arrive, or of `udp-rr` requests without a response",
		value: func(t *record.Trial) (float64, bool) {
			if t.Datagrams != nil {
				return t.Datagrams.LostShare()
			}
			return unanswered(t.Flows)
		},
	}
	// Floor: fewer requests wait at the edges of a window.
	Answered = Metric{
		Name: "answered", Label: "share answered", Unit: "share", Floor: 0.02, Signed: true, Protocols: transactional,
		Absent: "no flow has a pace",
		About: "the share of the transactions due by the flows' `pace` that were done in the window, without " +
			"those answered by an error. Levels are compared by their difference in percentage points, and " +
			"differences below 2 points do not matter",
		studied: true,
		value:   func(t *record.Trial) (float64, bool) { return answered(t.Flows, t.WindowS) },
	}
	// Floor: users do not notice one request in a thousand.
	Errors = Metric{
		Name: "errors", Label: "errors", Plural: true, Unit: "share", Lower: true, Floor: 0.001,
		Protocols: applications, Absent: "no flow is of an application",
		About: "the share of an application's requests that failed: without an answer, or answered by an error " +
			"([applications](applications.md#what-counts-as-an-error))",
		value: func(t *record.Trial) (float64, bool) { return failed(transactionsOf(t.Flows)) },
	}
	// Floor: applications do not notice one segment in a gigabyte.
	retransmissions = ofFlows(Metric{
		Name: "retransmissions_per_gigabyte", Label: "retransmissions per GB", Plural: true, Unit: "per_gb",
		Lower: true, Floor: 1, Protocols: streams,
		Absent: "no tcp flow received anything, or its sender has no TCP_INFO",
		About:  "TCP segments retransmitted (`total_retrans` of TCP_INFO) per 10⁹ bytes that tcp flows received",
	}, retransmitted)
	Jitter = Metric{
		Name: "jitter", Label: "jitter", Unit: "us", Lower: true, Protocols: datagrams,
		Absent: "fewer than two datagrams were received",
		About:  "interarrival jitter (RFC 3550, section 6.4.1), mean over the datagrams received",
		value:  func(t *record.Trial) (float64, bool) { return jitter(t.Flows) },
	}
	// Floor: the full bucket of a shaper and the error at the edges of a window are smaller.
	Surplus = Metric{
		Name: "surplus", Label: "surplus", Unit: "share", Lower: true, Floor: 0.02, Signed: true, Protocols: bulk,
		Absent: "no other program reported on its flows",
		About: "how much more [another program](foreign-tools.md) reports than the receivers read, or the sender " +
			"with `accounting: sender`. It may be negative; so levels are compared by their difference in " +
			"percentage points, `until` is in points too, and differences below 2 points do not matter",
		studied: true,
		value: func(t *record.Trial) (float64, bool) {
			s := t.ToolReported
			if s == nil || s.GoodputBps == 0 {
				return 0, false
			}
			return s.SurplusBps / s.GoodputBps, true
		},
	}
	Connections = ofFlows(Metric{
		Name: "connections", Label: "connection count", Unit: "count", Protocols: persistent,
		Absent: "no flow has connections that stay",
		About: "connections open at the window's end, for applications those that the server has not closed " +
			"either, also of a flow that could not open all, such as because [no port was " +
			"left](findings.md#ports-exhausted)",
	}, connections)
	connectionRate = Metric{
		Name: "connection_rate", Label: "connections opened per second", Plural: true, Unit: "per_s",
		Protocols: persistent, Absent: "the flows have fewer than 1,000 connections that stay, or could not open all",
		About: "connections of 1,000 or more over the time until all were open at both ends, for applications " +
			"each with an answer to its first request; the acceptor accepted as many",
		studied: true,
		value: func(t *record.Trial) (float64, bool) {
			n, known := connections(t.Flows)
			failed := slices.ContainsFunc(t.Flows, func(f record.Flow) bool { return !f.Connected })
			if !known || failed || t.Opening == nil || t.Opening.TookS <= 0 {
				return 0, false
			}
			return n / t.Opening.TookS, true
		},
	}
	// Floor: files of other programs take less.
	kernelPerConnection = Metric{
		Name: "kernel_per_connection", Label: "kernel memory per connection", Unit: "bytes", Lower: true, Floor: 100,
		Protocols: persistent,
		Absent:    "fewer than 1,000 connections were open, some were lost, or the kernel's memory was not read",
		About: "growth of the kernel's memory from before the connections were opened until behind the window, " +
			"over the connections, of both ends where both are on machines that are read, as in a lab. Read by " +
			"root: objects in use of the caches of sockets, their ports, inodes and files and of epoll entries in " +
			"/proc/slabinfo, without dentries; otherwise `Slab` of /proc/meminfo, in which is what the kernel " +
			"keeps of an earlier trial, and what other programs take or return meanwhile",
		studied: true,
		value: func(t *record.Trial) (float64, bool) {
			n, _ := connections(t.Flows)
			bytes, known := t.Opening.KernelBytes()
			lost := slices.ContainsFunc(t.Flows, func(f record.Flow) bool { return !f.Connected || !f.Alive })
			if !known || lost || n < 1000 {
				return 0, false
			}
			return max(0, float64(bytes)/n), true
		},
	}
	cpuPerGigabyte = Metric{
		Name: "cpu_per_gigabyte", Label: "CPU time per GB", Unit: "s_per_gb", Lower: true, Protocols: bulk,
		Absent: "nothing was received",
		About: "CPU time of linerate's processes on all hosts, in user and kernel mode, per 10⁹ bytes that tcp " +
			"and udp flows received",
		whole: true,
		value: func(t *record.Trial) (float64, bool) {
			return processors(t, float64(received(t.Flows))/1e9)
		},
	}
	cpuPerTransaction = Metric{
		Name: "cpu_per_transaction", Label: "CPU time per transaction", Unit: "us", Lower: true,
		Protocols: transactional, Absent: "no transaction was done",
		About: "the same CPU time per completed transaction",
		whole: true,
		value: func(t *record.Trial) (float64, bool) {
			var done int64
			for _, f := range t.Flows {
				if f.Transactions != nil {
					done += f.Transactions.Done
				}
			}
			return processors(t, float64(done)/1e6)
		},
	}

	bufferDelay = Metric{
		Name: "buffer_delay", Label: "buffer delay", Unit: "us", Lower: true, Probed: true,
		About: "mean latency under load less the lowest latency without load (RFC 6349, section 4.3)",
		whole: true,
		value: func(t *record.Trial) (float64, bool) {
			if t.Bufferbloat == nil || t.Bufferbloat.Loaded == nil { // no request under load had a response
				return 0, false
			}
			return t.Bufferbloat.BufferDelayUs, true
		},
	}
	grade = Metric{
		Name: "grade", Label: "grade", Unit: "grade", Probed: true, Absent: "the load did not fill the path",
		About: "the [grade](measure.md#latency-under-load) of the buffer delay, F to A+",
		whole: true,
		value: func(t *record.Trial) (float64, bool) {
			if t.Bufferbloat == nil || t.Bufferbloat.Grade == "" {
				return 0, false
			}
			return float64(slices.Index(record.LatencyGrades, t.Bufferbloat.Grade)), true
		},
	}
)

// ofFlows returns m with a value that is read from the flows of a trial.
func ofFlows(m Metric, of func([]record.Flow) (float64, bool)) Metric {
	m.value = func(t *record.Trial) (float64, bool) { return of(t.Flows) }
	return m
}

// latency returns a metric of the distribution of latencies of transactions or of the probe. It is
// a percentile if quantile is above 0.
func latency(part, label string, quantile float64, about string, of func(*record.Distribution) float64) Metric {
	return Metric{
		Name: "latency_" + part, Label: label, Unit: "us", Lower: true, Quantile: quantile, Protocols: transactional,
		Probed: true, Absent: "no transaction was done", About: about, whole: true,
		value: func(t *record.Trial) (float64, bool) {
			if t.Latency == nil || t.Latency.Count == 0 {
				return 0, false
			}
			return of(t.Latency), true
		},
	}
}

// searched returns the result of a search. It returns false if there was none, or if it ended
// before it had a result.
func searched(l *record.LossFree) (float64, bool) {
	if l == nil || l.Open() {
		return 0, false
	}
	return l.RateBps, true
}

// unanswered returns the share of udp-rr requests without a response.
func unanswered(flows []record.Flow) (share float64, known bool) {
	var all record.Transactions
	for _, f := range flows {
		if x := f.Transactions; x != nil && f.Protocol == flow.UDPRR {
			all.Unanswered, all.Done = all.Unanswered+x.Unanswered, all.Done+x.Done
		}
	}
	return all.LostShare()
}

// transactionsOf sums the counters of the flows of application protocols. Nil: there are none.
func transactionsOf(flows []record.Flow) (sum *record.Transactions) {
	for _, f := range flows {
		x := f.Transactions
		if x == nil || x.Application == nil {
			continue
		}
		if sum == nil {
			sum = &record.Transactions{Application: &record.Application{}}
		}
		sum.Done, sum.Failed, sum.Unanswered = sum.Done+x.Done, sum.Failed+x.Failed, sum.Unanswered+x.Unanswered
		sum.Application.Errors += x.Application.Errors
	}
	return sum
}

// failed returns the share of requests that failed or got no answer.
func failed(x *record.Transactions) (share float64, known bool) {
	if x == nil || x.Application == nil {
		return 0, false
	}
	without := x.Failed + x.Unanswered
	all := x.Done + without
	return float64(without+x.Application.Errors) / float64(max(all, 1)), all > 0
}

// answered returns the share of the transactions due in a window that completed in it. It is at
// most 1, even if transactions that were due earlier completed as well.
func answered(flows []record.Flow, windowS float64) (share float64, known bool) {
	var due, done float64
	for _, f := range flows {
		if f.PacePerS == 0 {
			continue
		}
		due += f.PacePerS * windowS
		if x := f.Transactions; x != nil {
			done += float64(x.Done)
			if x.Application != nil {
				done -= float64(x.Application.Errors)
			}
		}
	}
	return min(1, done/max(due, 1)), due > 0
}

// retransmitted returns the number of retransmitted segments per 10⁹ received bytes. It is unknown
// if a sender is another program, whose TCP_INFO is not read.
func retransmitted(flows []record.Flow) (float64, bool) {
	var segments, bytes int64
	for _, f := range flows {
		if !slices.Contains(streams, flow.Of(f.Protocol).Name) {
			continue
		}
		if f.SenderInfo == nil {
			return 0, false
		}
		segments, bytes = segments+f.RetransSegments, bytes+f.ReceivedBytes
	}
	return float64(segments) * 1e9 / float64(max(bytes, 1)), bytes > 0
}

// datagramRate derives the rate of datagrams from goodput and the mean size of a datagram.
func datagramRate(flows []record.Flow) (perSecond float64, known bool) {
	for _, f := range flows {
		if d := f.Datagrams; d != nil {
			perSecond += float64(d.Received) * f.GoodputBps / 8 / float64(max(f.ReceivedBytes, 1))
			known = true
		}
	}
	return perSecond, known
}

func jitter(flows []record.Flow) (float64, bool) {
	var sum, datagrams float64
	for _, f := range flows {
		if us, known := f.Datagrams.Jitter(); known {
			sum += us * float64(f.Datagrams.Received)
			datagrams += float64(f.Datagrams.Received)
		}
	}
	return sum / max(datagrams, 1), datagrams > 0
}

func connections(flows []record.Flow) (open float64, known bool) {
	for _, f := range flows {
		switch {
		case !slices.Contains(persistent, f.Protocol):
			continue
		case f.Exhausted != nil:
			open += float64(f.Exhausted.Open)
		case f.Transactions != nil:
			open += float64(f.Transactions.Connections)
		}
		known = true
	}
	return open, known
}

// received returns the bytes that bulk flows received.
func received(flows []record.Flow) (bytes int64) {
	for _, f := range flows {
		if flow.Of(f.Protocol).Bulk() {
			bytes += f.ReceivedBytes
		}
	}
	return bytes
}

// processors returns the CPU time of linerate's own processes in a trial, in seconds per unit of
// work.
func processors(t *record.Trial, work float64) (float64, bool) {
	var seconds float64
	for _, h := range t.Hosts {
		seconds += h.ProcessCPUS
	}
	known := t.Peer == nil && t.Ended == "" // else one end's alone
	if work <= 0 || seconds <= 0 || !known {
		return 0, false
	}
	return seconds / work, true
}
