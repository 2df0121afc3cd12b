package wording

import (
	"cmp"
	"fmt"
	"slices"
	"strings"

	"linerate/internal/model/fact"
	"linerate/internal/model/lists"
	"linerate/internal/model/record"
	"linerate/internal/model/unit"
)

// Checks returns a copy of trust checks with their details as text. Checks without facts, from an
// earlier version, keep the text that they have.
func Checks(list []record.Check) []record.Check {
	list = slices.Clone(list)
	for i := range list {
		list[i] = Checked(list[i])
	}
	return list
}

// Checked returns a trust check with its detail as text.
func Checked(c record.Check) record.Check {
	if c.Facts == nil {
		return c
	}
	c.Detail = Facts(c.Facts)
	switch {
	case c.Nearest > 0:
		c.Detail = fmt.Sprintf("all %d trials; nearest to failing is trial %d: %s", c.Trials, c.Nearest, c.Detail)
	case c.Trials > 0:
		c.Detail = fmt.Sprintf("all %d trials: %s", c.Trials, c.Detail)
	}
	if c.Repeated > 0 {
		c.Detail += fmt.Sprintf("; of %d more trials it took too much, and they were made again", c.Repeated)
	}
	return c
}

// FindMax returns a copy of a search for the highest request rate, with the checks of its
// generators as text; nil for nil.
func FindMax(f *record.FindMax) *record.FindMax {
	if f == nil {
		return nil
	}
	worded := *f
	worded.Generator, worded.Trials = generatorCheck(f.Busy, f.Generator), slices.Clone(f.Trials)
	for i := range worded.Trials {
		t := &worded.Trials[i]
		t.Generator = generatorCheck(t.Busy, t.Generator)
	}
	return &worded
}

func generatorCheck(c *record.GeneratorCheck, stored string) string {
	if c == nil {
		return stored
	}
	text := Checked(c.Check).Detail
	if c.InClosedLoop {
		text = "in the closed loop " + text
	}
	return text
}

// Facts returns several facts as text, separated by semicolons.
func Facts(list []fact.Fact) string {
	texts := lists.Map(list, Fact)
	return strings.Join(texts, "; ")
}

