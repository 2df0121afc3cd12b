package diagnose

import (
	"strings"
	"testing"

	"linerate/internal/model/flow"
	"linerate/internal/model/record"
	"linerate/internal/model/topology"
)

// TestPathMTU: a flow that gets nothing through has the finding if its packets are larger
// than a link behind the first one takes.
func TestPathMTU(t *testing.T) {
	end := func(node, name string) topology.End { return topology.End{Node: node, Interface: name} }
	over := &topology.Topology{
		Hosts: []topology.Host{{Name: "a"}, {Name: "r"}, {Name: "b"}},
		Links: []topology.Link{
			{From: end("a", "eth0"), To: end("r", "eth0")},
			{From: end("r", "eth1"), To: end("b", "eth0"), Impairment: topology.Impairment{MTU: 1400}},
		},
	}
	stuck := func(change func(*record.Flow)) record.Trial {
		f := record.Flow{ID: "f1", Protocol: flow.TCP, From: "a", To: "b", Connected: true,
			Path: []string{"a.eth0", "r.eth0", "r.eth1", "b.eth0"}, SenderInfo: &record.TCPInfo{SndMSS: 1448, PMTU: 1500, Backoff: 4}}
		change(&f)
		return record.Trial{Flows: []record.Flow{f}, Hosts: []record.HostReading{{Host: "a"}, {Host: "b"}}}
	}
	for _, test := range []struct {
		name   string
		change func(*record.Flow)
		want   bool
	}{
		{"a black hole", func(*record.Flow) {}, true},
		{"something arrives", func(f *record.Flow) { f.GoodputBps = 1 }, false},
		{"segments that fit", func(f *record.Flow) { f.SenderInfo.SndMSS = 1348 }, false},
		{"nothing was sent again", func(f *record.Flow) { f.SenderInfo.Backoff = 0 }, false},
		{"another path", func(f *record.Flow) { f.Path = f.Path[:2] }, false},
	} {
		var found []record.Finding
		for _, f := range Diagnose(stuck(test.change), over) {
			if f.ID == "path-mtu" {
				found = append(found, f)
			}
		}
		if len(found) > 0 != test.want {
			t.Errorf("%s: %+v", test.name, found)
		}
		if test.want && !strings.Contains(strings.Join(append(found[0].Evidence, found[0].Fix...), "\n"), "r.eth1 takes packets of 1400") {
			t.Errorf("%s: %+v", test.name, found)
		}
	}
}
