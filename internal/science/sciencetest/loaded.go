package sciencetest

import (
	"fmt"
	"math/rand/v2"
	"time"

	"linerate/internal/model/flow"
	"linerate/internal/model/record"
	"linerate/internal/model/topology"
	"linerate/internal/model/unit"
	"linerate/internal/science/stats"
)

// Queues are the levels of the factor "queue" of Loaded, the baseline first.
var Queues = []string{"16 packets", "1000 packets", "fq_codel", "17 packets"}

// queueWaitUs is how long, at most, a request waits for its response at each level.
var queueWaitUs = map[string]float64{Queues[0]: 10_000, Queues[1]: 600_000, Queues[2]: 1_500, Queues[3]: 10_000}

// loadedRequests is the number of requests in a trial, as many as a study's probe makes: enough for
// p99.
const loadedRequests = 1200

// loadedLimit is the most that the loaded link carries.
const loadedLimit = 20e6 * shaped

// Loaded returns a run in which requests and responses share a link of 20 Mbit/s with a bulk flow.
// It is judged by the given responses.
func Loaded(seed uint64, blocks int, responses ...string) *record.Run {
	random := rand.New(rand.NewPCG(seed, 2))
	run := &record.Run{
		Schema: record.RunSchema, ID: fmt.Sprintf("loaded-%d", seed), Study: "loaded", Seed: seed,
		Question: "How long does a request take beside a bulk flow?",
		Started:  started, DurationS: float64(blocks*len(Queues)) * 2, Status: "complete", Unit: "bit/s",
		Responses: responses,
		Topology:  loadedTopology(), Confidence: 0.95, Margin: 0.02, StudyFile: "study: loaded\n",
		Again:       fmt.Sprintf("linerate run loaded.yaml --seed %d", seed),
		Environment: record.Environment{Version: "test", Mode: "lab, rootless"},
	}
	queue := record.Factor{Name: "queue", Role: "compare", Baseline: Queues[0]}
	for i, name := range Queues {
		level := record.Level{Name: name, About: "the queue before the link"}
		if i > 0 {
			level.Settings, level.SettingLines = 1, []string{"a: qdisc eth0 " + name}
		}
		queue.Levels = append(queue.Levels, level)
	}
	run.Factors = []record.Factor{queue}
	for block := 1; block <= blocks; block++ {
		for _, pick := range random.Perm(len(Queues)) {
			run.Trials = append(run.Trials, loadedTrial(Queues[pick], block, len(run.Trials)+1, random))
		}
	}
	return run
}

func loadedTopology() topology.Topology {
	host := func(name, ip string) topology.Host {
		return topology.Host{Name: name, Interfaces: []topology.Interface{
			{Name: "eth0", Addresses: []topology.Address{address("%s/24", ip)}}}}
	}
	l := topology.Link{From: topology.End{Node: "a", Interface: "eth0"}, To: topology.End{Node: "b", Interface: "eth0"}}
	l.Rate = unit.BitRate(20e6)
	return topology.Topology{Hosts: []topology.Host{host("a", "10.0.0.1"), host("b", "10.0.0.2")},
		Links: []topology.Link{l}}
}

func loadedTrial(queue string, block, order int, random *rand.Rand) record.Trial {
	t := record.Trial{
		Treatment: queue, Levels: map[string]string{"queue": queue}, Block: block, Order: order, WindowS: windowS,
		Started:  started.Add(time.Duration(order) * 2 * time.Second),
		LimitBps: loadedLimit, LimitWhy: "20 Mbit/s × 1448/1514",
	}
	carried := func(id, protocol string, port int) record.Flow {
		return record.Flow{
			ID: id, Protocol: protocol, From: "a", To: "b", OpenedBy: "a", Path: []string{"a.eth0", "b.eth0"},
			Source: fmt.Sprintf("10.0.0.1:%d", 40000+port), Destination: fmt.Sprintf("10.0.0.2:%d", 5201+port),
			Connected: true, Alive: true, CongestionControl: "cubic",
		}
	}
	bulk := carried("f1", "", 0)
	bulk.GoodputBps = loadedLimit * (1 - 0.001*random.Float64())
	bulk.ReceivedBytes = int64(bulk.GoodputBps * windowS / 8)
	bulk.WrittenBytes, bulk.AckedBytes = bulk.ReceivedBytes, bulk.ReceivedBytes
	t.GoodputBps = bulk.GoodputBps

	probe := carried("f2", flow.RR, 1)
	wait := queueWaitUs[queue] * (1 + 0.004*random.NormFloat64())
	h := stats.NewHistogram()
	for range loadedRequests {
		stats.Record(h, int64((100+wait*(0.5+0.5*random.Float64()))*1e3))
	}
	latency, err := stats.Distribution(h)
	if err != nil {
		panic(err) // the histogram was just created, so it can be encoded
	}
	probe.Transactions = &record.Transactions{Done: h.TotalCount(), Connections: 1, Latency: latency}
	probe.TransactionsPerS = float64(h.TotalCount()) / windowS
	probe.ReceivedBytes, probe.WrittenBytes = h.TotalCount(), h.TotalCount()
	t.Flows = []record.Flow{bulk, probe}
	totals, err := stats.Total(t.Flows)
	if err != nil {
		panic(err)
	}
	t.TransactionsPerS, t.Latency, t.Datagrams = totals.TransactionsPerS, totals.Latency, totals.Datagrams
	return t
}