var _ = later(func() {
	spell(func(string, fact.NoWindow) string { return "the trial has no window" })
	spell(func(_ string, o fact.FlowsOpened) string {
		switch {
		case o.Flows == 0:
			return "the trial has no flow"
		case len(o.Missing) == 0:
			return every(o.Flows) + " connected"
		case o.Meant:
			return fmt.Sprintf("%d of %d flows could not connect, as the treatment allows", len(o.Missing), o.Flows)
		}
		return fmt.Sprintf("%d of %d flows could not connect (%s)", len(o.Missing), o.Flows, three(o.Missing))
	})
	spell(func(_ string, l fact.FlowsLasted) string {
		return strings.Join(slices.DeleteFunc([]string{flowsEnded(l), flowsSilent(l)}, func(text string) bool {
			return text == ""
		}), "; ")
	})
	spell(func(_ string, m fact.BytesMoved) string {
		text := "in the window senders wrote " + unit.FormatBytes(m.WrittenBytes)
		if m.LostDatagrams > 0 {
			text += fmt.Sprintf(", lost %d datagrams", m.LostDatagrams)
		}
		if m.AcknowledgedBytes > 0 {
			text += fmt.Sprintf(", had %s acknowledged", unit.FormatBytes(m.AcknowledgedBytes))
		}
		text += fmt.Sprintf(", and receivers read %s; ", unit.FormatBytes(m.ReceivedBytes))
		if m.Differ == nil {
			return text + "sent and received bytes agree"
		}
		return text + differ(*m.Differ)
	})
	spell(func(_ string, t fact.Thirds) string {
		spelled := unit.FormatBytes
		if t.Transactions {
			spelled = func(n float64) string { return unit.FormatCount(int64(n+0.5)) + " transactions" }
		}
		by, most := percents(t.Change, t.Allowed)
		text := fmt.Sprintf("the last third of the window carried %s and the first %s: %s (allowed ±%s)",
			spelled(t.Last), spelled(t.First), signed(t.Change, by), most)
		if t.Losses {
			text += "; the sawtooth of congestion control on a path with losses is part of what is allowed"
		}
		if t.StoodS > 0 {
			text += fmt.Sprintf("; from %s on, nearly nothing arrived for %s", unit.FormatSeconds(t.StoodAtS),
				unit.FormatSeconds(t.StoodS))
		}
		for i, s := range t.Senders {
			part, _ := percents(s.Change, t.Allowed)
			text += fmt.Sprintf("%s %s sent %s", []string{";", ","}[min(i, 1)], s.Host, signed(s.Change, part))
		}
		return text
	})
	spell(func(string, fact.BelowLimit) string {
		return "no flow is above the limit of its path, no interface above its link's rate"
	})
	spell(func(_ string, l fact.LimitShare) string {
		part, most := percents(l.Share, l.Allowed)
		return fmt.Sprintf("goodput %s is %s of the limit %s (allowed %s)", unit.FormatRate(l.Bps), part,
			unit.FormatRate(l.LimitBps), most)
	})
	spell(func(_ string, l fact.FlowLimitShare) string {
		part, most := percents(l.Share, l.Allowed)
		return fmt.Sprintf("%s from %s to %s: %s is %s of the limit of its own path, %s (allowed %s)", l.Flow, l.From,
			l.To, unit.FormatRate(l.Bps), part, unit.FormatRate(l.LimitBps), most)
	})
	spell(func(_ string, i fact.InterfaceShare) string {
		part, most := percents(i.Share, i.Allowed)
		way := "into "
		if i.Out {
			way = "out of "
		}
		return fmt.Sprintf("%s %s is %s of its link's %s (allowed %s)", unit.FormatRate(i.Bps), way+i.Interface, part,
			unit.FormatRate(i.RateBps), most)
	})
	spell(func(_ string, s fact.SenderSum) string {
		text := "the sum of the senders' own averages, " + unit.FormatRate(s.Bps) + ", is "
		limit := "the limit of its path, " + unit.FormatRate(s.LimitBps)
		switch {
		case s.Share <= s.Allowed:
			return text + "within " + limit
		case s.Share < 1.01: // what is so little above the limit would be 1×
			part, most := percents(s.Share, s.Allowed)
			text += fmt.Sprintf("%s of %s (allowed %s)", part, limit, most)
		default:
			text += fmt.Sprintf("%.3g× %s", s.Share, limit)
		}
		return text + ": it counts bytes still in send buffers"
	})
	spell(generatorLoad)
	spell(func(host string, s fact.Stolen) string {
		took, allowed := percents(s.Share, s.Allowed)
		text := fmt.Sprintf("a hypervisor took %s of the processors' time (%s), allowed %s", took, host, allowed)
		switch {
		case s.Share <= s.Allowed:
			return text
		case s.Reached:
			return text + ", but the limit was reached all the same"
		}
		return text + ": the machine was paused, and the network did not cause what this cost"
	})
	spell(edges)
	spell(func(host string, c fact.Carried) string {
		text := fmt.Sprintf("%s: interfaces took in %s of payload, flows got %s", host,
			unit.FormatBytes(c.InterfaceBytes), unit.FormatBytes(c.FlowBytes))
		if c.ResentBytes > 0 {
			text += fmt.Sprintf(" and were sent %s again", unit.FormatBytes(c.ResentBytes))
		}
		if c.UncountedBytes > 0 {
			text += fmt.Sprintf(", and %s was lost or came twice", unit.FormatBytes(c.UncountedBytes))
		}
		part, most := percents(c.Share, c.Allowed)
		return text + fmt.Sprintf(": %s apart (allowed %s)", part, most)
	})
	spell(func(host string, n fact.NoFlow) string {
		verb := "took in"
		if n.Sent {
			verb = "sent"
		}
		part, allowed := percents(n.Share, n.Allowed)
		if n.Share <= n.Allowed {
			return fmt.Sprintf("%s: at most %s of what its interfaces %s belongs to no flow (allowed %s)", host, part,
				verb, allowed)
		}
		return fmt.Sprintf("%s: its interfaces %s %s that belongs to no flow, %s of the flows' own (allowed %s)", host,
			verb, unit.FormatBytes(n.Bytes), part, allowed)
	})
	spell(func(host string, c fact.RareCounters) string {
		driver := ""
		if c.Driver != "" {
			driver = " (driver " + c.Driver + ")"
		}
		return fmt.Sprintf("%s: the counters of %s%s are refreshed every %s, too rarely for a window of %s", host,
			c.Interface, driver, unit.FormatSeconds(c.RefreshS), unit.FormatSeconds(c.WindowS))
	})
	spell(func(host string, c fact.CarriedAgain) string {
		return fmt.Sprintf("%s: the packets of %s (%s) leave by another interface, which counts them again with "+
			"headers of unknown length", host, c.Interface, c.Kind)
	})
})

func every(flows int) string {
	if flows == 1 {
		return "the flow"
	}
	return fmt.Sprintf("all %d flows", flows)
}

func flowsEnded(l fact.FlowsLasted) string {
	n := fmt.Sprintf("%d of %d flows ", len(l.Ended), l.Flows)
	switch {
	case len(l.Ended) == 0 && len(l.Silent) > 0:
		return ""
	case len(l.Ended) == 0:
		return every(l.Flows) + " lasted through the window"
	case l.By == fact.ByAttack:
		return n + "were broken off or not answered beside an attack, which is the result (" + three(l.Ended) + ")"
	case l.By == fact.ByEvent:
		return n + fmt.Sprintf("ended after what happened at %g s, and nothing arrived by their path any more (%s)",
			l.AtS, three(l.Ended))
	}
	return n + "ended before the window did (" + three(l.Ended) + ")"
}

