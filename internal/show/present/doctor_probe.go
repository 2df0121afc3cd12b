package present

import (
	"cmp"
	"fmt"

	"linerate/internal/model/record"
	"linerate/internal/show/document"
	"linerate/internal/show/words"
)

// probed is what a probe found out about a peer, and what was sent for it.
func probed(p record.Probe) document.Statement {
	text := p.Peer
	if p.Address != p.Peer {
		text += " (" + p.Address + ")"
	}
	if p.Interface != "" {
		text += fmt.Sprintf(" by %s, MTU %d", p.Interface, p.InterfaceMTU)
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
			add("echo: none of %d requests was answered", e.Sent)
		} else {
			add("echo: %d of %d requests were answered; round trip %.3g to %.3g ms, median %.3g ms", e.Received, e.Sent, e.MinMs, e.MaxMs, e.MedianMs)
		}
	}
	if m := p.PathMTU; m != nil {
		add("largest packet that passes unfragmented: %d bytes", m.MTU)
	}
	for _, c := range p.Connects {
		add("port %d: %s within %.3g ms", c.Port, c.Outcome, c.Ms)
	}
	for _, r := range p.Resolvers {
		add("name server %s: %s within %.3g ms", r.Server, cmp.Or(r.Error, "answered"), r.Ms)
	}
	if p.Reverse != nil {
		add("name of %s: %s", p.Address, cmp.Or(p.Reverse.Name, "it has none"))
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
