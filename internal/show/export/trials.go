package export

import (
	"fmt"
	"slices"
	"strings"
	"time"

	"linerate/internal/model/flow"
	"linerate/internal/model/lists"
	"linerate/internal/model/metric"
	"linerate/internal/model/netstate"
	"linerate/internal/model/record"
	"linerate/internal/science/hostload"
	"linerate/internal/show/wording"
)

// eachTrial calls rows for every trial of a run, with an add function that inserts the values of
// the columns run, trial, block and treatment before the given ones.
func eachTrial(run *record.Run, add func(...any), rows func(t *record.Trial, add func(...any))) {
	for i := range run.Trials {
		each(run, []*record.Trial{&run.Trials[i]}, add, rows)
	}
}

// eachPart is like eachTrial for every part of trials that have several.
func eachPart(run *record.Run, add func(...any), rows func(t *record.Trial, add func(...any))) {
	each(run, run.Split(), add, rows)
}

func each(run *record.Run, list []*record.Trial, add func(...any), rows func(t *record.Trial, add func(...any))) {
	for _, t := range list {
		rows(t, func(values ...any) { add(append([]any{run.ID, t.Order, t.Block, t.Treatment}, values...)...) })
	}
}

func trialRows(run *record.Run, add func(...any)) {
	eachPart(run, add, func(t *record.Trial, add func(...any)) {
		said := make([]any, 4)
		if s := t.ToolReported; s != nil {
			said = []any{s.SumBps, s.SurplusBps, s.PredictedBps, s.UnsentBytes}
		}
		var failed []string
		for _, c := range run.Trust {
			if c.Trial == t.Order && !c.Pass && !slices.Contains(failed, c.Check) {
				failed = append(failed, c.Check)
			}
		}
		values := append(levels(run, t.Levels), t.Started.UTC().Format(time.RFC3339Nano), t.WindowS, t.LimitBps,
			t.SenderReportedBps, len(t.Flows), t.Unconnected(), strings.Join(failed, " "))
		for _, r := range metric.Responses() {
			if v, ok := r.Value(t); ok {
				values = append(values, v)
			} else {
				values = append(values, nil)
			}
		}
		values = append(append(values, said...), t.Repeated)
		for _, r := range percentileResponses() {
			rank := ""
			if t.Latency != nil {
				rank = r.Rank(t.Latency.Count)
			}
			values = append(values, rank)
		}
		placement, chance := any(nil), make([]any, 3)
		if t.PlacementLimitBps > 0 {
			placement = t.PlacementLimitBps
		}
		if c := t.Chance; c != nil {
			chance = []any{c.LeastBps, c.MostBps, c.By}
		}
		var apart []string
		for _, o := range run.Outliers {
			if o.Order == t.Order {
				apart = append(apart, o.Response)
			}
		}
		add(append(append(append(values, placement), chance...), strings.Join(apart, " "))...)
	})
}

func outlierRows(run *record.Run, add func(...any)) {
	for _, o := range run.Outliers {
		r, _ := metric.Find(o.Response)
		add(run.ID, o.Order, o.Block, o.Treatment, o.Response, r.Unit, o.Value, o.Others, strings.Join(o.Saw, "; "))
	}
}

// percentileResponses returns the responses that may have too few transactions.
func percentileResponses() []metric.Metric {
	return slices.DeleteFunc(metric.Responses(), func(r metric.Metric) bool { return r.Quantile == 0 })
}

