package evidence

import (
	"fmt"
	"strings"

	"linerate/internal/model/record"
	"linerate/internal/science/hostload"
	"linerate/internal/show/document"
	"linerate/internal/show/export"
	"linerate/internal/show/view"
)

// strained is the load of a machine in one trial.
type strained struct {
	trial *record.Trial
	hostload.Machine
}

// machines lists the load of each machine in each trial, in the order of the trials.
func machines(v *view.View) (list []strained) {
	for i := range v.Run.Trials {
		t := &v.Run.Trials[i]
		for _, m := range hostload.Of(*t, t.Over(&v.Run.Topology)) {
			if len(m.CPUs) > 0 {
				list = append(list, strained{t, m})
			}
		}
	}
	return list
}

// kinds lists the kinds of work of a CPU, without those that are negligible.
func kinds(c hostload.CPU) string {
	var parts []string
	for _, k := range []struct {
		name string
		part float64
	}{{"user", c.User}, {"system", c.System}, {"interrupts", c.IRQ}, {"softirqs", c.SoftIRQ}, {"stolen", c.Steal}} {
		if k.part >= 0.005 {
			parts = append(parts, k.name+" "+wholePercent(k.part))
		}
	}
	return strings.Join(parts, ", ")
}

func wholePercent(share float64) string { return fmt.Sprintf("%.0f %%", 100*share) }

// BusiestMachines names, for each machine, the trial in which a CPU was busiest, and losses in any
// trial.
func BusiestMachines(v *view.View) (list []string) {
	type sums struct {
		worst                             strained
		missed, dropped, squeezed, waited float64
	}
	var order []string
	of := map[string]*sums{}
	for _, m := range machines(v) {
		c, _ := m.Busiest()
		s := of[m.Name]
		if s == nil {
			s = &sums{worst: m}
			order, of[m.Name] = append(order, m.Name), s
		}
		if was, _ := s.worst.Busiest(); c.Busy > was.Busy {
			s.worst = m
		}
		s.missed += m.RxMissed
		s.dropped += m.SoftDropped
		s.squeezed += m.Squeezed
		s.waited = max(s.waited, m.SomeWaited)
	}
	for _, name := range order {
		s := of[name]
		m := s.worst
		c, _ := m.Busiest()
		text := fmt.Sprintf("CPU %d at %s in trial %d (%s): %s; all %d at %s", c.CPU, wholePercent(c.Busy),
			m.trial.Order, m.trial.Treatment, kinds(c), len(m.CPUs), wholePercent(m.Busy))
		if name != hostload.This {
			text = name + ": " + text
		}
		for _, say := range []struct {
			n     float64
			words string
		}{
			{s.missed, "%.0f packets dropped at full receive rings, over all trials"},
			{s.dropped, "%.0f packets dropped at full backlogs, over all trials"},
			{s.squeezed, "softirq budgets ran out %.0f times"},
		} {
			if say.n > 0 {
				text += "; " + fmt.Sprintf(say.words, say.n)
			}
		}
		if s.waited >= 0.01 {
			text += fmt.Sprintf("; up to %s of the time waiting for memory", wholePercent(s.waited))
		}
		list = append(list, text)
	}
	return list
}

// Machines returns a table with a row for each machine in each trial. Nil: nothing is known.
func Machines(v *view.View) *document.Table {
	t := &document.Table{Name: "cpus", Data: export.Rows(v.Run, "cpus"),
		Columns: []document.Column{{Head: "trial", Align: document.Right}, {Head: "treatment", Wrap: true},
			{Head: "machine"},
			{Head: "busiest"}, {Head: "with", Wrap: true}, {Head: "all CPUs", Align: document.Right},
			{Head: "NET_RX/s on it", Align: document.Right}, {Head: "interrupts/s on it", Align: document.Right},
			{Head: "missed", Align: document.Right}, {Head: "dropped", Align: document.Right},
			{Head: "budget out", Align: document.Right}, {Head: "memory", Align: document.Right},
			{Head: "retransmitted", Align: document.Right}},
		Notes: []string{
			"The busiest CPU and what it was busy with; packets dropped because a receive ring (missed) or a CPU's " +
				"backlog (dropped) was full, how often a softirq's budget ran out, the share of the window in " +
				"which some program waited for memory, and segments that TCP retransmitted. The data has every CPU."}}
	for _, m := range machines(v) {
		c, _ := m.Busiest()
		row := document.Row{Cells: document.Cells(fmt.Sprint(m.trial.Order), m.trial.Treatment, m.Name,
			fmt.Sprintf("CPU %d: %s", c.CPU, wholePercent(c.Busy)), kinds(c), wholePercent(m.Busy),
			fmt.Sprintf("%.0f", c.NetRxPerS), fmt.Sprintf("%.0f", c.InterruptsPerS), fmt.Sprintf("%.0f", m.RxMissed),
			fmt.Sprintf("%.0f", m.SoftDropped), fmt.Sprintf("%.0f", m.Squeezed),
			wholePercent(m.SomeWaited), fmt.Sprint(m.Resent))}
		if c.Busy >= 0.95 || m.RxMissed+m.SoftDropped > 0 {
			row.Tone = document.Wrong
		}
		t.Rows = append(t.Rows, row)
	}
	return t.OrNil()
}
