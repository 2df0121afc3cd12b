package trust

import (
	"testing"

	"linerate/internal/model/netstate"
)

// What the same process is known to have carried for other clients is not foreign
// traffic; what exceeds that is.
func TestOthersAreKnown(t *testing.T) {
	const more = 50e6
	for _, test := range []struct {
		name    string
		carried uint64 // by the server's interfaces beyond the trial's flows
		counted *netstate.OtherFlows
		pass    bool
	}{
		{"no others", 0, nil, true},
		{"others, counted", more, &netstate.OtherFlows{Clients: 2, Flows: 2, ReceivedBytes: more}, true},
		{"others, not counted", more, nil, false},
		{"more than was counted", 2 * more, &netstate.OtherFlows{Clients: 2, Flows: 2, ReceivedBytes: more}, false},
	} {
		tr := trial(4, "writes")
		server := &tr.Hosts[0]
		server.End.Interfaces[0].RxBytes += test.carried
		server.Others = test.counted
		for _, c := range Trial(tr, nil) {
			if (c.Check == Foreign || c.Check == Wire) && c.Pass != test.pass {
				t.Errorf("%s: %+v", test.name, c)
			}
		}
	}
}

// TestLinkTraffic: what a link has without any program's traffic is not foreign to a flow that
// gets next to nothing; more than that is.
func TestLinkTraffic(t *testing.T) {
	for name, test := range map[string]struct {
		bytes uint64
		pass  bool
	}{
		"ARP and neighbour discovery": {711, true},
		"another flow":                {711_000, false},
	} {
		tr, _ := limitedTrial()
		for i := range tr.Flows {
			f := &tr.Flows[i]
			f.ReceivedBytes, f.ArrivedBytes, f.SentBytes = 1000, 1000, 1000
		}
		for i := range tr.Hosts {
			h := &tr.Hosts[i]
			for j, p := range h.Begin.Interfaces {
				p.AtNs = h.End.Interfaces[j].AtNs
				h.End.Interfaces[j] = p
			}
		}
		tr.Hosts[1].End.Interfaces[0].TxBytes += 8000 + test.bytes
		for _, c := range Trial(tr, nil) {
			if c.Check == Foreign && c.Pass != test.pass {
				t.Errorf("%s: %+v", name, c)
			}
		}
	}
}

// The same of what a server sends.
func TestOthersAreSentTo(t *testing.T) {
	const more = 50e6
	for name, others := range map[string]*netstate.OtherFlows{
		"counted": {Clients: 1, Flows: 1, WrittenBytes: more}, "not counted": nil,
	} {
		tr, _ := limitedTrial()
		h := &tr.Hosts[1]
		h.End.Interfaces[0].TxBytes += more
		h.Others = others
		for _, c := range Trial(tr, nil) {
			if c.Check == Foreign && c.Pass != (others != nil) {
				t.Errorf("%s: %+v", name, c)
			}
		}
	}
}