func flowRows(run *record.Run, add func(...any)) {
	eachPart(run, add, func(t *record.Trial, add func(...any)) {
		for _, f := range t.Flows {
			var rtt, least, window, paths any
			if f.SenderInfo != nil {
				rtt, least, window = f.SenderInfo.RTTUs, f.SenderInfo.MinRTTUs, f.SenderInfo.SndCwnd
			}
			if f.Paths > 1 {
				paths = f.Paths
			}
			datagrams, transactions, expected := make([]any, 6), make([]any, 4), make([]any, 4)
			us, ranks := percentiles(nil)
			if d := f.Datagrams; d != nil {
				datagrams = []any{d.Sent, d.Received, d.Lost, d.Reordered, d.Duplicates, nil}
				if us, known := d.Jitter(); known {
					datagrams[5] = us
				}
			}
			if x := f.Transactions; x != nil {
				transactions = []any{x.Done, x.Failed, x.Unanswered, f.TransactionsPerS}
				us, ranks = percentiles(x.Latency)
			}
			if p := f.Expected; p != nil {
				expected = []any{p.LowBps, p.HighBps, p.LimitedBy, wording.Limited(p.Facts, p.Why)}
			}
			add(slices.Concat([]any{f.ID, f.From, f.To, f.Source, f.Destination, f.OpenedBy,
				f.ReceivedBytes, f.WrittenBytes, f.AckedBytes, f.UnsentBytes, f.RetransBytes, f.GoodputBps,
				f.SenderAverageBps, f.Connected, f.Alive,
				strings.Join(f.Path, " "), f.LimitedBy, f.CongestionControl, rtt, least, window, f.Error,
				flow.Of(f.Protocol).Name},
				datagrams, transactions, us,
				[]any{wording.Limited(f.LimitedFacts, f.LimitedWhy)}, expected,
				[]any{paths, strings.Join(f.Predicted, " "),
					strings.Join(f.Observed, " ")}, ranks)...)
		}
	})
}

func outageRows(run *record.Run, add func(...any)) {
	eachPart(run, add, func(t *record.Trial, add func(...any)) {
		for _, f := range t.Flows {
			for _, o := range f.Outages {
				add(f.ID, o.AtS, o.LostS, max(o.LostS, o.LostAtMostS), o.ResolutionS, o.Resumed, o.Moved, o.Withdrawn,
					strings.Join(o.Before, " "), strings.Join(o.After, " "))
			}
		}
	})
}

// searchRows adds rows for loss-free searches. A requested rate of 0 is full speed.
func searchRows(run *record.Run, add func(...any)) {
	eachTrial(run, add, func(t *record.Trial, add func(...any)) {
		if t.LossFree == nil {
			return
		}
		for i, s := range t.LossFree.Trials {
			var places []string
			for _, p := range s.Places {
				places = append(places, strings.TrimLeft(p.Host+" ", " ")+p.What+": "+fmt.Sprint(p.Packets))
			}
			add(i+1, s.AskedBps, s.OfferedBps, s.ReceivedBps, s.WindowS, s.Sent, s.Lost, s.LostShare, s.Confirms,
				s.Pass, strings.Join(places, "; "))
		}
	})
}

// findMaxRows adds rows for searches of the highest request rate. A requested rate of 0 is the
// closed loop.
func findMaxRows(run *record.Run, add func(...any)) {
	eachTrial(run, add, func(t *record.Trial, add func(...any)) {
		if t.FindMax == nil {
			return
		}
		for i, s := range wording.FindMax(t.FindMax).Trials {
			got := lists.Map(s.Conditions, func(c record.Condition) string { return c.Condition + ": " + c.Got })
			add(i+1, s.AskedPerS, s.AnsweredPerS, s.WindowS, s.Lengthened, s.Confirms, s.Pass, s.FailedBy,
				strings.Join(got, "; "), s.Generator)
		}
	})
}

// toolRows adds rows with the complete stored output of programs.
func toolRows(run *record.Run, add func(...any)) {
	eachTrial(run, add, func(t *record.Trial, add func(...any)) {
		for _, p := range t.Tools {
			add(p.ID, p.Tool, p.Client, p.Server, p.ReportedBps, p.CountedBy, p.SenderBps, p.ReceiverBps, p.SenderBytes,
				p.ReceiverBytes, p.Seconds,
				p.TransactionsPerS, p.LatencyUs, p.GoodputBps, p.PredictedBps, p.WrittenBytes, p.WritingS, p.OwnS,
				p.LateS, p.TookS, p.Error,
				strings.Join(p.Command, " "), p.Output, p.Errors, strings.Join(p.ServerCommand, " "), p.ServerOutput,
				p.ServerErrors)
		}
	})
}

