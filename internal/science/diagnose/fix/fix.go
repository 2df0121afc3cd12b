// Package fix makes settings and steps that several families of rules propose.
package fix

import (
	"linerate/internal/model/record"
	"linerate/internal/model/setting"

	"linerate/internal/science/diagnose/facts"
)

// MTU returns the setting of an interface's MTU, in bytes.
func MTU(h *facts.Host, iface string, mtu int) setting.Setting {
	return setting.Setting{Host: h.Name, Link: &setting.Link{Interface: iface, MTU: mtu}}
}

// Set returns the setting of kernel parameters of a host, given as keys and values by turns.
func Set(h *facts.Host, pairs ...string) []setting.Setting { return Parameters(h.Name, pairs...) }

// Parameters returns the setting of a host's kernel parameters, given as keys and values by turns.
func Parameters(host string, pairs ...string) []setting.Setting {
	s := setting.Setting{Host: host}
	for i := 0; i < len(pairs); i += 2 {
		s.Sysctl = append(s.Sysctl, setting.Sysctl{Key: pairs[i], Value: pairs[i+1]})
	}
	return []setting.Setting{s}
}

// Parameter returns the steps that set kernel parameters of a host, given as keys and values by
// turns.
func Parameter(h *facts.Host, pairs ...string) []record.Step {
	return record.Settings(Parameters(h.Name, pairs...)...)
}

// Without returns one step with all kernel parameters or the first route of settings, which a
// person may take instead of the steps before it.
func Without(settings []setting.Setting) record.Step {
	one := settings[0]
	for _, s := range settings[1:] {
		one.Sysctl = append(one.Sysctl, s.Sysctl...)
	}
	return record.Step{Host: one.Host, Setting: &one, Instead: true}
}
