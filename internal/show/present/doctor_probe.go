package present

import (
	"cmp"
	"fmt"

	"linerate/internal/model/netstate"
	"linerate/internal/model/unit"
	"linerate/internal/show/document"
	"linerate/internal/show/words"
)

// probed describes what a probe found out about a peer, and what it sent.
func probed(p netstate.Probe) document.Statement {
	text := p.Peer
	if p.Address != p.Peer && p.Address != "" {
		text += " (" + p.Address + ")"
	}
	if p.Interface != "" {
		text += " by " + p.Interface
	}
	if p.InterfaceMTU != 0 {
		text += fmt.Sprintf(", MTU %d", p.InterfaceMTU)
	}
	s := document.Statement{Label: "Probed", Text: text}
	add := func(format string, values ...any) {
		s.Items = append(s.Items, document.Item{Mark: "·", Text: fmt.Sprintf(format, values...)})
	}
	if len(p.ARP) > 0 {
		add("ARP: answered by %s", words.List(p.ARP))
	}
	if e := p.Echo; e != nil {
		if e.Received == 0 {
			add("echo: none of %s was answered", words.Count(e.Sent, "request"))
		} else {
			times := ""
			if e.MaxMs > 0 {
				times = fmt.Sprintf("; round trip %s to %s", unit.FormatMs(e.MinMs), unit.FormatMs(e.MaxMs))
			}
			if e.MedianMs > 0 {
				times += ", median " + unit.FormatMs(e.MedianMs)
			}
			add("echo: %d of %s answered%s", e.Received, words.Count(e.Sent, "request")+
				words.Verb(e.Sent, " was", " were"), times)
		}
	}
	if m := p.PathMTU; m != nil {
		atLeast := ""
		if m.Below > 0 {
			atLeast = fmt.Sprintf(", or more, and fewer than %d", m.Below)
		}
		add("largest packet that passes unfragmented: %d bytes%s", m.MTU, atLeast)
	}
	for _, c := range p.Connects {
		add("port %d: %s within %s", c.Port, c.Outcome, unit.FormatMs(c.Ms))
	}
	for _, r := range p.Resolvers {
		add("name server %s: %s within %s", r.Server, cmp.Or(r.Error, "answered"), unit.FormatMs(r.Ms))
	}
	if p.Reverse != nil {
		add("name of %s: %s", cmp.Or(p.Address, "127.0.0.1"), cmp.Or(p.Reverse.Name, "it has none"))
	}
	for _, line := range p.Missing {
		add("not tried: %s", line)
	}
	for n, line := range p.Sent {
		mark := "     "
		if n == 0 {
			mark = "sent:"
		}
		s.Items = append(s.Items, document.Item{Mark: mark, Text: line, Tone: document.Quiet})
	}
	return s
}
