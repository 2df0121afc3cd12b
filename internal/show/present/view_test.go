package present

import (
	"encoding/json"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"linerate/internal/model/record"
	"linerate/internal/model/topology"
	"linerate/internal/science/conclude"
	"linerate/internal/science/sciencetest"
	"linerate/internal/show/showtest"
)

func TestGrid(t *testing.T) {
	v := newView(showtest.ArpFlux())
	if len(v.rows) != 7 || len(v.columns) != 2 || v.columns[0].name != "writes" {
		t.Fatalf("%d rows, columns %+v", len(v.rows), v.columns)
	}
	if v.baseline == nil || v.baseline.name != "kernel defaults" {
		t.Errorf("baseline %+v", v.baseline)
	}
	// The same with rp_filter=1 carries as much with one setting more.
	if v.best == nil || v.best.name != "arp + source routing" {
		t.Errorf("best %+v", v.best)
	}
	for _, r := range v.rows {
		for c, cell := range r.cells {
			if cell.Levels["fix"] != r.name || cell.Levels["direction"] != v.columns[c].name {
				t.Errorf("row %s, column %s holds %s", r.name, v.columns[c].name, cell.Name)
			}
			if (cell.Effect == nil) != r.baseline {
				t.Errorf("row %s, column %s: effect %v", r.name, v.columns[c].name, cell.Effect)
			} else if !r.baseline && (cell.Effect.To != r.name || cell.Effect.At["direction"] != v.columns[c].name) {
				t.Errorf("row %s, column %s has the effect of %s at %v", r.name, v.columns[c].name, cell.Effect.To, cell.Effect.At)
			}
		}
	}
	if v.focus != "server" {
		t.Errorf("the interfaces of %q are shown", v.focus)
	}
}

func TestNothingIsLostFromTheGrid(t *testing.T) {
	run := showtest.ArpFlux()
	run.Treatments = append(run.Treatments, record.Treatment{Name: "left over"})
	run.Factors[0].Levels = append(run.Factors[0].Levels, record.Level{Name: "not tried"})
	v := newView(run)
	n := 0
	for _, r := range v.rows {
		for _, c := range r.cells {
			if c != nil {
				n++
			}
		}
	}
	if n != len(run.Treatments) || len(v.columns) != 2 {
		t.Errorf("%d of %d treatments shown in %d columns", n, len(run.Treatments), len(v.columns))
	}
}

// TestBestIsTheAnswers: the page singles out what the answer recommends, whatever
// the figures may look like, and nothing when that recommends nothing.
func TestBestIsTheAnswers(t *testing.T) {
	run := showtest.ArpFlux()
	for i := range run.Treatments {
		run.Treatments[i].Best = false
	}
	if v := newView(run); v.best != nil || responseTitle(v, v.lead()) != "No treatment is shown to improve on kernel defaults" {
		t.Errorf("best %v, title %q", v.best, responseTitle(v, v.lead()))
	}
	for i := range run.Treatments {
		run.Treatments[i].Best = run.Treatments[i].Levels["fix"] == "static ARP entries"
	}
	if v := newView(run); v.best == nil || v.best.name != "static ARP entries" {
		t.Errorf("best %v", v.best)
	}
}

