package evidence

import (
	"cmp"
	"fmt"
	"slices"

	"linerate/internal/model/record"
	"linerate/internal/model/topology"
	"linerate/internal/science/limits"
	"linerate/internal/science/polled"
	"linerate/internal/show/document"
	"linerate/internal/show/export"
	"linerate/internal/show/number"
	"linerate/internal/show/view"
	"linerate/internal/show/words"
)

// gapBytes is what a frame takes on an Ethernet link in addition to its bytes and the frame check
// sequence: preamble and inter-frame gap.
const gapBytes = 20

// SwitchPorts returns a table of what the ports of switches counted in the trial shown for each
// treatment of rows, beside what the hosts at the other ends of the links counted. Nil: no switch
// was read.
func SwitchPorts(v *view.View, rows []*view.Row) *document.Table {
	if !slices.ContainsFunc(v.Run.Trials, func(t record.Trial) bool { return len(t.Switches) > 0 }) {
		return nil
	}
	t := &document.Table{Name: "switches", Data: export.Rows(v.Run, "switches"),
		Caption: "Ports of switches, by SNMP, and what the hosts at their other ends counted",
		Columns: []document.Column{{Head: "port"},
			{Head: "Mbit/s", Align: document.Decimal}, {Head: "packets/s", Align: document.Right},
			{Head: "of line rate", Shorter: []string{"of line"}, Align: document.Decimal},
			{Head: "discards", Align: document.Right}, {Head: "errors", Align: document.Right},
			{Head: "host's Mbit/s", Align: document.Decimal}}}
	for _, r := range rows {
		for c, treatment := range r.Treatments {
			trial := v.Typical(treatment)
			if trial == nil {
				continue
			}
			for _, s := range trial.Switches {
				of := ""
				if len(rows)*len(v.Columns) > 1 {
					of = v.Label(r, c) + ": "
				}
				t.Rows = append(t.Rows, portRows(v, trial, s, of, t)...)
			}
		}
	}
	return t.OrNil()
}

// portRows returns the two directions of each port. Notes of the table say why a port has no
// figures, and whether figures only cover a part of the window.
func portRows(v *view.View, trial *record.Trial, s record.SwitchReading, of string, t *document.Table) (
	rows []document.Row) {
	note := func(format string, args ...any) { t.Notes = words.Distinct(t.Notes, fmt.Sprintf(format, args...)) }
	if s.Missing != "" {
		note("%s has no figures: %s.", s.Switch, s.Missing)
		return nil
	}
	over := trial.Over(&v.Run.Topology)
	sides := polled.Sides(*trial, s, over)
	fcs, known := polled.FCS(sides)
	buckets := false
	for _, p := range s.Ports {
		name := s.Switch + " " + p.Port
		if p.Name != "" && p.Name != p.Port {
			name += " (" + p.Name + ")"
		}
		if p.Missing != "" {
			note("Port %s has no figures: %s.", name, p.Missing)
			continue
		}
		if s.RefreshS > 0 {
			note("The counters of %s change every %s: figures are of %s of the window of %s, known within %s.",
				s.Switch, number.Seconds(s.RefreshS), number.Seconds(p.Seconds()), number.Seconds(trial.WindowS),
				number.Seconds(p.DoubtS))
		}
		rows = append(rows, document.Row{Cells: document.Cells(fmt.Sprintf("%s%s, to %s", of, name, p.Peer)),
			Tone: document.Head})
		for _, receives := range []bool{true, false} {
			line := lineOf(over, s.End(p), receives, p.SpeedBps)
			buckets = buckets || line.bucket
			rows = append(rows, portRow(p, receives, sides, line, fcs))
		}
	}
	rates := "line rates are with them, preambles and gaps"
	if buckets {
		rates = "the links are token buckets, which count neither these nor preambles and gaps"
	}
	switch {
	case len(rows) == 0:
	case !known:
		note("Whether %s counts frame check sequences (4 bytes a frame) is not known; %s.", s.Switch, rates)
	case fcs:
		note("%s counts frame check sequences (4 bytes a frame), and hosts do not; %s.", s.Switch, rates)
	default:
		note("%s does not count frame check sequences (4 bytes a frame); %s.", s.Switch, rates)
	}
	return rows
}

func portRow(p record.SwitchPort, receives bool, sides []polled.Side, of line, fcs bool) document.Row {
	octets, frames, discards, wrong, verb := p.Counters.InOctets, p.Counters.In(), p.Counters.InDiscards,
		p.Counters.InErrors, "received"
	if !receives {
		octets, frames, discards, wrong, verb = p.Counters.OutOctets, p.Counters.Out(), p.Counters.OutDiscards,
			p.Counters.OutErrors, "sent"
	}
	seconds := p.Seconds()
	each := 0.0 // bytes of a frame on the line that the switch does not count
	if !of.bucket {
		each = gapBytes + polled.FCSBytes
	}
	if fcs {
		each -= polled.FCSBytes
	}
	share, host := "", ""
	if of.bps > 0 {
		share = number.Round(100*(float64(octets)+each*float64(frames))*8/seconds/of.bps, 1) + " %"
	}
	if i := slices.IndexFunc(sides, func(side polled.Side) bool {
		return side.Port.Port == p.Port && side.Receives == receives
	}); i >= 0 {
		host = megabits(sides[i].HostBytes, seconds)
	}
	row := document.Row{Cells: document.Cells(verb, megabits(float64(octets), seconds),
		number.Significant(float64(frames)/seconds, 4), share,
		fmt.Sprint(discards), fmt.Sprint(wrong), host)}
	if discards+wrong > 0 {
		row.Tone = document.Wrong
	}
	return row
}

func megabits(bytes, seconds float64) string { return number.Significant(bytes*8/seconds/1e6, 4) }

// line describes a port's link in one direction: its rate in bit/s according to the study or the
// switch (0: unknown), and whether a token bucket limits it.
type line struct {
	bps    float64
	bucket bool
}

func lineOf(over *topology.Topology, port topology.End, receives bool, speed float64) line {
	if over == nil {
		return line{bps: speed}
	}
	l, is := over.LinkAt(port)
	if !is {
		return line{bps: speed}
	}
	if receives {
		port = l.Other(port)
	}
	rate := float64(l.Towards(port).Rate)
	return line{cmp.Or(rate, speed), rate > 0 && (limits.Network{Topology: over}).Shaped(*l)}
}
