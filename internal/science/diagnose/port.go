package diagnose

import (
	"linerate/internal/model/record"
	"linerate/internal/model/setting"
)

// port is an interface as all parts of a host's snapshot have it.
type port struct {
	h   *host
	nic record.NIC
	i   record.InterfaceSnapshot
}

// hardware: a device has the interface, and no software. What has link modes is one, where the
// device model was not read.
func (p port) hardware() bool {
	return p.i.Kind == "" && (p.nic.NUMA != nil || p.nic.Device != "" || p.nic.Bus != "" || p.nic.BestMbps > 0)
}

func (p port) found(confidence, summary, reference string, evidence []string, fix ...string) *record.Finding {
	return &record.Finding{Host: p.h.name, Confidence: confidence, Summary: summary, Evidence: evidence,
		Fix: on(p.h.name, p.h.alone, fix...), Reference: reference,
		Places: onePlace(p.h.link(p.i.Interface)...)}
}

// fixed adds a fix by options of the interface, behind advice.
func (p port) fixed(f *record.Finding, advice []string, options setting.NIC) *record.Finding {
	options.Interface = p.i.Interface
	f.Fix, f.Settings = p.h.fixedBy(advice, setting.Setting{Host: p.h.name, NIC: &options})
	return f
}

// port is an interface of a host.
func (h *host) port(i record.InterfaceSnapshot) port {
	if h.nics == nil {
		h.nics = map[string]int{}
		for n := len(h.state.NICs) - 1; n >= 0; n-- { // of two with one name the first
			h.nics[h.state.NICs[n].Interface] = n
		}
	}
	p := port{h: h, i: i}
	if n, is := h.nics[i.Interface]; is {
		p.nic = h.state.NICs[n]
	}
	return p
}

// eachInterface is a rule's find for each interface of each host.
func eachInterface(find func(port) *record.Finding) func(observed) []record.Finding {
	return func(f observed) (findings []record.Finding) {
		for _, h := range f.hosts {
			for _, i := range h.reading.Snapshot.Interfaces {
				if finding := find(h.port(i)); finding != nil {
					findings = append(findings, *finding)
				}
			}
		}
		return findings
	}
}

// eachNIC is the same for interfaces that are up and of which the driver's settings were read.
func eachNIC(find func(port) *record.Finding) func(observed) []record.Finding {
	return eachInterface(func(p port) *record.Finding {
		if p.nic.Interface == "" || !p.i.Up {
			return nil
		}
		return find(p)
	})
}