func TestTitlesFollowTheFigures(t *testing.T) {
	all := showtest.Variants()
	for _, c := range []struct{ run, figure, want string }{
		{"arp-flux", "goodput", "Goodput: 25 % of the limit at kernel defaults; 100 % with arp + source routing"},
		{"arp-flux", "interfaces", "1 of 4 interfaces of server carries the data at kernel defaults; 4 of 4 with arp + source routing"},
		{"arp-flux", "topology", "1 link is full at kernel defaults; 4 with arp + source routing"},
		{"no-limit", "goodput", "Goodput: 119.5 MB/s at kernel defaults; 478.0 MB/s with arp + source routing"},
		{"no-limit", "topology", "Load of every link"},
		{"no-difference", "goodput", "Every treatment is within 2.0 % of kernel defaults"},
		{"one-treatment", "interfaces", "1 of 4 interfaces of server carries the data"},
		{"interfaces-100", "interfaces", "84 of 100 interfaces of server carry the data at arp_ignore=1; 100 of 100 with arp + source routing"},
	} {
		for _, f := range Figures(all[c.run]) {
			if f.Name == c.figure && f.Title != c.want {
				t.Errorf("%s of %s: %q, expected %q", c.figure, c.run, f.Title, c.want)
			}
		}
	}
	run := showtest.ArpFlux() // conditions that differ are told apart
	for i := range run.Treatments {
		if tr := &run.Treatments[i]; tr.Name == "reads, kernel defaults" {
			for p := range tr.Interfaces {
				tr.Interfaces[p].Share = 0.25
			}
		}
	}
	want := "1 of 4 interfaces of server carries the data for writes, 4 of 4 interfaces of server carry the data for reads at kernel defaults; 4 of 4 with arp + source routing"
	if got := interfacesTitle(newView(run)); got != want {
		t.Errorf("%q, expected %q", got, want)
	}
}

func TestWrongRowsOnlyWhenWrong(t *testing.T) {
	v := newView(showtest.ArpFlux())
	hosts, switches := newReader(v).tables(v.typical(v.baseline.cells[0]))
	var wrong []string
	for _, h := range hosts {
		for _, r := range h.Rows {
			if r.Wrong {
				wrong = append(wrong, h.Host+" "+r.Address+" "+r.HeldBy+" "+r.BelongsTo+" "+r.Delivers)
			}
		}
	}
	want := []string{
		"client1 192.168.1.16 server.eth1 server.eth0 server.eth0",
		"client1 192.168.1.17 server.eth2 server.eth0 server.eth0",
		"client1 192.168.1.18 server.eth3 server.eth0 server.eth0",
		"client2 192.168.1.16 server.eth1 server.eth0 server.eth0",
		"client2 192.168.1.17 server.eth2 server.eth0 server.eth0",
		"client2 192.168.1.18 server.eth3 server.eth0 server.eth0",
	}
	if !slices.Equal(wrong, want) {
		t.Errorf("wrong rows:\n%s\nexpected:\n%s", strings.Join(wrong, "\n"), strings.Join(want, "\n"))
	}
	if len(switches) != 1 || len(switches[0].Rows) != 6 {
		t.Errorf("forwarding tables %+v", switches)
	}
	if n, all := newReader(v).wrongEntries(v.best.cells[0]); n != 0 || all != 16 {
		t.Errorf("best fix: %d of %d wrong", n, all)
	}
}

func TestReaderGivesTheBenefitOfTheDoubt(t *testing.T) {
	run := showtest.ArpFlux()
	server := func(p int) topology.End { return run.Topology.Links[p].From }
	r := newReader(newView(run))
	mac := run.Topology.MAC
	entry := func(address, mac string) record.Neighbour { return record.Neighbour{Address: address, MAC: mac} }
	for _, c := range []struct {
		what  string
		n     record.Neighbour
		wrong bool
	}{
		{"right interface", entry("192.168.1.16", mac(server(1))), false},
		{"right interface, capitals", entry("192.168.1.16", strings.ToUpper(mac(server(1)))), false},
		{"another interface of the server", entry("192.168.1.16", mac(server(0))), true},
		{"an interface of another host", entry("192.168.1.16", mac(topology.End{Node: "client1", Interface: "eth0"})), true},
		{"unresolved", entry("192.168.1.16", ""), false},
		{"an unknown MAC address", entry("192.168.1.16", "52:54:00:12:34:56"), false},
		{"an address that no interface holds", entry("192.168.1.200", mac(server(0))), false},
		{"not an address", entry("nonsense", mac(server(0))), false},
	} {
		if got := r.wrong(c.n); got != c.wrong {
			t.Errorf("%s: wrong %v", c.what, got)
		}
	}
	// A bond: two interfaces with one MAC address.
	bond := showtest.ArpFlux()
	for i := range bond.Trials {
		for h := range bond.Trials[i].Hosts {
			if host := &bond.Trials[i].Hosts[h]; host.Host == "server" {
				host.Snapshot.Interfaces[1].MAC = host.Snapshot.Interfaces[0].MAC
			}
		}
	}
	if newReader(newView(bond)).wrong(entry("192.168.1.16", mac(server(0)))) {
		t.Error("an entry with a MAC address that two interfaces share is called wrong")
	}
}

