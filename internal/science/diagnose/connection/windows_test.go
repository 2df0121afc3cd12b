package connection_test

import (
	"reflect"
	"strings"
	"testing"

	"linerate/internal/model/cause"
	"linerate/internal/model/fact"
	"linerate/internal/model/record"
	"linerate/internal/model/topology"

	"linerate/internal/science/bottleneck"
	"linerate/internal/science/diagnose"
)

// TestHeldByBuffers: the buffer that held a flow back is a finding of the host that has it, and no
// other; not in a lab, whose buffers are the study's.
func TestHeldByBuffers(t *testing.T) {
	link := topology.Link{From: topology.End{Node: "a", Interface: "eth0"},
		To: topology.End{Node: "b", Interface: "eth0"}}
	for _, test := range []struct {
		by    string
		via   []string
		links []topology.Link
		want  string
	}{
		{bottleneck.ReceiverWindow, []string{"ssh"}, []topology.Link{link}, "receiver-window of b"},
		{bottleneck.SendBuffer, []string{"ssh"}, []topology.Link{link}, "send-buffer of a"},
		{bottleneck.ReceiverWindow, nil, nil, "receiver-window of b"},
		{bottleneck.ReceiverWindow, nil, []topology.Link{link}, ""},
		{bottleneck.FullLink, []string{"ssh"}, []topology.Link{link}, ""},
	} {
		over := &topology.Topology{Hosts: []topology.Host{{Name: "a", Via: test.via}, {Name: "b", Via: test.via}},
			Links: test.links}
		facts := []fact.Fact{{Is: fact.ReceiverWindow{Bytes: 205_100}}}
		trial := record.Trial{Flows: []record.Flow{{ID: "w1", From: "a", To: "b", Connected: true, LimitedBy: test.by,
			LimitedFacts: facts}}}
		var found []string
		for _, f := range diagnose.Diagnose(trial, over) {
			found = append(found, f.ID+" of "+f.Host)
			if f.Args != (cause.Between{From: "a", To: "b"}) ||
				!reflect.DeepEqual(f.Facts[0].Is, fact.Limited{Flow: "w1", By: facts}) {
				t.Errorf("%s, via %v: %+v", test.by, test.via, f)
			}
		}
		if got := strings.Join(found, ", "); got != test.want {
			t.Errorf("%s, via %v: %q, want %q", test.by, test.via, got, test.want)
		}
	}
}
