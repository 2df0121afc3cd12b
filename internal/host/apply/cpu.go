package apply

import (
	"errors"

	"linerate/internal/bus"
	"linerate/internal/model/message"
	"linerate/internal/model/setting"
)

// governor is the frequency governor of a policy, which one CPU or several have.
type governor struct {
	baseTarget
	policy, wanted string
}

func newCPU(base baseTarget, c setting.CPU) (list []target, err error) {
	if why := c.Check(); why != "" {
		return nil, errors.New("cpu: " + why)
	}
	for _, policy := range base.host.cpufreq.Policies() {
		if err := base.host.cpufreq.Available(policy, c.Governor); err != nil {
			return nil, err
		}
		list = append(list, &governor{base, policy, c.Governor})
	}
	if len(list) == 0 {
		return nil, bus.Coded(message.NotFound, errors.New("cpu governor: this kernel scales no CPU frequencies"))
	}
	return list, nil
}

func (t *governor) what() string { return t.policy + " governor" }

func (t *governor) scope() (string, string, error) { return Machine, "CPUs are", nil }

func (t *governor) read() (State, error) {
	text, err := t.host.cpufreq.Governor(t.policy)
	return State{Text: text}, err
}

func (t *governor) plan(State) (State, error) { return State{Text: t.wanted}, nil }
func (t *governor) change(next State) error   { return t.host.cpufreq.SetGovernor(t.policy, next.Text) }
func (t *governor) restore(prior, _ State) error {
	return t.host.cpufreq.SetGovernor(t.policy, prior.Text)
}