// cpuRows adds rows for every CPU of every machine in each trial. Shares are of the window.
func cpuRows(run *record.Run, add func(...any)) {
	eachTrial(run, add, func(t *record.Trial, add func(...any)) {
		for _, m := range hostload.Of(*t, t.Over(&run.Topology)) {
			for _, c := range m.CPUs {
				add(m.Name, c.CPU, c.Busy, c.User, c.System, c.IRQ, c.SoftIRQ, c.Steal, c.InterruptsPerS, c.NetRxPerS,
					c.Processed, c.SoftDropped, c.Squeezed)
			}
		}
	})
}

func machineRows(run *record.Run, add func(...any)) {
	eachTrial(run, add, func(t *record.Trial, add func(...any)) {
		for _, m := range hostload.Of(*t, t.Over(&run.Topology)) {
			add(m.Name, len(m.CPUs), m.Busy, m.RxMissed, m.SoftDropped, m.Squeezed, m.SomeWaited, m.AllWaited,
				m.AvailableBytes, m.TCPBytes,
				m.Sent, m.Resent, m.TCPPressures)
		}
	})
}

// gained returns the increase of a counter, negative if it was reset.
func gained(begin, end uint64) int64 { return int64(end - begin) }

func interfaceRows(run *record.Run, add func(...any)) {
	eachTrial(run, add, func(t *record.Trial, add func(...any)) {
		for _, h := range t.Hosts {
			for _, end := range h.End.Interfaces {
				begin, ok := counters(h.Begin.Interfaces, end.Interface)
				if !ok {
					continue // added during the window: it has no first reading
				}
				seconds := float64(end.AtNs-begin.AtNs) / 1e9
				var rx, tx any
				if seconds > 0 {
					rx, tx = float64(gained(begin.RxBytes, end.RxBytes))*8/seconds,
						float64(gained(begin.TxBytes, end.TxBytes))*8/seconds
				}
				add(h.Host, end.Interface, seconds, gained(begin.RxBytes, end.RxBytes),
					gained(begin.TxBytes, end.TxBytes), rx, tx,
					gained(begin.RxPackets, end.RxPackets), gained(begin.TxPackets, end.TxPackets),
					gained(begin.RxDropped, end.RxDropped), gained(begin.TxDropped, end.TxDropped),
					gained(begin.RxErrors, end.RxErrors), gained(begin.TxErrors, end.TxErrors),
					gained(begin.RxMissed, end.RxMissed), gained(begin.RxOtherhost, end.RxOtherhost))
			}
		}
	})
}

// counters returns the counters of an interface in a reading. It returns false if it was absent.
func counters(list []netstate.InterfaceCounters, name string) (netstate.InterfaceCounters, bool) {
	i := slices.IndexFunc(list, func(c netstate.InterfaceCounters) bool { return c.Interface == name })
	if i < 0 {
		return netstate.InterfaceCounters{}, false
	}
	return list[i], true
}

// seriesRows adds rows with bytes counted from the beginning of the window: for an interface from
// the reading there, for a flow from its first bin, which is what it received until its first
// sample. Without bins that sample counts as the beginning.
func seriesRows(run *record.Run, add func(...any)) {
	eachTrial(run, add, func(t *record.Trial, add func(...any)) {
		bins, receiver := map[string]int64{}, map[string]string{}
		for _, f := range t.Flows {
			receiver[f.ID] = f.To
			if len(f.Bins) > 0 {
				bins[f.ID] = f.Bins[0]
			}
		}
		for _, h := range t.Hosts {
			first := map[string]int64{}
			for _, s := range h.Series {
				at := float64(s.AtNs-h.Begin.ScheduledNs) / 1e9
				for _, p := range s.Interfaces {
					if begin, ok := counters(h.Begin.Interfaces, p.Interface); ok {
						add(h.Host, at, "interface", p.Interface, gained(begin.RxBytes, p.RxBytes),
							gained(begin.TxBytes, p.TxBytes), nil, nil, nil)
					}
				}
				for _, f := range s.Flows {
					if _, ok := first[f.ID]; !ok {
						first[f.ID] = f.ReceivedBytes - bins[f.ID]
					}
					var received any // from the sender's host: unknown
					if receiver[f.ID] == h.Host {
						received = f.ReceivedBytes - first[f.ID]
					}
					add(h.Host, at, "flow", f.ID, nil, nil, received, f.RTTUs, f.SndCwnd)
				}
			}
		}
	})
}
