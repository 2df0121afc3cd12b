package server

import (
	"fmt"
	"strings"

	"linerate/internal/host/iperf3"
	"linerate/internal/model/plain"
	"linerate/internal/model/unit"
	"linerate/internal/version"
)

// output returns the text for a client that requests the server's output: each second, and each flow as both
// ends counted it.
func (t *test) output(theirs *iperf3.Results) string {
	var b strings.Builder
	fmt.Fprintf(&b, "linerate %s, for iperf3 %s at %s\n", version.String(), plain.Short(t.p.ClientVersion, 20), t.from)
	fmt.Fprintf(&b, "%s, %s, %s", t.p.Protocol(), unit.Plural(len(t.streams), "flow"), seconds(t.ended-t.began))
	if t.p.Omit > 0 {
		fmt.Fprintf(&b, " after %d s that were omitted", t.p.Omit)
	}
	for _, s := range t.streams {
		if s.congestion != "" {
			fmt.Fprintf(&b, ", congestion control %s", s.congestion)
			break
		}
	}
	b.WriteString("\n\n")
	t.writeIntervals(&b)
	b.WriteString("\n")
	t.writeFlows(&b, theirs)
	return b.String()
}

// writeIntervals writes what all flows together received and sent in each second.
func (t *test) writeIntervals(b *strings.Builder) {
	const line = "  %-18s %14s %14s\n"
	fmt.Fprintf(b, line, "time", "received", "sent")
	before := tick{at: t.began}
	for _, now := range t.series {
		if now.at-before.at < 100e6 && len(t.series) > 1 {
			continue // the test ended just after a full second
		}
		rate := func(bytes int64) string {
			return unit.FormatRate(float64(bytes) * 8e9 / float64(max(now.at-before.at, 1)))
		}
		span := fmt.Sprintf("%.1f to %s", float64(before.at-t.began)/1e9, seconds(now.at-t.began))
		fmt.Fprintf(b, line, span, rate(now.received-before.received), rate(now.sent-before.sent))
		before = now
	}
}

// writeFlows writes what both ends counted of each flow.
func (t *test) writeFlows(b *strings.Builder, theirs *iperf3.Results) {
	const line = "  %-4v %-16s %14s %14s %12s %s\n"
	last := fmt.Sprintf("%13s", "sent again")
	if t.p.UDP {
		last = fmt.Sprintf("%18s %10s", "lost", "jitter")
	}
	fmt.Fprintf(b, line, "flow", "", "written", "received", "goodput", last)
	span := float64(t.ended-t.began) / 1e9
	for _, s := range t.streams {
		mine := s.result(span)
		from, to, path := theirs.Find(s.id), &mine, "client to server"
		if s.sends {
			from, to, path = to, from, "server to client"
		}
		goodput, last := "", ""
		if to != nil {
			over := span
			if s.sends && to.HasTimes {
				over = to.EndTime - to.StartTime
			}
			if over > 0 {
				goodput = unit.FormatRate(float64(to.Bytes) * 8 / over)
			}
		}
		switch {
		case t.p.UDP && to != nil:
			lost := fmt.Sprintf("%d of %d", to.Errors-to.OmittedErrors, to.Packets-to.OmittedPackets)
			last = fmt.Sprintf("%18s %7.3f ms", lost, to.Jitter*1e3)
		case !t.p.UDP && from != nil && from.Retransmits >= 0:
			last = fmt.Sprintf("%13d", from.Retransmits)
		}
		fmt.Fprintf(b, line, s.id, path, volume(from), volume(to), goodput, last)
	}
}

func volume(r *iperf3.StreamResult) string {
	if r == nil {
		return "unknown"
	}
	return fmt.Sprintf("%d B", r.Bytes)
}

func seconds(ns int64) string { return fmt.Sprintf("%.1f s", float64(ns)/1e9) }
