package stats

import (
	"fmt"

	"linerate/internal/model/flow"
	"linerate/internal/model/record"
)

// Totals are the figures of a trial's flows together. GoodputBps and SenderReportedBps
// are of bulk flows, Datagrams (nil: none) of udp flows, the others of transactions.
type Totals struct {
	GoodputBps, SenderReportedBps float64
	TransactionsPerS              float64
	Latency                       *record.Distribution
	Datagrams                     *record.Datagrams
}

// Total adds flows up. The error says which latencies cannot be read.
func Total(flows []record.Flow) (t Totals, err error) {
	var latencies []*record.Distribution
	for _, f := range flows {
		if flow.Of(f.Protocol).Bulk() {
			t.GoodputBps += f.GoodputBps
			t.SenderReportedBps += f.SenderAverageBps
		}
		t.TransactionsPerS += f.TransactionsPerS
		if f.Transactions != nil {
			latencies = append(latencies, f.Transactions.Latency)
		}
		if d := f.Datagrams; d != nil {
			if t.Datagrams == nil {
				t.Datagrams = &record.Datagrams{}
			}
			t.Datagrams.Add(d)
		}
	}
	if t.Latency, err = Together(latencies...); err != nil {
		return t, fmt.Errorf("adding up latencies: %w", err)
	}
	return t, nil
}
