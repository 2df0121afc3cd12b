package present

import (
	"cmp"
	"fmt"
	"slices"
	"strings"

	"linerate/internal/model/record"
	"linerate/internal/model/unit"
	"linerate/internal/show/document"
	"linerate/internal/show/evidence"
	"linerate/internal/show/number"
	"linerate/internal/show/words"
)

// Forward shows the result of measuring what a device forwards.
func Forward(r *record.Forward) document.Document {
	device := "the device"
	if r.Router != "" {
		device = "router " + r.Router
	}
	doc := document.Document{About: []string{fmt.Sprintf("forward · %s → %s → %s · %s", r.Interface, device,
		r.Receive, r.Mode)}}
	if len(r.Sizes) == 0 {
		doc.Answer = "No size was measured."
		return doc
	}
	doc.Answer = forwardAnswer(r.Sizes[0])
	t := &document.Table{Columns: []document.Column{{Head: "frame, loss"}, {Head: "frames/s", Align: document.Right}}}
	if r.LinkBps > 0 {
		t.Columns = append(t.Columns, document.Column{Head: "of line rate", Shorter: []string{"of line"},
			Align: document.Right})
	}
	t.Columns = append(t.Columns, document.Column{Head: "latency p50", Shorter: []string{"p50"}, Align: document.Right},
		document.Column{Head: "p99", Align: document.Right}, document.Column{Head: "bounded by", Wrap: true})
	for _, s := range r.Sizes {
		for _, g := range s.Goals {
			rate, share, median, most, why := "none", "", "", "", g.Why
			if g.RateBps > 0 {
				rate, share, why = unit.FormatCount(int64(g.PacketsPerS+0.5)), unit.FormatPercent(g.LineShare),
					forwardWhy(g, s)
			}
			if d := g.Latency; d != nil {
				median, most = number.Microseconds(d.P50Us), number.Microseconds(d.P99Us)
			}
			row := []string{fmt.Sprintf("%s, %s", s.Frame, lossGoal(g.Loss)), rate, share, median, most, why}
			if r.LinkBps == 0 {
				row = slices.Delete(row, 2, 3)
			}
			t.Add(row...)
		}
	}
	doc.Summary = append(doc.Summary, []document.Block{t})
	if bursts := forwardBursts(r.Sizes); len(bursts.Rows) > 0 {
		doc.Summary = append(doc.Summary, []document.Block{bursts})
	}
	if device := forwardDevice(r.Sizes); device != nil {
		doc.Summary = append(doc.Summary, []document.Block{device})
	}
	g := r.Sizes[0].Goals[0]
	notes := &document.Table{Columns: []document.Column{{}, {}, {Wrap: true}}}
	most := ""
	for _, s := range r.Sizes {
		if most != "" {
			most += ", "
		}
		most += fmt.Sprintf("%s %s/s", s.Frame, unit.FormatCount(int64(s.CeilingPerS)))
	}
	notes.Add("generator", r.Interface, "sent at most "+most)
	confirmed := fmt.Sprintf("%s of %s", words.Count(g.Repeats, "trial"), unit.FormatSeconds(g.ConfirmS))
	if g.ConfirmS < evidence.RFCTrial {
		confirmed += fmt.Sprintf("; RFC 2544 requires %d s (--duration %[1]ds)", evidence.RFCTrial)
	}
	notes.Add("confirmed", "by", confirmed)
	if r.Refused != "" {
		notes.Add("mode", r.Mode, r.Refused)
	}
	for _, d := range r.Drops {
		notes.Add("lost here", unit.FormatCount(d.Frames), d.What)
		doc.Warnings = append(doc.Warnings,
			fmt.Sprintf("This host itself lost %s frames, in %s: the device may forward more.",
				unit.FormatCount(d.Frames), d.What))
	}
	doc.Summary = append(doc.Summary, []document.Block{notes})
	for _, s := range r.Sizes {
		for _, g := range s.Goals {
			if g.BoundedBy == record.BoundedBySender {
				doc.Warnings = append(doc.Warnings,
					fmt.Sprintf(
						"Frames of %s bytes: the generator sent no more than %s/s, and the device may forward more.",
						s.Frame, unit.FormatCount(int64(s.CeilingPerS))))
				break
			}
		}
	}
	return doc
}

