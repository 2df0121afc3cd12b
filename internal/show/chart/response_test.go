package chart

import (
	"testing"

	"linerate/internal/model/record"
	"linerate/internal/model/topology"
	"linerate/internal/show/showtest"
	"linerate/internal/show/view"
)

// TestBestIsTheAnswers: the page singles out what the answer recommends, whatever
// the figures may look like, and nothing when that recommends nothing.
func TestBestIsTheAnswers(t *testing.T) {
	run := showtest.ArpFlux()
	for i := range run.Treatments {
		run.Treatments[i].Best = false
	}
	if v := view.New(run); v.Best != nil ||
		responseTitle(v, v.Lead()) != "No treatment is shown to improve on “kernel defaults”" {
		t.Errorf("best %v, title %q", v.Best, responseTitle(v, v.Lead()))
	}
	for blocks, want := range map[int]string{
		1: "A look at 1 block: no verdict and no recommendation, which take at least 4 blocks",
		4: "No treatment is shown to improve on “kernel defaults”"} {
		run.Conclusion = &record.Conclusion{Compared: true, Ending: record.Ending{Blocks: blocks}}
		if v := view.New(run); responseTitle(v, v.Lead()) != want {
			t.Errorf("after %d blocks: title %q, want %q", blocks, responseTitle(v, v.Lead()), want)
		}
	}
	for i := range run.Treatments {
		run.Treatments[i].Best = run.Treatments[i].Levels["fix"] == "static ARP entries"
	}
	if v := view.New(run); v.Best == nil || v.Best.Name != "static ARP entries" {
		t.Errorf("best %v", v.Best)
	}
}

func TestTitlesFollowTheFigures(t *testing.T) {
	all := showtest.Variants()
	for _, c := range []struct{ run, figure, want string }{
		{"arp-flux", "goodput", "Goodput: 25 % of the limit at “kernel defaults”; 100 % with “arp + source routing”"},
		{"arp-flux", "interfaces",
			"1 of 4 interfaces of server carries the data at “kernel defaults”; 4 of 4 with “arp + source routing”"},
		{"arp-flux", "topology", "1 link is full at “kernel defaults”; 4 with “arp + source routing”"},
		{"no-limit", "goodput", "Goodput: 119.5 MB/s at “kernel defaults”; 478.0 MB/s with “arp + source routing”"},
		{"no-limit", "topology", "Load of every link"},
		{"no-difference", "goodput", "Every treatment is within 2.0 % of “static ARP entries”"},
		{"one-treatment", "interfaces", "1 of 4 interfaces of server carries the data"},
		{"interfaces-100", "interfaces",
			"84 of 100 interfaces of server carry the data at arp_ignore=1; 100 of 100 with “arp + source routing”"},
	} {
		for _, f := range Figures(view.New(all[c.run])) {
			if f.Name == c.figure && f.Title != c.want {
				t.Errorf("%s of %s: %q, expected %q", c.figure, c.run, f.Title, c.want)
			}
		}
	}
	run := showtest.ArpFlux() // conditions that differ are shown separately
	for i := range run.Treatments {
		if tr := &run.Treatments[i]; tr.Name == "reads, kernel defaults" {
			for p := range tr.Interfaces {
				tr.Interfaces[p].Share = 0.25
			}
		}
	}
	want := "1 of 4 interfaces of server carries the data for writes, 4 of 4 interfaces of server carry the data " +
		"for reads at “kernel defaults”; 4 of 4 with “arp + source routing”"
	if got := interfacesTitle(view.New(run)); got != want {
		t.Errorf("%q, expected %q", got, want)
	}
}

// TestLinksOfOnePath: the links of a single path are full together, and are not counted.
func TestLinksOfOnePath(t *testing.T) {
	link := func(from, to string) topology.Link {
		l := topology.Link{From: topology.End{Node: from, Interface: "eth0"},
			To: topology.End{Node: to, Interface: "eth0"}}
		l.Rate = 1e9
		return l
	}
	two := []topology.Host{{Name: "a"}, {Name: "b"}}
	full := []record.TreatmentInterface{{Host: "a", Interface: "eth0", TxBps: 1e9, LimitBps: 1e9},
		{Host: "b", Interface: "eth0", RxBps: 1e9, LimitBps: 1e9}}
	idle := []record.TreatmentInterface{{Host: "a", Interface: "eth0", TxBps: 1e8, LimitBps: 1e9}}
	for _, c := range []struct {
		topology   topology.Topology
		interfaces []record.TreatmentInterface
		want       string
	}{
		{topology.Topology{Hosts: two, Links: []topology.Link{link("a", "b")}}, full, "The link is full"},
		{topology.Topology{Hosts: two, Links: []topology.Link{link("a", "b")}}, idle,
			"The link carries 10 % of its rate"},
		{topology.Topology{Hosts: two, Switches: []topology.Switch{{Name: "s"}}, Links: []topology.Link{link("a", "s"),
			link("b", "s")}}, full, "The fullest link is full"},
		{topology.Topology{Hosts: append(two, topology.Host{Name: "c"}), Switches: []topology.Switch{{Name: "s"}},
			Links: []topology.Link{link("a", "s"), link("b", "s"), link("c", "s")}}, full, "2 links are full"},
	} {
		run := &record.Run{Topology: c.topology, Treatments: []record.Treatment{
			{Name: "x", Baseline: true, Interfaces: c.interfaces}}}
		if got := topologyTitle(view.New(run)); got != c.want {
			t.Errorf("%q, want %q", got, c.want)
		}
	}
}
