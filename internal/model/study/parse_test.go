package study

import (
	"encoding/json"
	"os"
	"path/filepath"
	"reflect"
	"strings"
	"testing"
	"time"

	"linerate/internal/model/flow"
	"linerate/internal/model/topology"
	"linerate/internal/model/unit"
)

// pair is the smallest study: defaults everywhere.
const pair = `
study: pair
topology:
  hosts:
    a: {interfaces: {eth0: {addresses: [10.0.0.1/24]}}}
    b: {interfaces: {eth0: {addresses: [10.9.0.2/24, 10.0.0.2/24, "fd00::2/64"]}}}
  links: [{from: a, to: b}]
workload:
  flows: [{from: a, to: b}]
`

func parse(t *testing.T, text string, set ...string) *Study {
	t.Helper()
	s, err := Parse("test.yaml", []byte(text), set...)
	if err != nil {
		t.Fatal(err)
	}
	return s
}

func plan(t *testing.T, s *Study) *Plan {
	t.Helper()
	p, err := NewPlan(s)
	if err != nil {
		t.Fatal(err)
	}
	return p
}

func TestDefaults(t *testing.T) {
	s := parse(t, pair)
	w, d := s.Workload, s.Design
	if w.Duration != defaultDuration || w.Warmup != defaultWarmup || w.Interval != defaultInterval ||
		w.ConnectTimeout != defaultConnectTimeout {
		t.Errorf("times are %v, %v, %v, %v", w.Duration, w.Warmup, w.Interval, w.ConnectTimeout)
	}
	if w.Streams != 1 || w.Direction != flow.Write || w.CongestionControl != "cubic" {
		t.Errorf("options are %+v", w.Spec)
	}
	if d.Replicates != 0 || d.Margin != 0.02 || d.Seed != 0 || d.Until != 0 || s.Unit != "bit/s" {
		t.Errorf("design is %+v, unit %s", d, s.Unit)
	}
	if got := w.Flows[0].Destination.String(); got != "10.0.0.2" {
		t.Errorf("destination is %s, want the address on the shared network", got)
	}
	if l := s.Topology.Links[0]; l.From != (topology.End{Node: "a", Interface: "eth0"}) ||
		l.To != (topology.End{Node: "b", Interface: "eth0"}) {
		t.Errorf("link is %v to %v, want the hosts' only interfaces", l.From, l.To)
	}
	if s.File != pair {
		t.Error("the study does not keep its text")
	}
}

func TestDestinationFollowsSource(t *testing.T) {
	text := strings.Replace(pair, "[10.0.0.1/24]", `[10.0.0.1/24, "fd00::1/64"]`, 1)
	text = strings.Replace(text, "flows: [{from: a, to: b}]", `flows: [{from: a, to: b, source: "fd00::1"}]`, 1)
	if got := parse(t, text).Workload.Flows[0].Destination.String(); got != "fd00::2" {
		t.Errorf("destination is %s, want one of the source's kind", got)
	}
}

func TestArpFlux(t *testing.T) {
	data, err := os.ReadFile("../../../studies/arp-flux.yaml")
	if err != nil {
		t.Fatal(err)
	}
	s := parse(t, string(data))
	if len(s.Topology.Hosts) != 3 || len(s.Topology.Hosts[0].Interfaces) != 4 || len(s.Topology.Links) != 6 {
		t.Fatalf("topology is %+v", s.Topology)
	}
	if got := s.Topology.Links[2].To.String(); got != "switch.server-eth2" {
		t.Errorf("the third link ends at %s", got)
	}
	static := s.Factors[1].Levels[2].Settings
	if len(static) != 8 || static[5].Lines()[0] != "client2: neighbour 192.168.1.16 at server.eth1 on eth0" {
		t.Errorf("static ARP entries are %v", static)
	}
	p := plan(t, s)
	if len(p.Treatments) != 14 || p.Treatments[9].Name != "static ARP entries, reads" || !p.Treatments[7].Baseline ||
		p.Treatments[8].Baseline {
		t.Errorf("treatments are %+v", p.Treatments)
	}
	if f := p.Treatments[7].Flows[0]; f.Sender() != "server" || f.Receiver() != "client1" || f.Opener != "client1" ||
		f.OpenerSends {
		t.Errorf("a read is %+v", f)
	}
	if source, destination := p.Treatments[7].Flows[4].Addresses(&s.Topology); source.String() != "192.168.1.15" ||
		destination.String() != "192.168.1.102" {
		t.Errorf("a read goes from %s to %s", source, destination)
	}
	if took := p.Time(4); took > 3*time.Minute {
		t.Errorf("a run is estimated at %v; people are promised less than three minutes", took)
	}
}

