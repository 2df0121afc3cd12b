package evidence

import (
	"encoding/json"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"linerate/internal/model/netstate"
	"linerate/internal/model/record"
	"linerate/internal/model/topology"
	"linerate/internal/science/conclude"
	"linerate/internal/science/sciencetest"
	"linerate/internal/show/answer"
	"linerate/internal/show/showtest"
	"linerate/internal/show/view"
)

func TestWrongRowsOnlyWhenWrong(t *testing.T) {
	v := view.New(showtest.ArpFlux())
	hosts, switches := newReader(v).tables(v.Typical(v.Baseline.Treatments[0]))
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
	if n, _, all := newReader(v).wrongEntries(v.Best.Treatments[0]); n != 0 || all != 16 {
		t.Errorf("best fix: %d of %d wrong", n, all)
	}
}

func TestReaderGivesTheBenefitOfTheDoubt(t *testing.T) {
	run := showtest.ArpFlux()
	server := func(p int) topology.End { return run.Topology.Links[p].From }
	r := newReader(view.New(run))
	mac := run.Topology.MAC
	entry := func(address, mac string) netstate.Neighbour { return netstate.Neighbour{Address: address, MAC: mac} }
	for _, c := range []struct {
		what  string
		n     netstate.Neighbour
		wrong bool
	}{
		{"right interface", entry("192.168.1.16", mac(server(1))), false},
		{"right interface, capitals", entry("192.168.1.16", strings.ToUpper(mac(server(1)))), false},
		{"another interface of the server", entry("192.168.1.16", mac(server(0))), true},
		{"an interface of another host", entry("192.168.1.16", mac(topology.End{Node: "client1", Interface: "eth0"})),
			true},
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
	if newReader(view.New(bond)).wrong(entry("192.168.1.16", mac(server(0)))) {
		t.Error("an entry with a MAC address that two interfaces share is called wrong")
	}
}

// TestUnjudgedEntries: entries whose MAC address belongs to no interface that is known
// support no heading, and beside others are counted.
func TestUnjudgedEntries(t *testing.T) {
	run := sciencetest.Run(7, 4)
	conclude.Conclude(run)
	strangers := func(host string) {
		for i := range run.Trials {
			for j := range run.Trials[i].Hosts {
				h := &run.Trials[i].Hosts[j]
				h.Snapshot.Neighbours = slices.Clone(h.Snapshot.Neighbours)
				for k := range h.Snapshot.Neighbours {
					if n := &h.Snapshot.Neighbours[k]; host == "" || h.Host == host {
						n.MAC = "02:99:99:99:99:99"
					} else if h.Host == "client1" || h.Host == "client2" {
						n.MAC = ""
					}
				}
			}
		}
	}
	strangers("server")
	if s := Neighbours(view.New(run)); !strings.Contains(s.Title, " of the others it is not known") {
		t.Errorf("some: %q", s.Title)
	}
	strangers("")
	if s := Neighbours(view.New(run)); s.ID != "" || len(s.Blocks) > 0 {
		t.Errorf("none: %q", s.Title)
	}
}

// TestNoRatioBelowZero: what may be below zero has no ratio to the baseline.
func TestNoRatioBelowZero(t *testing.T) {
	run := sciencetest.Aliases(3, 3, -1e5, 1)
	conclude.Conclude(run)
	v := view.New(run)
	v.Baseline = &v.Rows[0]
	for i := range v.Rows {
		v.Rows[i].Treatments[0].Responses[1].Mean = 0.01 * float64(1+i)
	}
	for i := range v.Rows {
		if size, _, effect := against(v, i, v.Panes(v.Measures[1])[0]); strings.Contains(size, "×") {
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
	v := view.New(run)
	if v.Baseline == nil || v.Best == nil || v.Focus != "server" {
		t.Fatalf("baseline %v, best %v, interfaces of %q", v.Baseline, v.Best, v.Focus)
	}
	if text := answer.Run(run).Headline; !strings.Contains(text, v.Best.Name) {
		t.Errorf("the page shows %q as best, the answer says %q", v.Best.Name, text)
	}
	if n, _, _ := newReader(v).wrongEntries(v.Best.Treatments[0]); n != 0 {
		t.Errorf("the best fix has %d wrong rows", n)
	}
}
