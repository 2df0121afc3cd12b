package stats

import (
	"fmt"

	"linerate/internal/model/record"
)

// Totals adds a trial's flows up where adding is more than a sum: what became of
// its datagrams and its transactions, and how long these took.
func Totals(t *record.Trial) error {
	t.TransactionsPerS, t.Latency, t.Datagrams = 0, nil, nil
	var latencies []*record.Distribution
	for _, f := range t.Flows {
		t.TransactionsPerS += f.TransactionsPerS
		if f.Transactions != nil {
			latencies = append(latencies, f.Transactions.Latency)
		}
		if d := f.Datagrams; d != nil {
			if t.Datagrams == nil {
				t.Datagrams = &record.Datagrams{}
			}
			sum := t.Datagrams
			sum.Sent, sum.Received, sum.Lost = sum.Sent+d.Sent, sum.Received+d.Received, sum.Lost+d.Lost
			sum.Stale, sum.LostInBuffer = sum.Stale+d.Stale, sum.LostInBuffer+d.LostInBuffer
			sum.Reordered, sum.Duplicates = sum.Reordered+d.Reordered, sum.Duplicates+d.Duplicates
		}
	}
	var err error
	if t.Latency, err = Together(latencies...); err != nil {
		return fmt.Errorf("adding up the latencies of trial %d: %w", t.Order, err)
	}
	return nil
}
