package study

import (
	"strings"
	"testing"

	"linerate/internal/model/flow"
	"linerate/internal/model/source"
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
		"linerate": "linerate[] , linerate[] , linerate[] , linerate[] , linerate[] , linerate[] , linerate[] , " +
			"linerate[] ",
		"iperf3": "iperf3[-O 1] p1w, iperf3[-O 1] p1r, iperf3[-O 1] p1w, iperf3[-O 1] p1r, iperf3[-O 1] p2w, " +
			"iperf3[-O 1] p2r, iperf3[-O 1] p2w, iperf3[-O 1] p2r",
		"iperf": "iperf[] p1w, iperf[] p1r, iperf[] p1w, iperf[] p1r, iperf[] p2w, iperf[] p2r, iperf[] p2w, " +
			"iperf[] p2r",
	}
	for _, tr := range plan(t, s).Treatments {
		var got []string
		for _, f := range tr.Flows {
			got = append(got, f.Tool.String()+"["+strings.Join(f.ToolArgs, " ")+"] "+f.Process)
			if _, foreign := tool.Find(f.Tool); foreign != (f.Process != "") {
				t.Errorf("%s: foreign %v with process %q", f.Tool, foreign, f.Process)
			}
		}
		if text := strings.Join(got, ", "); text != want[tr.Name] {
			t.Errorf("%s:\n%s, want\n%s", tr.Name, text, want[tr.Name])
		}
	}
}

const described = `
study: described
topology:
  hosts:
    a: {interfaces: {eth0: {addresses: [10.0.0.1/24]}}}
    b: {interfaces: {eth0: {addresses: [10.0.0.2/24]}}}
  links:
    - {from: a.eth0, to: b.eth0}
workload:
  flows:
    - {from: a, to: b}
  tool:
    client: [bench, -c, $ADDRESS, -p, $PORT, -t, $SECONDS]
    server: [bench, -s, $PORT]
    figure: 'rate ([0-9]{{1,9}})'
    unit: Mbit/s
`

// TestDescribedTool: a description is read, its commands are listed, and it is written
// again as it was read.
func TestDescribedTool(t *testing.T) {
	s := parse(t, described)
	var got []string
	for _, c := range plan(t, s).Commands() {
		got = append(got, c.Node+": "+strings.Join(c.Argv, " "))
	}
	if want := "a: bench -c 10.0.0.2 -p PORT -t 3; b: bench -s PORT"; strings.Join(got, "; ") != want {
		t.Errorf("commands %q, want %s", got, want)
	}
	if figure := s.Workload.Tool.Figure; figure != "rate ([0-9]{1,9})" {
		t.Errorf("figure %q", figure)
	}
	for _, w := range []Override{{Spec: s.Workload.Spec}, {Spec: flow.Spec{Tool: flow.Tool{Name: "iperf3"}}}} {
		text, err := source.Encode(&w)
		if err != nil || !strings.Contains(string(text), "tool:") {
			t.Errorf("written as\n%s: %v", text, err)
		}
	}
}

// TestDescribedToolMistakes: each is reported where it is.
func TestDescribedToolMistakes(t *testing.T) {
	for _, test := range []struct{ from, to, wrong string }{
		{"-t, $SECONDS]", "-t, $SECOND]", "client: there is no variable $SECOND"},
		{"-t, $SECONDS]", "-n, $MSS]", "$MSS needs mss"},
		{"unit: Mbit/s", "unit: furlongs", "unit \"furlongs\""},
		{"unit: Mbit/s", "uint: Mbit/s", "unknown key \"uint\""},
		{"client:", "clients:", "unknown key \"clients\""},
		{"[bench, -s, $PORT]", "[bench, -s]", "it has no $PORT"},
		{"    server: [bench, -s, $PORT]\n", "", "nothing listens"},
		{"{from: a, to: b}", "{from: a, to: b, nodelay: true}", "nodelay: bench has no such option"},
		{"{from: a, to: b}", "{from: a, to: b, direction: both}", "direction both"},
		{"  tool:\n", "  tool_args: [-l, 8K]\n  tool:\n", "write the words of a description in its client"},
		{"a, to: b}\n  tool:\n", "a, to: b, copies: 2}\n  tool:\n    port: 7000\n",
			"port 7000 of 10.0.0.2 is used by another process, too"},
	} {
		_, err := Parse("described.yaml", []byte(strings.Replace(described, test.from, test.to, 1)))
		if err == nil || !strings.Contains(err.Error(), test.wrong) ||
			!strings.Contains(err.Error(), "described.yaml:1") {
			t.Errorf("%s: %v, want %s", test.to, err, test.wrong)
		}
	}
}
