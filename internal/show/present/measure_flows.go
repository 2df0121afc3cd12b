package present

import (
	"cmp"
	"fmt"
	"slices"
	"strings"

	"linerate/internal/model/flow"
	"linerate/internal/model/record"
	"linerate/internal/model/unit"
	"linerate/internal/show/document"
	"linerate/internal/show/export"
	"linerate/internal/show/number"
	"linerate/internal/show/words"
)

// listedFlows is the maximum number of flows that are listed individually.
const listedFlows = 16

// measuredFlows lists the flows or, if they are many, the slowest ones, and what limited a few of
// them.
func measuredFlows(m *export.Measurement) (parts [][]document.Block) {
	flows := slices.Clone(m.Flows)
	size, spelled := func(f record.Flow) float64 { return f.GoodputBps }, unit.FormatRate
	if m.Transactions != nil {
		size, spelled = func(f record.Flow) float64 { return f.TransactionsPerS }, number.PerSecond
	}
	t := &document.Table{Columns: []document.Column{{Head: "flow"}}}
	places := severalPlaces(flows)
	if places {
		t.Columns = append(t.Columns, document.Column{Head: "from", From: 100}, document.Column{Head: "to", From: 100})
	}
	if len(flows) > listedFlows {
		slices.SortStableFunc(flows, func(a, b record.Flow) int { return cmp.Compare(size(a), size(b)) })
		fastest := flows[len(flows)-1]
		t.Caption = fmt.Sprintf("The %d slowest of %d flows; the fastest, %s, had %s", listedFlows, len(flows),
			fastest.ID, spelled(size(fastest)))
		flows = flows[:listedFlows]
	}
	heads, row := flowColumns(m)
	for i, head := range heads {
		// The limit of a flow can be a sentence, and an error is in the last column.
		t.Columns = append(t.Columns, document.Column{Head: head, Wrap: i == len(heads)-1})
	}
	for _, f := range flows {
		cells := []string{f.ID}
		if places {
			cells = append(cells, f.SourceAddr().String(), f.DestinationAddr().String())
		}
		t.Add(append(cells, row(f)...)...)
	}
	parts = [][]document.Block{{t}}
	if why := heldBack(flows); why != "" {
		parts = append(parts, []document.Block{document.Statement{Label: "Why", Text: why}})
	}
	if len(m.Next) > 0 {
		parts = append(parts, []document.Block{document.Statement{Label: "Next", Text: strings.Join(m.Next, "; ")}})
	}
	return parts
}

// heldBack says what limited flows: for two flows each, for more the common limit, or that of the
// first as an example.
func heldBack(flows []record.Flow) string {
	const explained = 2
	var each, distinct []string
	for _, f := range flows {
		if f.LimitedWhy != "" {
			each, distinct = append(each, f.ID+": "+f.LimitedWhy), words.Distinct(distinct, f.LimitedWhy)
		}
	}
	switch {
	case len(each) <= explained:
		return strings.Join(each, "; ")
	case len(distinct) == 1:
		return fmt.Sprintf("each of %d flows: %s", len(each), distinct[0])
	}
	return fmt.Sprintf("%s (one of %d flows)", each[0], len(flows))
}

// severalPlaces reports whether flows are between more than one pair of addresses. Only then are
// the addresses of a flow more informative than the title.
func severalPlaces(flows []record.Flow) bool {
	return slices.ContainsFunc(flows, func(f record.Flow) bool {
		a, b := flows[0].SourceAddr(), flows[0].DestinationAddr()
		from, to := f.SourceAddr(), f.DestinationAddr()
		return (from != a || to != b) && (from != b || to != a)
	})
}

