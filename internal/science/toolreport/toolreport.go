// Package toolreport sums up what other programs report about their flows, beside what linerate
// counted of the same flows. Package trust checks whether the two agree, and package diagnose
// explains it.
//
// The figure of a program that counts at the sender includes data that write(2) accepted but the
// network did not carry: see docs/foreign-tools.md.
package toolreport

import (
	"cmp"
	"fmt"
	"slices"
	"strings"

	"gonum.org/v1/gonum/floats"

	"linerate/internal/model/flow"
	"linerate/internal/model/netstate"
	"linerate/internal/model/record"
	"linerate/internal/model/topology"
	"linerate/internal/science/limits"
	"linerate/internal/science/stacked"
)

// AtInterfaces returns the flows, with the datagrams filled in that foreign programs received. No
// socket counts these, so the flows to a host get equal parts of what its interfaces received in
// the window beyond linerate's own flows. The topology may be nil, as for stacked.Interface.
func AtInterfaces(flows []record.Flow, hosts []netstate.HostReading, windowS float64,
	over *topology.Topology) []record.Flow {
	flows = slices.Clone(flows)
	for _, h := range hosts {
		var uncounted []*record.Flow
		var counted, header float64
		for i := range flows {
			f := &flows[i]
			switch {
			case f.To != h.Host || !f.Connected:
			case f.Process != "" && f.Protocol == flow.UDP:
				uncounted = append(uncounted, f)
				tunnel, _ := stacked.Overhead(h, *f, true, over)
				header = limits.Frame{UDP: true, IPv6: f.DestinationAddr().Is6()}.Headers() + tunnel
			default:
				counted += float64(f.ReceivedBytes)
			}
		}
		if len(uncounted) == 0 {
			continue
		}
		var took float64
		for _, d := range h.Deltas() {
			if d.Seconds > 0 && !stacked.Interface(h, d.Interface, over) {
				took += max(0, d.RxBytes-d.RxPackets*header) * windowS / d.Seconds
			}
		}
		each := max(0, took-counted) / float64(len(uncounted))
		for _, f := range uncounted {
			f.CountedAt = record.CountedAtInterfaces
			f.ReceivedBytes = int64(each)
			f.GoodputBps = each * 8 / windowS
		}
	}
	return flows
}

// Sum sums up what programs report about their flows; nil if none reports anything. If no program
// ran and accountSender is set, it returns what a program would report that counts at the sender.
func Sum(flows []record.Flow, tools []record.ToolRun, accountSender bool) *record.ToolReported {
	sum := record.ToolReported{}
	var names, counted []string
	name := func(list *[]string, what string) {
		if what != "" && !slices.Contains(*list, what) {
			*list = append(*list, what)
		}
	}
	for _, run := range tools {
		if run.ReportedBps == 0 && run.TransactionsPerS == 0 {
			continue // the program reported nothing
		}
		name(&names, run.Tool)
		name(&counted, run.CountedBy)
		sum.Processes++
		sum.SumBps += run.ReportedBps
		sum.TransactionsPerS += run.TransactionsPerS
		sum.Seconds = max(sum.Seconds, cmp.Or(run.Seconds, run.WritingS)) // if unknown, how long it wrote
		for _, f := range flows {
			if f.Process != run.ID {
				continue
			}
			if flow.Of(f.Protocol).Bulk() {
				sum.GoodputBps += f.GoodputBps
			}
			sum.CountedTransactionsPerS += f.TransactionsPerS
			sum.UnsentBytes += f.UnsentBytes
			if run.CountedBy == record.CountedBySender && run.WritingS > 0 {
				sum.UnsentBps += float64(f.UnsentBytes) * 8 / run.WritingS
			}
		}
		if run.CountedBy == record.CountedBySender && run.PredictedBps > 0 {
			sum.PredictedBps += run.PredictedBps - run.GoodputBps
		}
	}
	if sum.Processes == 0 {
		if accountSender && len(tools) == 0 {
			return standIn(flows)
		}
		return nil
	}
	sum.SurplusBps = sum.SumBps - sum.GoodputBps
	sum.Tool, sum.CountedBy = strings.Join(names, ", "), strings.Join(counted, " or ")
	sum.Method = method(sum)
	return &sum
}

// SenderMethod describes how linerate's own flows are counted if accountSender is set.
const SenderMethod = "the sum of the senders' own averages: bytes written over each flow's own time"

