package diagnose

import (
	"slices"

	"linerate/internal/model/hostconfig"
	"linerate/internal/model/setting"
)

// A finding's fix is text: commands, each with its host where there are several, and
// advice. What is a setting of a known host is data as well.

// instead spells what does without source routing.
func (h *host) instead(settings []setting.Setting) []string {
	lines := h.commands(settings)
	lines[0] = "or, instead of source routing: " + lines[0]
	return lines
}

// commands spells settings of the host, each with its name where there are other hosts.
func (h *host) commands(settings []setting.Setting) []string {
	return on(h.name, h.alone, hostconfig.Commands(settings)...)
}

// fixedBy is a fix by settings: advice, the settings' commands, and the settings.
func (h *host) fixedBy(advice []string, settings ...setting.Setting) ([]string, []setting.Setting) {
	return slices.Concat(on(h.name, h.alone, advice...), h.commands(settings)), settings
}

// mtu is a setting of an interface's MTU.
func (h *host) mtu(iface string, mtu int) setting.Setting {
	return setting.Setting{Host: h.name, Link: &setting.Link{Interface: iface, MTU: mtu}}
}

// on puts a host's name before what is to be done there, unless it is the only one.
func on(host string, alone bool, lines ...string) (list []string) {
	for _, line := range lines {
		if !alone {
			line = "on " + host + ": " + line
		}
		list = append(list, line)
	}
	return list
}

// set is a setting of kernel parameters, each a key and its value.
func (h *host) set(pairs ...string) []setting.Setting { return parameters(h.name, pairs...) }

func parameters(host string, pairs ...string) []setting.Setting {
	s := setting.Setting{Host: host}
	for i := 0; i < len(pairs); i += 2 {
		s.Sysctl = append(s.Sysctl, setting.Sysctl{Key: pairs[i], Value: pairs[i+1]})
	}
	return []setting.Setting{s}
}
