package export

import (
	"maps"
	"slices"

	"linerate/internal/model/netstate"
	"linerate/internal/model/record"
)

// loadRows adds rows for the activity of a machine between two samples: the kinds of work of each
// CPU as shares of the time, its interrupts, and the count of each interrupt of a NIC.
func loadRows(run *record.Run, add func(...any)) {
	eachTrial(run, add, func(t *record.Trial, add func(...any)) {
		for _, h := range t.Hosts {
			var last netstate.Sample
			for _, s := range h.Series {
				if len(s.CPU) == 0 {
					continue
				}
				if span := float64(s.EndedNs-last.EndedNs) / 1e9; len(last.CPU) > 0 && span > 0 {
					loads := func(values ...any) {
						add(append([]any{h.Host, float64((s.EndedNs+last.EndedNs)/2-h.Begin.ScheduledNs) / 1e9},
							values...)...)
					}
					loadOfCPUs(last, s, span, loads)
					for _, irq := range slices.Sorted(maps.Keys(s.IRQs)) {
						if before, is := last.IRQs[irq]; is {
							loads(nil, irq, nil, nil, nil, nil, nil, float64(since(before, s.IRQs[irq]))/span, nil, nil)
						}
					}
				}
				last = s
			}
		}
	})
}

func loadOfCPUs(last, now netstate.Sample, span float64, add func(...any)) {
	events := func(s netstate.Sample, cpu int) (e netstate.CPUEvents, is bool) {
		i := slices.IndexFunc(s.Events, func(e netstate.CPUEvents) bool { return e.CPU == cpu })
		if i < 0 {
			return e, false
		}
		return s.Events[i], true
	}
	for _, c := range now.CPU {
		i := slices.IndexFunc(last.CPU, func(b netstate.CPUTimes) bool { return b.CPU == c.CPU })
		if i < 0 {
			continue
		}
		b := last.CPU[i]
		parts := []float64{c.User - b.User, c.System - b.System, c.SoftIRQ - b.SoftIRQ, c.IRQ - b.IRQ,
			c.Steal - b.Steal}
		all := c.Idle - b.Idle
		for _, part := range parts {
			all += part
		}
		row := []any{c.CPU, nil}
		for _, part := range parts {
			if all <= 0 { // less than a tick
				row = append(row, nil)
				continue
			}
			row = append(row, max(0, part)/all)
		}
		before, had := events(last, c.CPU)
		after, has := events(now, c.CPU)
		if !had || !has {
			add(append(row, nil, nil, nil)...)
			continue
		}
		add(append(row, float64(since(before.Interrupts, after.Interrupts))/span,
			float64(since(before.Softirqs["NET_RX"], after.Softirqs["NET_RX"]))/span,
			float64(since(before.Softirqs["NET_TX"], after.Softirqs["NET_TX"]))/span)...)
	}
}

func logRows(run *record.Run, add func(...any)) {
	eachTrial(run, add, func(t *record.Trial, add func(...any)) {
		for _, h := range t.Hosts {
			if h.Log == nil {
				continue
			}
			for _, line := range h.Log.Lines {
				add(h.Host, float64(line.AtNs-h.Begin.ScheduledNs)/1e9, line.Level, line.Text)
			}
		}
	})
}
