package report

import (
	"fmt"
	"io"
	"slices"
	"strings"

	"linerate/internal/model/record"
	"linerate/internal/science/limits"
)

// listedFlows is how many flows are told one by one.
const listedFlows = 16

// Volume spells bytes for people, in powers of ten as links count.
func Volume(bytes int64) string {
	for _, u := range []struct {
		size float64
		name string
	}{{1e12, "TB"}, {1e9, "GB"}, {1e6, "MB"}, {1e3, "kB"}} {
		if float64(bytes) >= u.size {
			return significant(float64(bytes)/u.size, 3) + " " + u.name
		}
	}
	return fmt.Sprintf("%d bytes", bytes)
}

// Measure writes the result of a measurement as text.
func Measure(w io.Writer, m *record.Measure, o TextOptions) error {
	if o.Width == 0 {
		o.Width = 100
	}
	t := &terminal{width: max(o.Width, 60), color: o.Color}
	t.paragraph(bold, "", "", measureTitle(m))
	t.blank()
	var rows [][]string
	for _, d := range m.Directions {
		row := []string{d.Direction, limits.Rate(d.GoodputBps), "limit " + d.LimitWhy}
		if d.LimitBps > 0 {
			row[2] = fmt.Sprintf("%.4g %% of the limit, %s (%s)", 100*d.GoodputBps/d.LimitBps, limits.Rate(d.LimitBps), d.LimitWhy)
		}
		if slowest, fastest := slowestAndFastest(d); len(d.Intervals) > 1 {
			row[2] += fmt.Sprintf("; %s to %s by interval", limits.Rate(slowest), limits.Rate(fastest))
		}
		rows = append(rows, row)
	}
	t.columns(rows)
	t.blank()
	t.measuredFlows(m)
	t.blank()
	t.labelled("CPU", measureCPU(m))
	for _, e := range m.Ends {
		if e.Others != nil {
			t.labelled("", fmt.Sprintf("the %s moved %s for other clients meanwhile, which its share includes (%s)",
				e.Host, Volume(e.Others.ReceivedBytes+e.Others.WrittenBytes), counted(e.Others.Clients, "other client")))
		}
	}
	t.measureTrust(m)
	if m.Expect != nil {
		word, color := "met", green
		if !m.Expect.Met {
			word, color = "not met", red
		}
		t.paragraph(color, "  "+pad("Expected", 10), strings.Repeat(" ", 12), m.Expect.Gate+": "+word)
	}
	_, err := io.WriteString(w, t.out.String())
	return err
}

func measureTitle(m *record.Measure) string {
	n := 0
	for _, d := range m.Directions {
		n += d.Flows
	}
	text := fmt.Sprintf("measure %s · %s, %s · %.4g s after %.4g s", m.Address, strings.ToUpper(m.Protocol), counted(n, "flow"), m.DurationS, m.WarmupS)
	var controls []string
	for _, f := range m.Flows {
		if f.CongestionControl != "" && !slices.Contains(controls, f.CongestionControl) {
			controls = append(controls, f.CongestionControl)
		}
	}
	if len(controls) > 0 {
		text += " · " + strings.Join(controls, ", ")
	}
	return text
}

func counted(n int, what string) string {
	if n == 1 {
		return "1 " + what
	}
	return fmt.Sprintf("%d %ss", n, what)
}

func slowestAndFastest(d record.MeasureDirection) (slowest, fastest float64) {
	for i, interval := range d.Intervals {
		if i == 0 || interval.GoodputBps < slowest {
			slowest = interval.GoodputBps
		}
		fastest = max(fastest, interval.GoodputBps)
	}
	return slowest, fastest
}

// columns writes rows aligned, all columns but the last as wide as they need.
func (t *terminal) columns(rows [][]string) {
	var widths []int
	for _, row := range rows {
		for i, text := range row {
			if i == len(widths) {
				widths = append(widths, 0)
			}
			widths[i] = max(widths[i], cells(text))
		}
	}
	for _, row := range rows {
		head := "  "
		for i, text := range row[:len(row)-1] {
			head += pad(text, widths[i]) + "   "
		}
		t.paragraph("", head, strings.Repeat(" ", cells(head)), row[len(row)-1])
	}
}

// measuredFlows lists the flows, or, when they are many, the slowest ones.
func (t *terminal) measuredFlows(m *record.Measure) {
	flows := slices.Clone(m.Flows)
	if len(flows) > listedFlows {
		slices.SortStableFunc(flows, func(a, b record.Flow) int {
			switch {
			case a.GoodputBps < b.GoodputBps:
				return -1
			case a.GoodputBps > b.GoodputBps:
				return 1
			}
			return 0
		})
		fastest := flows[len(flows)-1]
		t.line("", fmt.Sprintf("  The %d slowest of %d flows; the fastest, %s, had %s", listedFlows, len(flows), fastest.ID, limits.Rate(fastest.GoodputBps)))
		flows = flows[:listedFlows]
	}
	rows := [][]string{{"flow", "from", "to", "goodput", "resent", "RTT", "held back by"}}
	widest := 0
	for _, f := range flows {
		rtt := "?"
		if f.SenderInfo != nil {
			rtt = significant(float64(f.SenderInfo.RTTUs)/1e3, 2) + " ms"
		}
		by := f.LimitedBy
		switch {
		case f.Error != "":
			by = f.Error
		case by == "":
			by = "not attributed"
		}
		widest = max(widest, len(f.Source)+len(f.Destination))
		rows = append(rows, []string{f.ID, f.Source, f.Destination, limits.Rate(f.GoodputBps), Volume(f.RetransBytes), rtt, by})
	}
	if widest+60 > t.width { // the other columns, and gaps
		for i, row := range rows {
			rows[i] = slices.Delete(row, 1, 3)
		}
	}
	t.columns(rows)
}

func measureCPU(m *record.Measure) string {
	var words []string
	for _, e := range m.Ends {
		words = append(words, fmt.Sprintf("%s %s s (all of its %s %s %% busy)", e.Host, significant(e.CPUSPerGigabyte, 2), counted(e.CPUs, "CPU"), significant(100*e.CPUBusy, 2)))
	}
	return fmt.Sprintf("%s s per gigabyte, both ends together: %s", significant(m.CPUSPerGigabyte, 2), strings.Join(words, ", "))
}

// measureTrust tells every check that failed, and of the others only how many.
func (t *terminal) measureTrust(m *record.Measure) {
	var passed []string
	for _, c := range m.Trust {
		if c.Pass {
			passed = append(passed, c.Check)
			continue
		}
		t.paragraph(red, "  "+pad("Doubt", 10), strings.Repeat(" ", 12), c.Check+": "+c.Detail)
	}
	t.labelled("Trust", fmt.Sprintf("%d of %d checks passed: %s", len(passed), len(m.Trust), strings.Join(passed, ", ")))
}