// TestArpFluxChanged: the built-in study is an example to change.
func TestArpFluxChanged(t *testing.T) {
	data, err := os.ReadFile("../../../studies/arp-flux.yaml")
	if err != nil {
		t.Fatal(err)
	}
	mine := strings.NewReplacer("0..3", "0..2", "15..18", "15..17", "1..2", "1..3", "1gbit", "300mbit").Replace(
		string(data))
	s := parse(t, mine)
	if len(s.Topology.Hosts) != 4 || len(s.Topology.Hosts[0].Interfaces) != 3 || s.Topology.Links[0].Rate != 3e8 {
		t.Errorf("topology is %+v", s.Topology)
	}
	if p := plan(t, s); len(p.Treatments[0].Flows) != 9 {
		t.Errorf("the first treatment has %d flows, want 3 clients × 3 interfaces", len(p.Treatments[0].Flows))
	}
}

// TestBuiltIn: every built-in study is sound.
func TestBuiltIn(t *testing.T) {
	files, _ := filepath.Glob("../../../studies/*.yaml")
	if len(files) == 0 {
		t.Fatal("no studies found")
	}
	for _, file := range files {
		data, err := os.ReadFile(file)
		if err != nil {
			t.Fatal(err)
		}
		s, err := Parse(filepath.Base(file), data)
		if err != nil {
			t.Error(err)
			continue
		}
		if s.Name+".yaml" != filepath.Base(file) {
			t.Errorf("%s holds study %s", file, s.Name)
		}
		if s.Question == "" {
			t.Errorf("%s asks no question", file)
		}
	}
}

func TestParseSet(t *testing.T) {
	s := parse(t, pair, "workload.duration=5s", "topology.links[0].rate=300mbit", "design.seed=7",
		"workload.flows[0].streams=3")
	if s.Workload.Duration != unit.Duration(5*time.Second) || s.Topology.Links[0].Rate != 3e8 || s.Design.Seed != 7 ||
		s.Workload.Flows[0].Streams != 3 {
		t.Errorf("values were not set: %+v", s)
	}
	_, err := Parse("test.yaml", []byte(pair), "workload.duration=5x", "workload.warmupp=1s")
	want := "--set workload.duration=5x: duration: \"5x\" is not a duration: expected a number with us, ms, s, m " +
		"or h, such as 25ms, 30s or 5m\n" +
		"--set workload.warmupp=1s: unknown key \"warmupp\"; did you mean \"warmup\"?"
	if err == nil || err.Error() != want {
		t.Errorf("got %v\nwant %s", err, want)
	}
}

func TestParseTopology(t *testing.T) {
	alone, _, _ := strings.Cut(strings.Replace(pair, "study: pair\n", "", 1), "workload:")
	for _, text := range []string{pair, alone} {
		got, err := ParseTopology("test.yaml", []byte(text))
		if err != nil || len(got.Hosts) != 2 || got.Links[0].To.Interface != "eth0" {
			t.Errorf("%+v, %v", got, err)
		}
	}
	for text, want := range map[string]string{
		"topology: {hosts: {}, links: []}": "test.yaml:1:12: no hosts",
		strings.Replace(alone, "to: b", "to: c",
			1): `test.yaml:6:25: link to "c": no such host or switch; expected a or b`,
		alone + "hosts: 1\n": `unknown key "hosts"`,
		strings.Replace(pair, "from: a, to: b}]\n", "x: 1", 1): `"[" is not closed`,
	} {
		if _, err := ParseTopology("test.yaml", []byte(text)); err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("%s: got %v, want %s", text, err, want)
		}
	}
}

// TestTopologyInRecords: a topology survives being written into a result.
func TestTopologyInRecords(t *testing.T) {
	data, err := os.ReadFile("../../../studies/arp-flux.yaml")
	if err != nil {
		t.Fatal(err)
	}
	s := parse(t, string(data))
	text, err := json.Marshal(s.Topology)
	if err != nil {
		t.Fatal(err)
	}
	var again topology.Topology
	if err := json.Unmarshal(text, &again); err != nil {
		t.Fatal(err)
	}
	if !reflect.DeepEqual(again, s.Topology) {
		t.Errorf("got  %+v\nwant %+v", again, s.Topology)
	}
}

// TestAddressesThatLevelsAdd: a flow may end at an address that a level adds.
func TestAddressesThatLevelsAdd(t *testing.T) {
	text := pair + `
factors:
  alias:
    levels:
      with:
        settings: [{host: b, address: {interface: eth0, address: 10.0.0.7/24}}]
        workload: {flows: [{from: a, to: b, destination: 10.0.0.7}]}
`
	if s := parse(t, text); s.Factors[0].Levels[0].Workload.Flows[0].Destination.String() != "10.0.0.7" {
		t.Error("the destination was lost")
	}
}
