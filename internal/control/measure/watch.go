package measure

import (
	"context"
	"fmt"
	"strings"
	"time"

	"linerate/internal/bus"
	"linerate/internal/control/trial"
	"linerate/internal/kernel/sched"
	"linerate/internal/model/flow"
	"linerate/internal/model/message"
	"linerate/internal/model/record"
	"linerate/internal/model/unit"
)

// watch reports progress every interval, until the window ends. The requests are cheap,
// and nothing waits for the replies.
func (s *session) watch(ctx context.Context, flows []*trial.Flow, begin, end int64) {
	if s.options.Progress == nil {
		return
	}
	tick := time.NewTicker(s.options.Interval)
	defer tick.Stop()
	last := s.readProgress(ctx)
	plain := s.phase == "" && !s.idle
	for {
		select {
		case <-ctx.Done():
			return
		case <-tick.C:
		}
		now := sched.Now()
		if now >= end {
			return
		}
		latest := s.readProgress(ctx)
		p := s.progress(flows, last, latest)
		p.LeftS = float64(end-now) / 1e9
		switch {
		case s.phase != "":
			p.Phase = s.phase
		case s.idle:
			p.Phase = "idle"
		case now < begin:
			p.Phase = "warm-up"
		default:
			p.Phase = "measuring"
		}
		last = latest
		if plain && now >= begin+int64(s.options.Interval) { // an interval of the window
			s.partial.add(p, float64(now-begin)/1e9, float64(end-begin)/1e9)
		}
		if p.Write >= 0 || p.Read >= 0 || p.RatePerS >= 0 || s.idle || s.options.Iperf3 {
			s.options.Progress(p)
		}
	}
}

// partial is what the intervals of a window had while it was open.
type partial struct {
	seconds, of       float64 // until the latest interval, and of the whole window
	write, read, rate mean
}

// mean is that of the values that are known.
type mean struct {
	sum float64
	n   int
}

func (m *mean) add(v float64) {
	if v >= 0 {
		m.sum, m.n = m.sum+v, m.n+1
	}
}

func (w *partial) add(p Progress, seconds, of float64) {
	if p.Write < 0 && p.Read < 0 && p.RatePerS < 0 {
		return // an end did not answer
	}
	w.seconds, w.of = seconds, of
	w.write.add(p.Write)
	w.read.add(p.Read)
	w.rate.add(p.RatePerS)
}

// String is how much of the window was measured and its mean rates, in words; empty: no
// interval was.
func (w partial) String() string {
	var parts []string
	for _, rate := range []struct {
		name   string
		of     mean
		format func(float64) string
	}{
		{"write", w.write, unit.FormatRate}, {"read", w.read, unit.FormatRate},
		{"rate", w.rate, func(v float64) string { return unit.FormatCount(int64(v)) + "/s" }},
	} {
		if rate.of.n > 0 {
			parts = append(parts, rate.name+" "+rate.format(rate.of.sum/float64(rate.of.n)))
		}
	}
	if len(parts) == 0 {
		return ""
	}
	return fmt.Sprintf("%.2g of %.4g s; until then %s (mean of the intervals; nothing was kept)", w.seconds, w.of, strings.Join(parts, ", "))
}

// progress is what the flows moved between two readings.
func (s *session) progress(flows []*trial.Flow, before, now map[string]message.FlowProgress) Progress {
	p := Progress{Write: -1, Read: -1, LostShare: -1, RatePerS: -1}
	if len(s.options.Modes) > 1 {
		p.Mode = s.options.Flows.Mode
	}
	var lost, datagrams int64
	for _, from := range []string{record.NodeClient, record.NodeServer} {
		node, of := s.counter(from), ids{}
		for _, f := range flows {
			of[f.ID] = f.Sender() == from && f.ID != probeID
		}
		seconds, d := since(before[node], now[node], of)
		if d.flows == 0 || seconds <= 0 || s.options.Iperf3 && d.bytes == 0 {
			continue // datagrams that arrive at the server are counted there only
		}
		rate := float64(d.bytes) * 8 / seconds
		switch {
		case flow.Of(s.options.Flows.Protocol).Transactional():
			p.RatePerS = float64(d.done) / seconds
		case from == record.NodeClient:
			p.Write = rate
		default:
			p.Read = rate
		}
		lost, datagrams = lost+d.lost, datagrams+d.datagrams
	}
	if datagrams > 0 {
		p.LostShare = lostShare(lost, datagrams)
	}
	return p
}

// readProgress reads the flows at both ends.
func (s *session) readProgress(ctx context.Context) map[string]message.FlowProgress {
	ctx, cancel := context.WithTimeout(ctx, s.options.Interval)
	defer cancel()
	requests := map[string]struct{}{}
	for _, node := range s.group.Nodes {
		requests[node] = struct{}{}
	}
	all, _ := bus.Ask[message.FlowProgress](ctx, s.group.Bus, "progress", requests)
	return all
}

// since is what a direction's flows moved between two readings, in so many seconds; 0
// seconds: a reading is missing.
func since(before, now message.FlowProgress, of ids) (seconds float64, d progressed) {
	if before.AtNs == 0 || now.AtNs == 0 {
		return 0, d
	}
	was, d := ofSamples(before.Flows, of), ofSamples(now.Flows, of)
	d.bytes, d.datagrams, d.lost, d.done = d.bytes-was.bytes, d.datagrams-was.datagrams, d.lost-was.lost, d.done-was.done
	return float64(now.AtNs-before.AtNs) / 1e9, d
}
