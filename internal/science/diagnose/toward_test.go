package diagnose

import (
	"testing"

	"linerate/internal/model/netstate"

	"linerate/internal/science/diagnose/diagnosetest"
	"linerate/internal/science/diagnose/facts"
)

// TestToward: a finding about connections follows from one of the host to which all of them
// lead, and from none where they lead to others as well.
func TestToward(t *testing.T) {
	for _, test := range []struct {
		remotes        []string
		toward, follow string
	}{
		{[]string{"192.0.2.15:80", "192.0.2.15:80"}, "nas", "accept-queue-full"},
		{[]string{"192.0.2.15:80", "192.0.2.15:81"}, "nas", ""}, // whose queue is not full
		{[]string{"192.0.2.15:80", "192.0.2.17:80"}, "", ""},
		{[]string{"192.0.2.15:80", "198.51.100.7:80"}, "", ""},
		{[]string{"192.0.2.17:80"}, "other", ""},
		{[]string{"198.51.100.7:80"}, "", ""},
	} {
		nas, client, other := diagnosetest.HostNamed("nas", 15), diagnosetest.HostNamed("client", 16),
			diagnosetest.HostNamed("other", 17)
		nas.State.Listeners = []netstate.Listener{{Protocol: "tcp", Local: "0.0.0.0:80", Queued: 17, Backlog: 16}}
		for _, s := range []*netstate.HostSnapshot{&nas, &client, &other} {
			s.Reading.Snapshot.Routes = []netstate.RouteEntry{
				netstate.ParseRoute(facts.MainTable, "192.0.2.0/24", "192.0.2.0/24 dev eth0 proto kernel scope link")}
		}
		for _, remote := range test.remotes {
			client.State.Notable = append(client.State.Notable, netstate.Connection{Local: "192.0.2.16:9",
				Remote: remote,
				State:  "SYN-SENT", Info: &netstate.TCPInfo{Retransmits: 2}})
		}
		found := false
		for _, f := range Hosts([]netstate.HostSnapshot{nas, client, other}).Findings {
			if f.ID != "syn-unanswered" {
				continue
			}
			if found = true; f.Toward != test.toward || f.ExplainedBy != test.follow {
				t.Errorf("%v: toward %q, follows from %q", test.remotes, f.Toward, f.ExplainedBy)
			}
		}
		if !found {
			t.Errorf("%v: nothing is found", test.remotes)
		}
	}
}
