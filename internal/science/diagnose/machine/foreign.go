package machine

import (
	"linerate/internal/model/cause"
	"linerate/internal/model/fact"
	"linerate/internal/model/lists"
	"linerate/internal/model/netstate"
	"linerate/internal/model/record"

	"linerate/internal/science/diagnose/facts"
	"linerate/internal/science/diagnose/rule"
)

// ForeignRules are about the memory for packets of the BSDs.
var ForeignRules = []rule.Rule{
	{ID: cause.BuffersShort.Code, Host: true, Own: true, If: rule.OtherSystem, Parts: []string{facts.BufferPools},
		Find: func(f facts.Trial) (findings []record.Finding) {
			return lists.Flat(f.Hosts, buffersShort)
		}, Explains: []string{"network-buffers-denied", "network-buffers-delayed"}},
}

func buffersShort(h *facts.Host) (findings []record.Finding) {
	var refused []any // since boot
	for _, name := range netstate.DeniedCounters {
		if n := h.Reading.End.SNMP[name]; n > 0 {
			refused = append(refused, fact.Counter{Name: name, Printed: h.Names[name], Grew: uint64(n), Boot: true})
		}
	}
	for _, p := range h.State.BufferPools {
		if p.Full() {
			findings = append(findings, *found(cause.BuffersShort, h, record.Likely, cause.Pool{Name: p.Name},
				fact.BufferPool{Name: p.Name, Used: p.Used, Most: p.Most}).With(h.Name, refused...))
		}
	}
	return findings
}