func flowsSilent(l fact.FlowsLasted) string {
	if len(l.Silent) == 0 {
		return ""
	}
	text := fmt.Sprintf("%d of %d flows carried nothing in the window", len(l.Silent), l.Flows)
	switch {
	case l.Meant:
		return text + ", as the treatment allows"
	case l.By == fact.ByAttack:
		text += " beside an attack, which is the result"
	}
	return text + " (" + three(l.Silent) + ")"
}

// three returns the names of at most three flows, with their errors.
func three(list []fact.FlowEnd) string {
	var texts []string
	for _, f := range list {
		if len(texts) == 3 {
			texts = append(texts, "…")
			break
		}
		text := fmt.Sprintf("%s from %s to %s", f.Flow, f.From, f.To)
		if f.Failed > 0 {
			text += fmt.Sprintf(": %d transactions failed", f.Failed)
		}
		if f.Error != "" {
			text += ": " + f.Error
		}
		texts = append(texts, text)
	}
	return strings.Join(texts, "; ")
}

func differ(d fact.FlowDiffer) string {
	text := fmt.Sprintf("%s from %s to %s: ", d.Flow, d.From, d.To)
	if d.Counts == fact.CountsAnswered {
		return text + fmt.Sprintf("%d transactions were done and %d answered, which may differ by %.0f", d.Done,
			d.Answered, d.Allowed)
	}
	by, most := sizes(d.Bytes, d.Allowed)
	return text + fmt.Sprintf("%s by %s, with up to %s in flight", map[string]string{
		fact.CountsLost: "received and lost exceed sent", fact.CountsWritten: "received exceeds written",
		fact.CountsSent: "received exceeds sent", fact.CountsAcknowledged: "received and acknowledged differ",
	}[d.Counts], by, most)
}

func generatorLoad(host string, g fact.GeneratorLoad) string {
	text := fmt.Sprintf("the busiest traffic thread took %s of a CPU (%s)", unit.FormatPercent(g.Thread),
		cmp.Or(host, "no host"))
	switch l := g.CPUs; {
	case l == nil:
		text += "; how busy all CPUs together were is not known"
	case l.Usable:
		text += ", " + cpuLoad(*l)
	default:
		text += fmt.Sprintf(", all CPUs together were %s busy%s (%s)", unit.FormatPercent(l.Busy), beside(*l), l.Host)
	}
	if g.Polls {
		text += "; threads that poll keep CPUs busy, so only their other work counts"
	}
	switch {
	case !g.Exhausted:
		return text
	case g.But == fact.ButLimit:
		return text + ", but the limit was reached all the same"
	case g.But == fact.ButInterface:
		return text + ", but " + g.Full + " was full: the network was the limit"
	case g.But == fact.ButNetwork:
		return text + ", but a full link or loss held every flow back: the network was the limit"
	case len(g.Held) > 0:
		held := g.Held
		if len(held) > 3 {
			held = append(held[:3:3], "…")
		}
		return text + ": the machine and not the network held " + strings.Join(held, "; ") + " back"
	}
	return text + ": the machine may have been the limit, not the network"
}

// cpuLoad returns how busy CPUs were: "the processors of client were 95 % busy".
func cpuLoad(l fact.Load) string {
	which := "the processors of " + l.Host
	if l.Usable {
		which = "the processors that linerate may use on " + l.Host
	}
	return fmt.Sprintf("%s were %s busy%s", which, unit.FormatPercent(l.Busy), beside(l))
}

// beside returns the share of niced programs in a load; empty: none.
func beside(l fact.Load) string {
	if l.Niced == 0 {
		return ""
	}
	return fmt.Sprintf(", beside niced programs' %s", unit.FormatPercent(l.Niced))
}

func edges(host string, e fact.Edges) string {
	late, most := seconds(e.LateS, e.AllowedS)
	texts := []string{fmt.Sprintf("%s read the window's edges up to %s late", host, late)}
	if e.ClockHost != "" {
		known, bound := seconds(e.DoubtS, e.AllowedS)
		clocks := fmt.Sprintf("the clock of %s is known within %s", e.ClockHost, known)
		switch {
		case e.DoubtS <= e.AllowedS && e.LateS > e.AllowedS: // what passed is not the reason
		case e.DoubtS > e.AllowedS && e.LateS <= e.AllowedS:
			texts, most = []string{clocks}, bound
		default:
			texts = append(texts, clocks)
		}
	}
	text := fmt.Sprintf("%s; allowed is %s, %s of the window of %s", strings.Join(texts, ", "), most,
		unit.FormatPercent(e.Allowed), unit.FormatSeconds(e.WindowS))
	switch {
	case e.TickS > 0:
		text += fmt.Sprintf(": the timers of %s's kernel go off at its ticks alone, every %s (no high-resolution "+
			"timers); use a longer window", host, unit.FormatSeconds(e.TickS))
	case e.Busy > 0:
		text += fmt.Sprintf(": the processors of %s were %s busy", host, unit.FormatPercent(e.Busy))
	}
	return text
}