func TestNaturalOrder(t *testing.T) {
	names := []string{"eth10", "eth2", "eth1", "swp1", "eth1.100", "eth02", "enp3s0f1", "enp3s0f0"}
	slices.SortFunc(names, natural)
	if got := strings.Join(names, " "); got != "enp3s0f0 enp3s0f1 eth1 eth1.100 eth2 eth02 eth10 swp1" {
		t.Error(got)
	}
}

// The table names the one direction that it shows where data flows both ways.
func TestTrafficNamesTheDirection(t *testing.T) {
	run := sciencetest.Run(7, 1)
	conclude.Conclude(run)
	half := 0.5
	for i := range run.Treatments {
		for p := range run.Treatments[i].Interfaces {
			port := &run.Treatments[i].Interfaces[p]
			port.ShareRx, port.ShareTx, port.Direction = &half, &half, record.Tx
		}
	}
	if got := newView(run).traffic(); got != "what server sent" {
		t.Errorf("%q", got)
	}
}

func TestUnconnectedFlowsWarnUnlessAllowed(t *testing.T) {
	run := showtest.ArpFlux()
	if got := warnings(newView(run)); len(got) != 0 {
		t.Errorf("flows that may fail to connect gave %q", got)
	}
	for i := range run.Trials {
		run.Trials[i].Unreachable = false
	}
	got := warnings(newView(run))
	if len(got) != 2 || got[0] != "6 of 8 flows could not connect in 4 of 4 trials: arp + rp_filter=1, writes." {
		t.Errorf("flows that had to connect gave %q", got)
	}
}

// TestNoRatioBelowZero: what may be below zero has no ratio to the baseline.
func TestNoRatioBelowZero(t *testing.T) {
	run := sciencetest.Aliases(3, 3, -1e5, 1)
	conclude.Conclude(run)
	v := newView(run)
	v.baseline = &v.rows[0]
	for i := range v.rows {
		v.rows[i].cells[0].Responses[1].Mean = 0.01 * float64(1+i)
	}
	for i := range v.rows {
		if size, _, effect := v.against(i, v.panesOf(v.measures[1])[0]); strings.Contains(size, "×") {
			t.Errorf("%s of what may be below zero, effect %v", size, effect)
		}
	}
}

// TestStoredGrid: what is called best in a stored run is what its answer recommends,
// and leads nowhere wrong.
func TestStoredGrid(t *testing.T) {
	data, err := os.ReadFile(filepath.Join("..", "..", "model", "record", "testdata", "arp-flux-run.json"))
	if err != nil {
		t.Fatal(err)
	}
	run := &record.Run{}
	if err := json.Unmarshal(data, run); err != nil {
		t.Fatal(err)
	}
	v := newView(run)
	if v.baseline == nil || v.best == nil || v.focus != "server" {
		t.Fatalf("baseline %v, best %v, interfaces of %q", v.baseline, v.best, v.focus)
	}
	if answer := AnswerRun(run).Headline; !strings.Contains(answer, v.best.name) {
		t.Errorf("the page shows %q as best, the answer says %q", v.best.name, answer)
	}
	if n, _ := newReader(v).wrongEntries(v.best.cells[0]); n != 0 {
		t.Errorf("the best fix has %d wrong rows", n)
	}
}
