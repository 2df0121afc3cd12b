package present

import (
	"fmt"
	"strings"

	"linerate/internal/model/record"

	"linerate/internal/science/hostload"
)

// strained is a machine in one trial.
type strained struct {
	trial *record.Trial
	hostload.Machine
}

// machines lists what each trial did to each machine, in the trials' order.
func machines(v *view) (list []strained) {
	for i := range v.run.Trials {
		t := &v.run.Trials[i]
		for _, m := range hostload.Of(*t, t.Over(&v.run.Topology)) {
			if len(m.CPUs) > 0 {
				list = append(list, strained{t, m})
			}
		}
	}
	return list
}

// kinds spells what a CPU was busy with, what there is of it.
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

// machineStatements name, for each machine, the trial in which a CPU had the most
// to do, and what went wrong in any.
func machineStatements(v *view) (list []Block) {
	var order []string
	worst := map[string]strained{}
	missed, dropped, squeezed, waited := map[string]float64{}, map[string]float64{}, map[string]float64{}, map[string]float64{}
	for _, m := range machines(v) {
		c, _ := m.Busiest()
		have, known := worst[m.Name]
		if was, _ := have.Busiest(); !known || c.Busy > was.Busy {
			worst[m.Name] = m
		}
		if !known {
			order = append(order, m.Name)
		}
		missed[m.Name] += m.RxMissed
		dropped[m.Name] += m.SoftDropped
		squeezed[m.Name] += m.Squeezed
		waited[m.Name] = max(waited[m.Name], m.SomeWaited)
	}
	for i, name := range order {
		m := worst[name]
		c, _ := m.Busiest()
		s := Statement{Text: fmt.Sprintf("CPU %d at %s in trial %d (%s): %s; all %d at %s", c.CPU, wholePercent(c.Busy), m.trial.Order, m.trial.Treatment, kinds(c), len(m.CPUs), wholePercent(m.Busy))}
		if i == 0 {
			s.Label = "Machine"
		}
		if name != hostload.This {
			s.Text = name + ": " + s.Text
		}
		if missed[name] > 0 {
			s.Text += fmt.Sprintf("; %.0f packets missed at full receive rings, over all trials", missed[name])
		}
		if dropped[name] > 0 {
			s.Text += fmt.Sprintf("; %.0f packets dropped at full backlogs, over all trials", dropped[name])
		}
		if squeezed[name] > 0 {
			s.Text += fmt.Sprintf("; softirq budgets ran out %.0f times", squeezed[name])
		}
		if waited[name] >= 0.01 {
			s.Text += fmt.Sprintf("; up to %s of the time waiting for memory", wholePercent(waited[name]))
		}
		list = append(list, s)
	}
	return list
}

// machineTable has a row for each machine of each trial; nil: nothing is known.
func machineTable(v *view) *Table {
	t := &Table{Name: "cpus", Data: exported(v.run, "cpus"), Columns: []Column{{Head: "trial", Align: Right}, {Head: "treatment", Wrap: true}, {Head: "machine"},
		{Head: "busiest"}, {Head: "with", Wrap: true}, {Head: "all CPUs", Align: Right}, {Head: "NET_RX/s on it", Align: Right}, {Head: "interrupts/s on it", Align: Right},
		{Head: "missed", Align: Right}, {Head: "dropped", Align: Right}, {Head: "budget out", Align: Right}, {Head: "memory", Align: Right}, {Head: "resent", Align: Right}},
		Notes: []string{"The busiest CPU and what it was busy with; packets that found a receive ring (missed) or a CPU's backlog (dropped) full, times that a softirq's budget ran out, the share of the window in which some program waited for memory, and segments that TCP sent again. The data has every CPU."}}
	for _, m := range machines(v) {
		c, _ := m.Busiest()
		row := Row{Cells: Cells(fmt.Sprint(m.trial.Order), m.trial.Treatment, m.Name, fmt.Sprintf("CPU %d: %s", c.CPU, wholePercent(c.Busy)), kinds(c), wholePercent(m.Busy),
			fmt.Sprintf("%.0f", c.NetRxPerS), fmt.Sprintf("%.0f", c.InterruptsPerS), fmt.Sprintf("%.0f", m.RxMissed), fmt.Sprintf("%.0f", m.SoftDropped), fmt.Sprintf("%.0f", m.Squeezed),
			wholePercent(m.SomeWaited), fmt.Sprint(m.Resent))}
		if c.Busy >= 0.95 || m.RxMissed+m.SoftDropped > 0 {
			row.Tone = Wrong
		}
		t.Rows = append(t.Rows, row)
	}
	if len(t.Rows) == 0 {
		return nil
	}
	return t
}
