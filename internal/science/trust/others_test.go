package trust

import (
	"testing"

	"linerate/internal/model/record"
)

// What the same process is known to have carried for other clients is not foreign
// traffic; what exceeds that is.
func TestOthersAreKnown(t *testing.T) {
	const more = 50e6
	for _, test := range []struct {
		name    string
		carried uint64 // by the server's interfaces beyond the trial's flows
		counted *record.OtherFlows
		pass    bool
	}{
		{"no others", 0, nil, true},
		{"others, counted", more, &record.OtherFlows{Clients: 2, Flows: 2, ReceivedBytes: more}, true},
		{"others, not counted", more, nil, false},
		{"more than was counted", 2 * more, &record.OtherFlows{Clients: 2, Flows: 2, ReceivedBytes: more}, false},
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

// The same of what a server sends.
func TestOthersAreSentTo(t *testing.T) {
	const more = 50e6
	for name, others := range map[string]*record.OtherFlows{
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
