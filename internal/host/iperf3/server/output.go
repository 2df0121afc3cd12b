package server

import (
	"fmt"
	"strings"
	"unicode/utf8"

	"linerate/internal/host/iperf3"
	"linerate/internal/model/unit"
	"linerate/internal/version"
)

// output is what a client prints when it asks for the server's output: the
// seconds, and each flow as both ends have counted it.
func (t *test) output(theirs *iperf3.Results) string {
	var b strings.Builder
	fmt.Fprintf(&b, "linerate %s, for iperf3 %s at %s\n", version.String(), printable(t.p.ClientVersion), t.from)
	fmt.Fprintf(&b, "%s, %d %s, %s", t.p.Protocol(), len(t.streams), plural("flow", len(t.streams)), seconds(t.ended-t.began))
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
	b.WriteString(table(t.intervals()))
	b.WriteString("\n")
	b.WriteString(table(t.perFlow(theirs)))
	return b.String()
}

// intervals are the seconds of the test: what all flows together brought and took.
func (t *test) intervals() [][]string {
	rows := [][]string{{"time", "received", "sent"}}
	before := tick{at: t.began}
	for _, now := range t.series {
		if now.at-before.at < 100e6 && len(t.series) > 1 {
			continue // the end of the test came just after a full second
		}
		rate := func(bytes int64) string {
			return unit.FormatRate(float64(bytes) * 8e9 / float64(max(now.at-before.at, 1)))
		}
		span := fmt.Sprintf("%.1f to %s", float64(before.at-t.began)/1e9, seconds(now.at-t.began))
		rows = append(rows, []string{span, rate(now.received - before.received), rate(now.sent - before.sent)})
		before = now
	}
	return rows
}

// perFlow is each flow at both ends.
func (t *test) perFlow(theirs *iperf3.Results) [][]string {
	rows := [][]string{{"flow", "", "written", "received", "goodput", "sent again"}}
	if t.p.UDP {
		rows = [][]string{{"flow", "", "written", "received", "goodput", "lost", "jitter"}}
	}
	span := float64(t.ended-t.began) / 1e9
	for _, s := range t.streams {
		mine := s.result(span)
		from, to, way := theirs.Find(s.id), &mine, "client to server"
		if s.sends {
			from, to, way = to, from, "server to client"
		}
		row := []string{fmt.Sprint(s.id), way, volume(from), volume(to), "", ""}
		if to != nil {
			over := span
			if s.sends && to.HasTimes {
				over = to.EndTime - to.StartTime
			}
			if over > 0 {
				row[4] = unit.FormatRate(float64(to.Bytes) * 8 / over)
			}
		}
		switch {
		case t.p.UDP && to != nil:
			lost, sent := to.Errors-to.OmittedErrors, to.Packets-to.OmittedPackets
			row[5] = fmt.Sprintf("%d of %d", lost, sent)
			row = append(row, fmt.Sprintf("%.3f ms", to.Jitter*1e3))
		case !t.p.UDP && from != nil && from.Retransmits >= 0:
			row[5] = fmt.Sprint(from.Retransmits)
		}
		rows = append(rows, row)
	}
	return rows
}

func volume(r *iperf3.StreamResult) string {
	if r == nil {
		return "not known"
	}
	return fmt.Sprintf("%d B", r.Bytes)
}

func seconds(ns int64) string { return fmt.Sprintf("%.1f s", float64(ns)/1e9) }

func plural(word string, n int) string {
	if n == 1 {
		return word
	}
	return word + "s"
}

// table aligns columns: words on the left, figures on the right.
func table(rows [][]string) string {
	var widths []int
	for _, row := range rows {
		for i, cell := range row {
			if i == len(widths) {
				widths = append(widths, 0)
			}
			widths[i] = max(widths[i], utf8.RuneCountInString(cell))
		}
	}
	var b strings.Builder
	for _, row := range rows {
		var line strings.Builder
		for i, cell := range row {
			fill := strings.Repeat(" ", widths[i]-utf8.RuneCountInString(cell))
			if i < 2 && strings.Contains(rows[0][0], "flow") || i == 0 {
				line.WriteString(cell + fill + "  ")
			} else {
				line.WriteString(fill + cell + "  ")
			}
		}
		b.WriteString("  " + strings.TrimRight(line.String(), " ") + "\n")
	}
	return b.String()
}
