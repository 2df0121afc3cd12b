package apply

import (
	"fmt"
	"strings"

	"linerate/internal/model/setting"
)

// nic is one option of an interface: a feature, a number of a ring, a file of a queue.
type nic struct {
	baseTarget
	iface  string
	option setting.NICOption
}

// newNIC returns one target for each object that the options stand for. An option that the
// interface does not have is refused here, before anything is changed.
func newNIC(base baseTarget, n setting.NIC) ([]target, error) {
	if place, why := n.Check(); why != "" {
		return nil, fmt.Errorf("nic %s %s: %s", n.Interface, place, why)
	}
	var list []target
	for _, o := range n.Options() {
		resolved, err := base.host.nics.Resolve(n.Interface, o)
		if err != nil {
			return nil, err
		}
		for _, one := range resolved {
			part := n.With(one)
			base.s.NIC = &part
			list = append(list, &nic{base, n.Interface, one})
		}
	}
	return list, nil
}

func (t *nic) what() string { return t.iface + " " + t.option.Group + " " + t.option.Key }

func (t *nic) scope() (string, string, error) {
	if t.option.Group == "irqs" {
		return Machine, "interrupts are", nil
	}
	return Namespace, "", nil
}

func (t *nic) read() (State, error) {
	text, err := t.host.nics.Option(t.iface, t.option.Group, t.option.Key)
	return State{Text: text}, err
}

func (t *nic) plan(State) (State, error)    { return State{Text: t.option.Value}, nil }
func (t *nic) change(next State) error      { return t.set(next.Text) }
func (t *nic) restore(prior, _ State) error { return t.set(prior.Text) }

func (t *nic) set(value string) error {
	o := t.option
	o.Value = value
	return t.host.nics.SetOption(t.iface, o)
}

// sideEffects: with other channels a driver makes its table of RSS anew and the kernel the
// files of queues that come and go; without ntuple a driver deletes its rules.
func (t *nic) sideEffects(_, _ State, reverting bool) sideEffects {
	return sideEffects{iface: t.iface, queues: !reverting && (t.option.Group == "channels" ||
		t.option.Key == "rx-ntuple-filter")}
}

// queueOptions lists the options of interfaces that a change of their channels or of ntuple can reset.
func (h host) queueOptions(d sideEffects) (list []kernelObject, err error) {
	links, err := h.conn.Links()
	for _, l := range links {
		if d.iface != "" && l.Name != d.iface {
			continue
		}
		options := []setting.NICOption{{Group: "rss", Option: setting.Option{Key: "table"}}}
		for _, file := range []string{"rps_cpus", "rps_flow_cnt", "xps_cpus"} {
			// An interface without such files has nothing to lose.
			files, _ := h.nics.Resolve(l.Name, setting.NICOption{Group: "queues",
				Option: setting.Option{Key: file, Value: "0"}})
			options = append(options, files...)
		}
		for _, r := range h.nics.Steering(l.Name) {
			options = append(options, setting.NICOption{Group: "steering", Option: r})
		}
		for _, o := range options {
			if value, err := h.nics.Option(l.Name, o.Group, o.Key); err == nil {
				list = append(list, kernelObject{Text: strings.Join([]string{l.Name, o.Group, o.Key, value}, " "),
					Interface: l.Name, Option: &nicOption{o.Group, o.Key, value}})
			}
		}
	}
	return list, err
}

func (h host) restoreOption(o kernelObject) error {
	if o.Option == nil {
		return fmt.Errorf("%q is not an option of an interface", o.Text)
	}
	return h.nics.SetOption(o.Interface, setting.NICOption{Group: o.Option.Group, Option: setting.Option{
		Key: o.Option.Key, Value: o.Option.Value}})
}