// flowColumns returns the columns of flows, by protocol.
func flowColumns(m *export.Measurement) (head []string, row func(record.Flow) []string) {
	switch {
	case m.Transactions != nil:
		return []string{"rate", "p50", "p99", "max", "connections"}, func(f record.Flow) []string {
			x := f.Transactions
			if x == nil {
				return []string{"?", "?", "?", "?", f.Error}
			}
			texts := []string{number.PerSecond(f.TransactionsPerS), "?", "?", "?", unit.FormatCount(x.Connections)}
			if l := x.Latency; l != nil {
				p := l.Percentiles()
				texts[1], texts[2], texts[3] = known(p[0]), known(p[2]), number.Microseconds(l.MaxUs)
			}
			if f.Error != "" {
				texts[4] += ": " + f.Error
			}
			return texts
		}
	case m.Datagrams != nil:
		return []string{"goodput", "sent", "lost", "jitter"}, func(f record.Flow) []string {
			g := f.Datagrams
			if g == nil {
				return []string{unit.FormatRate(f.GoodputBps), "?", "?", f.Error}
			}
			texts := []string{unit.FormatRate(f.GoodputBps), unit.FormatCount(g.Sent), lost(g), jitter(g)}
			if f.Error != "" {
				texts[3] = f.Error
			}
			return texts
		}
	}
	return []string{"goodput", "resent", "RTT at end", "held back by"}, func(f record.Flow) []string {
		resent, rtt := "?", "?" // the sender's kernel counts them
		if f.SenderInfo != nil {
			resent = unit.FormatBytes(float64(f.ResentBytes()))
			rtt = number.Significant(float64(f.SenderInfo.RTTUs)/1e3, 2) + " ms"
		}
		by := f.LimitedBy
		switch {
		case f.Error != "":
			by = f.Error
		case by == "":
			by = "not attributed"
		}
		return []string{unit.FormatRate(f.GoodputBps), resent, rtt, by}
	}
}

// known formats a percentile, or a dash if there are too few values for it.
func known(p record.Percentile) string {
	if p.Rank != "" {
		return "–"
	}
	return number.Microseconds(p.Us)
}

// jitter formats the jitter of received datagrams, or a dash if it is unknown.
func jitter(g *record.Datagrams) string {
	us, known := g.Jitter()
	if !known {
		return "–"
	}
	return number.Microseconds(us)
}

// lost formats the share of datagrams that a flow lost. "?": it sent none.
func lost(g *record.Datagrams) string {
	share, known := g.LostShare()
	if !known {
		return "?"
	}
	return unit.FormatPercent(share)
}

// movedBy says how the two ends transferred bytes. The note of a mode is only shown for a single
// flow.
func movedBy(m *export.Measurement) []document.Block {
	type modes struct{ send, receive string }
	var kinds []modes
	flows := map[modes]int{}
	for _, f := range m.Flows {
		if f.SendMode == "" && f.ReceiveMode == "" {
			continue
		}
		w := modes{cmp.Or(f.SendMode, "?"), cmp.Or(f.ReceiveMode, "?")}
		if f.CallBytes > 0 {
			w.send += fmt.Sprintf(" (%.0f KiB at most in a call)", float64(f.CallBytes)/1024)
		}
		if flows[w] == 0 {
			kinds = append(kinds, w)
		}
		flows[w]++
	}
	slices.SortStableFunc(kinds, func(a, b modes) int { return cmp.Compare(flows[b], flows[a]) })
	var texts []string
	for _, w := range kinds {
		text := fmt.Sprintf("sent by %s, received by %s", w.send, w.receive)
		if w.receive == flow.ModeTruncate {
			text = fmt.Sprintf("sent by %s, received and discarded in the kernel (MSG_TRUNC)", w.send)
		}
		if len(kinds) > 1 {
			text = fmt.Sprintf("%s %s", words.Count(flows[w], "flow"), text)
		}
		texts = append(texts, text)
	}
	if len(m.Flows) == 1 {
		for note := range strings.SplitSeq(m.Flows[0].ModeNote, "; ") {
			if note != "" && !strings.HasPrefix(note, flow.ModesTried) { // JSON contains it
				texts = append(texts, note)
			}
		}
	}
	if len(texts) == 0 {
		return nil
	}
	label := "Moved"
	if m.Transactions != nil {
		label = "Follow"
	}
	return []document.Block{document.Statement{Label: label, Text: strings.Join(texts, "; ")}}
}
