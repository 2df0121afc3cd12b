package study

import (
	"fmt"
	"slices"
	"strings"
	"testing"
)

// TestCommands: all that a plan executes is listed, once for what differs in addresses
// alone; addresses, ports and times do not change what is permitted, all else does.
func TestCommands(t *testing.T) {
	const text = `
study: commands
topology:
  hosts:
    a: {interfaces: {eth0: {addresses: [10.0.0.1/24]}}, bgp: {as: 65001}}
    b: {interfaces: {eth0: {addresses: ["10.0.0.{11..13}/24"]}}, bgp: {as: 65002}}
    nas: {via: [ssh, nas], interfaces: {eno1: {addresses: [10.9.0.1/24]}}}
    pc: {via: [ssh, pc], agent: /opt/linerate, interfaces: {eno1: {addresses: [10.9.0.2/24]}}}
  switches:
    rack: {via: [sudo], bridge: br0}
  links:
    - {from: a.eth0, to: b.eth0}
    - {from: nas.eno1, to: rack}
    - {from: pc.eno1, to: rack}
workload:
  duration: 3s
  flows: [{from: a, to: b, destination: "10.0.0.{11..13}"}]
factors:
  tool:
    levels:
      linerate: {}
      iperf3: {workload: {tool: iperf3, tool_args: [-l, 8K]}}
      netperf: {workload: {tool: netperf}}
`
	list := func(text string) (lines, alike []string) {
		t.Helper()
		for _, c := range plan(t, parse(t, text)).Commands() {
			lines = append(lines, fmt.Sprintf("%s ×%d: %s", c.Node, c.Times, strings.Join(c.Argv, " ")))
			alike = append(alike, c.Node+" "+c.Alike)
		}
		return lines, alike
	}
	lines, alike := list(text)
	want := `a ×1: bird
b ×1: bird
nas ×1: ssh nas linerate agent --stdio --node nas
pc ×1: ssh pc /opt/linerate agent --stdio --node pc
rack ×1: sudo linerate agent --stdio --node rack
a ×3: iperf3 -c 10.0.0.11 -p PORT -t 4 -J -i 0 -C cubic -l 8K
a ×3: netperf -H 10.0.0.11 -p PORT -l 4 -t TCP_STREAM -P 0 -4 -- -P ,PORT+1 -K cubic -k THROUGHPUT`
	got := strings.Join(lines, "\n")
	if !strings.HasPrefix(got, want) || len(lines) != 9 ||
		!strings.Contains(got, "b ×3: netserver -D -p PORT -L 10.0.0.11 -4") {
		t.Errorf("got\n%s\nwant it to begin with\n%s", got, want)
	}
	for _, change := range []struct {
		from, to string
		same     bool
	}{
		{"duration: 3s", "duration: 30s", true},
		{"10.0.0.", "10.0.7.", true},
		{"study: commands", "study: others", true},
		{"-l, 8K", "-l, 9K", false},
		{"8K]}", "8K], streams: 2}", false},
		{"[ssh, nas]", "[ssh, nas, -v]", false},
		{"/opt/linerate", "/opt/other", false},
		{"nas", "nas2", false},
	} {
		if _, now := list(strings.ReplaceAll(text, change.from, change.to)); slices.Equal(now, alike) != change.same {
			t.Errorf("%s: the same is executed: %t, want %t", change.to, !change.same, change.same)
		}
	}
}