// forwardDevice returns a table of the device's own counters, in trials that passed and that
// failed. Nil: they were not read.
func forwardDevice(sizes []record.ForwardSize) *document.Table {
	var t *document.Table
	perS := func(n uint64, p record.SwitchPort) string {
		return unit.FormatCount(int64(float64(n)*1e9/float64(max(1, p.ToNs-p.FromNs)) + 0.5))
	}
	add := func(what string, d *record.ForwardDevice) {
		if d == nil {
			return
		}
		names, in, out, why := [2]string{"device", "device"}, "", "", d.Reading.Missing
		for i, p := range d.Reading.Ports[:min(2, len(d.Reading.Ports))] {
			names[i] = cmp.Or(p.Name, names[i])
			lost := []string{}
			for _, c := range []struct {
				n    uint64
				what string
			}{{p.Counters.InDiscards, "in discards"}, {p.Counters.OutDiscards, "out discards"},
				{p.Counters.InErrors, "in errors"}, {p.Counters.OutErrors, "out errors"}} {
				if c.n > 0 {
					lost = append(lost, fmt.Sprintf("%s %s %s/s", names[i], c.what, perS(c.n, p)))
				}
			}
			switch {
			case p.Missing != "":
				lost = append(lost, names[i]+": "+p.Missing)
			case i == 0:
				in = perS(p.Counters.In(), p)
			default:
				out = perS(p.Counters.Out(), p)
			}
			why = strings.Join(slices.DeleteFunc(append([]string{why}, lost...), func(s string) bool {
				return s == ""
			}), "; ")
		}
		if t == nil {
			right := document.Right
			t = &document.Table{Columns: []document.Column{{Head: "frame, loss"}, {Head: "sent/s", Align: right},
				{Head: names[0] + " in", Align: right}, {Head: names[1] + " out", Align: right},
				{Head: "arrived/s", Align: right}, {Head: "the device lost", Wrap: true}}}
		}
		t.Add(what, unit.FormatCount(int64(d.SentPerS+0.5)), in, out, unit.FormatCount(int64(d.ArrivedPerS+0.5)),
			cmp.Or(why, "–"))
	}
	for _, s := range sizes {
		for _, g := range s.Goals {
			what := fmt.Sprintf("%s, %s", s.Frame, lossGoal(g.Loss))
			add(what, g.Device)
			add(what, g.DeviceLosing)
		}
	}
	return t
}

// forwardBursts returns a row for each size whose bursts were measured.
func forwardBursts(sizes []record.ForwardSize) *document.Table {
	right := document.Right
	t := &document.Table{Columns: []document.Column{{Head: "frame"}, {Head: "longest burst", Shorter: []string{"burst"},
		Align: right}, {Head: "range", Align: right}, {Head: "sent at", Align: right}, {Head: "buffer", Wrap: true}}}
	for _, s := range sizes {
		b := s.Bursts
		if b == nil {
			continue
		}
		rate := unit.FormatCount(int64(b.PerS+0.5)) + "/s"
		if len(b.Frames) == 0 {
			t.Add(s.Frame, "", "", rate, "not searched: "+b.Why)
			continue
		}
		least, most := slices.Min(b.Frames), slices.Max(b.Frames)
		buffer := fmt.Sprintf("%s frames, %s, filled in %s", unit.FormatCount(int64(b.BufferFrames+0.5)),
			unit.FormatBytes(b.BufferFrames*s.Bytes), number.Microseconds(b.BufferS*1e6))
		if least == b.MostFrames {
			buffer = "no burst of 2 s overran it"
		}
		t.Add(s.Frame, unit.FormatCount(int64(b.MeanFrames+0.5)), unit.FormatCount(least)+"–"+unit.FormatCount(most),
			rate, buffer)
	}
	return t
}

func forwardAnswer(s record.ForwardSize) string {
	g := s.Goals[0]
	if g.RateBps == 0 {
		return fmt.Sprintf("Frames of %s bytes: no rate was found with a loss of %s: %s.", s.Frame,
			lossGoal(g.Loss), g.Why)
	}
	share := ""
	if g.LineShare > 0 {
		share = ", " + unit.FormatPercent(g.LineShare) + " of line rate"
	}
	return fmt.Sprintf("%s frames of %s bytes a second are forwarded with a loss of %s%s.",
		unit.FormatCount(int64(g.PacketsPerS+0.5)), s.Frame, lossGoal(g.Loss), share)
}

func lossGoal(share float64) string {
	if share == 0 {
		return "0 %"
	}
	return "≤ " + unit.FormatPercent(share)
}

// forwardWhy returns why a rate is not higher.
func forwardWhy(g record.ForwardGoal, s record.ForwardSize) string {
	switch g.BoundedBy {
	case record.BoundedBySender:
		return "generator"
	case record.BoundedByCap:
		return "--most"
	case record.BoundedByLimit:
		return "line rate"
	case record.BoundedByStalls:
		return "generator, which fell behind at times"
	}
	for _, t := range g.Trials {
		if t.LostShare > g.Loss && t.OfferedBps <= g.LostAtBps*(1+1e-9) && t.OfferedBps >= g.LostAtBps*(1-1e-9) {
			return fmt.Sprintf("loss at %s/s: %s", unit.FormatCount(int64(g.LostAtBps/8/s.Bytes+0.5)),
				unit.FormatPercent(t.LostShare))
		}
	}
	return fmt.Sprintf("loss at %s/s", unit.FormatCount(int64(g.LostAtBps/8/s.Bytes+0.5)))
}
