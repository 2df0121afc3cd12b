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

// watch reports progress every interval, counted back from the window's end, until that. The
// requests are cheap, and nothing waits for the replies.
func (s *session) watch(ctx context.Context, flows []*trial.Flow, begin, end int64) {
	if s.options.Progress == nil && s.options.Until == nil {
		return
	}
	interval := int64(s.options.Interval)
	last := s.readProgress(ctx)
	first := last // of the window
	window := s.begin(flows, first)
	for left := (end - sched.Now() - interval/2) / interval * interval; left > 0; left = min(left-interval,
		(end-sched.Now())/interval*interval) {
		select {
		case <-ctx.Done():
			return
		case <-time.After(time.Duration(end - left - sched.Now())):
		}
		latest := s.readProgress(ctx)
		p := s.progress(flows, last, latest)
		p.Left = time.Duration(left)
		open := end-left > begin // the interval is one of the window
		switch {
		case s.phase != "":
			p.Phase = s.phase
		case s.idle:
			p.Phase = "idle"
		case !open:
			p.Phase, first = "warm-up", latest
			window = s.begin(flows, latest)
		default:
			p.Phase = "measuring"
			window.add(latest)
			if until := s.progress(flows, first, latest); until.Write >= 0 || until.Read >= 0 { // the server answers
				until.Left, s.until = p.Left, until
			}
		}
		last = latest
		if s.options.Until != nil {
			s.options.Until(s.unfinished(window))
		}
		if s.options.Progress == nil {
			continue
		}
		if p.Write >= 0 || p.Read >= 0 || p.RatePerS >= 0 || s.idle || s.options.alone() {
			s.options.Progress(p)
		}
	}
}

// datagramsUntil is how much of the window was measured, and the goodput of datagrams until then,
// in words; empty: no interval was, or of something else.
func (s *session) datagramsUntil() string {
	var parts []string
	for i, bps := range []float64{s.until.Write, s.until.Read} {
		if bps > 0 {
			parts = append(parts, []string{flow.Write, flow.Read}[i]+" "+unit.FormatRate(bps))
		}
	}
	if len(parts) == 0 {
		return ""
	}
	return fmt.Sprintf("%v of %v; until then %s", unit.Duration(s.options.Duration-s.until.Left),
		unit.Duration(s.options.Duration), strings.Join(parts, ", "))
}

// progress is what the flows moved between two readings.
func (s *session) progress(flows []*trial.Flow, before, now map[string]message.FlowProgress) Progress {
	p := Progress{Write: -1, Read: -1, LostShare: -1, RatePerS: -1}
	if len(s.options.Modes) > 1 {
		p.Mode = s.options.Flows.Mode
	}
	var lost, datagrams int64
	for _, way := range [][2]string{{record.NodeClient, record.NodeServer}, {record.NodeServer, record.NodeClient}} {
		from, of := way[0], ids{}
		node := s.counter(from, way[1])
		for _, f := range flows {
			of[f.ID] = f.Sender() == from && !f.Probe
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
	all, _ := bus.Ask(ctx, s.group.Bus, message.Progress, requests)
	return all
}

// since is what a direction's flows moved between two readings, in so many seconds; 0
// seconds: a reading is missing.
func since(before, now message.FlowProgress, of ids) (seconds float64, d progressed) {
	if before.AtNs == 0 || now.AtNs == 0 {
		return 0, d
	}
	was, d := ofSamples(before.Flows, of), ofSamples(now.Flows, of)
	d.bytes, d.datagrams, d.lost, d.done = d.bytes-was.bytes, d.datagrams-was.datagrams, d.lost-was.lost,
		d.done-was.done
	return float64(now.AtNs-before.AtNs) / 1e9, d
}
