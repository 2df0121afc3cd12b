// Package fix has the settings and steps that several families of rules propose.
package fix

import (
	"linerate/internal/model/record"
	"linerate/internal/model/setting"

	"linerate/internal/science/diagnose/facts"
)

// MTU is a setting of an interface's MTU.
func MTU(h *facts.Host, iface string, mtu int) setting.Setting {
	return setting.Setting{Host: h.Name, Link: &setting.Link{Interface: iface, MTU: mtu}}
}

// Set is a setting of kernel parameters, each a key and its value.
func Set(h *facts.Host, pairs ...string) []setting.Setting { return Parameters(h.Name, pairs...) }

// Parameters are settings of a host's kernel parameters, each a key and its value.
func Parameters(host string, pairs ...string) []setting.Setting {
	s := setting.Setting{Host: host}
	for i := 0; i < len(pairs); i += 2 {
		s.Sysctl = append(s.Sysctl, setting.Sysctl{Key: pairs[i], Value: pairs[i+1]})
	}
	return []setting.Setting{s}
}

// Parameter are the steps that set kernel parameters of a host, each a key and its value.
func Parameter(h *facts.Host, pairs ...string) []record.Step {
	return record.Settings(Parameters(h.Name, pairs...)...)
}

// Without is the step of parameters that a person can set in place of the steps before it.
func Without(settings []setting.Setting) record.Step {
	one := settings[0]
	for _, s := range settings[1:] {
		one.Sysctl = append(one.Sysctl, s.Sysctl...)
	}
	return record.Step{Host: one.Host, Setting: &one, Instead: true}
}
