package stats

import (
	"fmt"

	"linerate/internal/model/flow"
	"linerate/internal/model/record"
)

// Totals sums up a trial's flows. GoodputBps and SenderReportedBps are those of bulk flows,
// Datagrams (nil: none) those of UDP flows, and the others those of transactions.
type Totals struct {
	GoodputBps, SenderReportedBps float64
	TransactionsPerS              float64
	Latency                       *record.Distribution
	Datagrams                     *record.Datagrams
	Application                   *record.Application // nil: no flow is that of an application
}

// Total sums up flows. The error says which latencies cannot be read.
func Total(flows []record.Flow) (t Totals, err error) {
	var latencies []*record.Distribution
	var applications []*record.Application
	for _, f := range flows {
		if flow.Of(f.Protocol).Bulk() {
			t.GoodputBps += f.GoodputBps
			t.SenderReportedBps += f.SenderAverageBps
		}
		t.TransactionsPerS += f.TransactionsPerS
		if f.Transactions != nil {
			latencies = append(latencies, f.Transactions.Latency)
			if f.Transactions.Application != nil {
				applications = append(applications, f.Transactions.Application)
			}
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
	t.Application, err = Applications(applications...)
	return t, err
}

// Applications sums up what is known of the transactions of several flows; nil for none. The error
// says which times cannot be read.
func Applications(list ...*record.Application) (sum *record.Application, err error) {
	if len(list) == 0 {
		return nil, nil
	}
	sum = &record.Application{Outcomes: map[string]int64{}}
	phases := map[string][]*record.Distribution{}
	for _, a := range list {
		sum.Errors += a.Errors
		for outcome, n := range a.Outcomes {
			sum.Outcomes[outcome] += n
		}
		for _, p := range a.Phases {
			phases[p.Phase] = append(phases[p.Phase], p.Times)
		}
		if a.Slow != nil {
			if sum.Slow == nil {
				sum.Slow = &record.Slow{}
			}
			sum.Slow.Add(a.Slow)
		}
	}
	for p := range record.Phases {
		times, err := Together(phases[p.String()]...)
		if err != nil {
			return nil, fmt.Errorf("adding up the times of phase %s: %w", p, err)
		}
		if times != nil {
			sum.Phases = append(sum.Phases, record.PhaseTimes{Phase: p.String(), Times: times})
		}
	}
	return sum, nil
}
