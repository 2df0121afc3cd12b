package study

import (
	"strings"
	"testing"

	"linerate/internal/model/tool"
)

// TestToolFactor: a tool is a level like any other; what the flows of one process
// are is known, and a tool's words do not reach another.
func TestToolFactor(t *testing.T) {
	s, err := Parse("tools.yaml", []byte(`
study: tools
topology:
  hosts:
    a: {interfaces: {eth0: {addresses: [10.0.0.1/24]}}}
    b: {interfaces: {eth0: {addresses: [10.0.0.2/24]}}}
  links:
    - {from: a.eth0, to: b.eth0, rate: 50mbit}
workload:
  tool: iperf3
  tool_args: [-O, 1]
  streams: 2
  direction: both
  flows:
    - {from: a, to: b}
    - {from: b, to: a}
factors:
  tool:
    levels:
      linerate: {workload: {tool: linerate}}
      iperf3: {}
      iperf: {workload: {tool: iperf}}
`))
	if err != nil {
		t.Fatal(err)
	}
	want := map[string]string{
		"linerate": "linerate[] , linerate[] , linerate[] , linerate[] , linerate[] , linerate[] , linerate[] , linerate[] ",
		"iperf3":   "iperf3[-O 1] p1w, iperf3[-O 1] p1r, iperf3[-O 1] p1w, iperf3[-O 1] p1r, iperf3[-O 1] p2w, iperf3[-O 1] p2r, iperf3[-O 1] p2w, iperf3[-O 1] p2r",
		"iperf":    "iperf[] p1w, iperf[] p1r, iperf[] p1w, iperf[] p1r, iperf[] p2w, iperf[] p2r, iperf[] p2w, iperf[] p2r",
	}
	for _, tr := range plan(t, s).Treatments {
		var got []string
		for _, f := range tr.Flows {
			got = append(got, f.Tool+"["+strings.Join(f.ToolArgs, " ")+"] "+f.Process)
			if _, foreign := tool.Find(f.Tool); foreign != (f.Process != "") {
				t.Errorf("%s: foreign %v with process %q", f.Tool, foreign, f.Process)
			}
		}
		if text := strings.Join(got, ", "); text != want[tr.Name] {
			t.Errorf("%s:\n%s, want\n%s", tr.Name, text, want[tr.Name])
		}
	}
}
