package report

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
func (v *view) machines() (list []strained) {
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
			parts = append(parts, k.name+" "+whole(k.part))
		}
	}
	return strings.Join(parts, ", ")
}

func whole(share float64) string { return fmt.Sprintf("%.0f %%", 100*share) }

// machine writes, for each machine, the trial in which a CPU had the most to do,
// and what went wrong in any.
func (t *terminal) machine(v *view) {
	var order []string
	worst := map[string]strained{}
	missed, dropped, squeezed, waited := map[string]float64{}, map[string]float64{}, map[string]float64{}, map[string]float64{}
	for _, m := range v.machines() {
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
		label := ""
		if i == 0 {
			label = "Machine"
			t.blank()
		}
		text := fmt.Sprintf("CPU %d at %s in trial %d (%s): %s", c.CPU, whole(c.Busy), m.trial.Order, plain(m.trial.Treatment), kinds(c))
		if name != hostload.This {
			text = name + ": " + text
		}
		text += fmt.Sprintf("; all %d at %s", len(m.CPUs), whole(m.Busy))
		if missed[name] > 0 {
			text += fmt.Sprintf("; %.0f packets missed at full receive rings, over all trials", missed[name])
		}
		if dropped[name] > 0 {
			text += fmt.Sprintf("; %.0f packets dropped at full backlogs, over all trials", dropped[name])
		}
		if squeezed[name] > 0 {
			text += fmt.Sprintf("; softirq budgets ran out %.0f times", squeezed[name])
		}
		if waited[name] >= 0.01 {
			text += fmt.Sprintf("; up to %s of the time waiting for memory", whole(waited[name]))
		}
		t.labelled(label, text)
	}
}

// pageMachine is a line of the page's table of machines: one trial of one.
type pageMachine struct {
	Order                                                                                              int
	Treatment, Name, Busiest, Kinds, All, NetRx, Interrupts, Missed, Dropped, Squeezed, Waited, Resent string
	Full                                                                                               bool
}

func (v *view) pageMachines() (out []pageMachine) {
	for _, m := range v.machines() {
		c, _ := m.Busiest()
		shown := pageMachine{
			Order: m.trial.Order, Treatment: m.trial.Treatment, Name: m.Name,
			Busiest: fmt.Sprintf("CPU %d: %s", c.CPU, whole(c.Busy)), Kinds: kinds(c), All: whole(m.Busy),
			NetRx: fmt.Sprintf("%.0f", c.NetRxPerS), Interrupts: fmt.Sprintf("%.0f", c.InterruptsPerS),
			Missed: fmt.Sprintf("%.0f", m.RxMissed), Dropped: fmt.Sprintf("%.0f", m.SoftDropped), Squeezed: fmt.Sprintf("%.0f", m.Squeezed),
			Waited: whole(m.SomeWaited), Resent: fmt.Sprint(m.Resent), Full: c.Busy >= 0.95 || m.RxMissed+m.SoftDropped > 0,
		}
		out = append(out, shown)
	}
	return out
}