// standIn returns what a program would report that counts at the sender and stops its clock with
// the last write; nil if nothing was written. What is left in the send buffers, divided by the time
// since the first write, is the predicted surplus.
func standIn(flows []record.Flow) *record.ToolReported {
	s := record.ToolReported{Method: SenderMethod, Tool: flow.OwnTool, CountedBy: record.CountedBySender}
	for _, f := range flows {
		if !flow.Of(f.Protocol).Bulk() {
			continue
		}
		s.SumBps += f.SenderAverageBps
		s.GoodputBps += f.GoodputBps
		if f.SenderInfo == nil || f.SenderInfo.BusyUs == 0 {
			continue
		}
		writing := float64(f.SenderInfo.BusyUs) / 1e6
		s.UnsentBytes += f.UnsentBytes
		s.UnsentBps += float64(f.UnsentBytes) * 8 / writing
		s.Seconds = max(s.Seconds, writing)
	}
	if s.SumBps == 0 {
		return nil
	}
	s.SurplusBps, s.PredictedBps = s.SumBps-s.GoodputBps, s.UnsentBps
	return &s
}

// Agreement says how well the surplus of a run was predicted.
type Agreement struct {
	// Trials is the number of trials with a surplus beyond the possible error of a window, and
	// Within how many of these were predicted to within 15 %.
	Trials, Within int
	// Ratio is the sum of the predictions divided by the sum of the surpluses. Low and High are the
	// least and largest ratio of a single trial.
	Ratio, Low, High float64
}

// Agree compares the predicted surplus with the measured one, trial by trial. Trials whose surplus
// is within the possible error of a window are left out.
func Agree(trials []record.Trial) (a Agreement) {
	predicted, seen := surpluses(trials)
	for i := range seen {
		one := predicted[i] / seen[i]
		if a.Trials++; a.Trials == 1 {
			a.Low, a.High = one, one
		}
		if one >= 1-within && one <= 1+within {
			a.Within++
		}
		a.Low, a.High = min(a.Low, one), max(a.High, one)
	}
	if a.Trials > 0 {
		a.Ratio = floats.Sum(predicted) / floats.Sum(seen)
	}
	return a
}

// PredictedParts returns one value for each trial that Agree counts. The mean of the values is
// Agreement.Ratio, and their scatter gives the precision of the ratio to first order (W. G.
// Cochran, Sampling Techniques, 1977).
func PredictedParts(trials []record.Trial) []float64 {
	predicted, seen := surpluses(trials)
	ratio, mean := floats.Sum(predicted)/floats.Sum(seen), floats.Sum(seen)/float64(len(seen))
	parts := make([]float64, len(seen))
	for i := range parts {
		parts[i] = ratio + (predicted[i]-ratio*seen[i])/mean
	}
	return parts
}

// surpluses returns the predicted and the measured surplus of each trial that has a prediction and
// a surplus beyond the possible error of a window.
func surpluses(trials []record.Trial) (predicted, seen []float64) {
	const least = 0.02
	for _, t := range trials {
		s := t.ToolReported
		if s != nil && s.PredictedBps != 0 && s.SurplusBps > 0 && s.SurplusBps >= least*s.GoodputBps {
			predicted, seen = append(predicted, s.PredictedBps), append(seen, s.SurplusBps)
		}
	}
	return predicted, seen
}

// method describes what is summed up.
func method(s record.ToolReported) string {
	what := "what the " + s.Tool + " client prints"
	if s.Processes > 1 {
		what = fmt.Sprintf("the sum of what %d %s clients print", s.Processes, s.Tool)
	}
	if s.CountedBy != "" {
		what += ", counted by the " + s.CountedBy
	}
	return what
}

// within is the largest relative error of a good prediction.
const within = 0.15

// Explained reports whether the prediction explains the surplus of a tool: whether it is within 15
// % of it, plus the possible error of a window.
func Explained(s record.ToolReported) bool {
	const slack = 0.01
	apart := s.PredictedBps - s.SurplusBps
	return s.SurplusBps > 0 && max(apart, -apart) <= within*s.SurplusBps+slack*s.GoodputBps
}

// Mean returns the mean report over several trials of one treatment; nil if there is none.
func Mean(trials []record.Trial) *record.ToolReported {
	var mean *record.ToolReported
	n := 0.0
	for _, t := range trials {
		s := t.ToolReported
		if s == nil {
			continue
		}
		if n++; mean == nil {
			first := *s
			mean = &first
			continue
		}
		into := func(sum *float64, one float64) { *sum += (one - *sum) / n }
		into(&mean.SumBps, s.SumBps)
		into(&mean.GoodputBps, s.GoodputBps)
		into(&mean.SurplusBps, s.SurplusBps)
		into(&mean.PredictedBps, s.PredictedBps)
		into(&mean.UnsentBps, s.UnsentBps)
		into(&mean.Seconds, s.Seconds)
		into(&mean.TransactionsPerS, s.TransactionsPerS)
		into(&mean.CountedTransactionsPerS, s.CountedTransactionsPerS)
		mean.UnsentBytes += int64(float64(s.UnsentBytes-mean.UnsentBytes) / n)
	}
	return mean
}
