package report

import (
	"fmt"
	"io"
	"slices"
	"strings"

	"linerate/internal/model/record"
)

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
		o.Width = 80
	}
	t := &terminal{width: max(o.Width, 60), color: o.Color}
	t.paragraph(bold, "", "", measureTitle(m))
	t.blank()
	for i, one := range m.EachMode() {
		if i > 0 {
			t.blank()
		}
		if len(m.Modes) > 0 {
			t.line(bold, "  mode "+one.Mode)
		}
		t.measured(one)
	}
	if m.Expect != nil {
		word, color := "met", green
		if !m.Expect.Met {
			word, color = "not met", red
		}
		text := m.Expect.Gate + ": " + word
		if !m.Expect.Met && len(m.Expect.Conditions) > 1 {
			var missed []string
			for _, c := range m.Expect.Conditions {
				if !c.Met {
					missed = append(missed, c.Condition+", got "+c.Got)
				}
			}
			text += " (" + strings.Join(missed, "; ") + ")"
		}
		t.paragraph(color, "  "+pad("Expected", 10), strings.Repeat(" ", 12), text)
	}
	_, err := io.WriteString(w, t.out.String())
	return err
}

// measured is one trial's figures and what stands under them.
func (t *terminal) measured(m *record.Measure) {
	if m.Peer != "" {
		t.measuredWithPeer(m)
		return
	}
	var rows [][]string
	if m.LossFree != nil {
		rows = lossFreeRows(m.LossFree)
	}
	for _, d := range m.Directions {
		rows = append(rows, measuredRows(m, d)...)
	}
	t.columns(rows)
	t.blank()
	t.measuredLatency(m)
	t.measuredAddresses(m)
	t.measuredFlows(m)
	t.blank()
	t.movedBy(m)
	t.labelled("CPU", measureCPU(m))
	for _, e := range m.Ends {
		if e.Others != nil {
			t.labelled("", fmt.Sprintf("the %s moved %s for other clients meanwhile, which its share includes (%s)",
				e.Host, Volume(e.Others.ReceivedBytes+e.Others.WrittenBytes), counted(e.Others.Clients, "other client")))
		}
	}
	t.measureTrust(m)
	t.measuredFindings(m)
}

func measureTitle(m *record.Measure) string {
	n := 0
	for _, d := range m.Directions {
		n += d.Flows
	}
	at, with := m.Address, ""
	if others := serverAddresses(m) - 1; others > 0 {
		at += fmt.Sprintf(" and %d more", others)
	}
	if m.Peer != "" {
		with = " · " + m.Peer
	}
	text := fmt.Sprintf("measure %s%s · %s, %s · %.4g s after %.4g s", at, with, strings.ToUpper(m.Protocol), counted(n, "flow"), m.DurationS, m.WarmupS)
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

// serverAddresses is how many of the server's flows went to.
func serverAddresses(m *record.Measure) (n int) {
	for _, a := range m.Addresses {
		if a.Host == record.NodeServer {
			n++
		}
	}
	return n
}

func counted(n int, what string) string {
	if n == 1 {
		return "1 " + what
	}
	return fmt.Sprintf("%d %ss", n, what)
}

func measureCPU(m *record.Measure) string {
	var words []string
	for _, e := range m.Ends {
		cost := significant(e.CPUSPerGigabyte, 2) + " s"
		if m.Transactions != nil {
			cost = significant(e.CPUUsPerTransaction, 2) + " µs"
		}
		words = append(words, fmt.Sprintf("%s %s (all of its %s %s %% busy)", e.Host, cost, counted(e.CPUs, "CPU"), significant(100*e.CPUBusy, 2)))
	}
	of, cost := "s per gigabyte", m.CPUSPerGigabyte
	if m.Transactions != nil {
		of, cost = "µs per transaction", m.CPUUsPerTransaction
	}
	return fmt.Sprintf("%s %s, both ends together: %s", significant(cost, 2), of, strings.Join(words, ", "))
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
