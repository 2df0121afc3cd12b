package bottleneck

import (
	"math"
	"strings"
	"testing"

	"linerate/internal/model/record"
)

// TestRefused: what the sender's own queue refused is counted apart from what was sent again, within
// what the host's counters leave to other connections.
func TestRefused(t *testing.T) {
	for _, test := range []struct {
		name              string
		failed, all, own  int64
		drops             uint64
		part              float64
		why, contradicted string
	}{
		{"most of them", 600, 1000, 1000, 200, 0.6, "60 % (600 of 1,000) never left it: refused by its own queue, tbf of client1.eth0, which dropped 200 packets", ""},
		{"no queue dropped", 600, 1000, 1000, 0, 0.6, "refused by client1 itself", "queue"},
		{"those of other connections may have failed", 600, 1000, 500, 200, 0.2, "20 % (100 of 500)", ""},
		{"those of other connections alone", 600, 2000, 500, 200, 0, "", "never left"},
		{"none", 0, 1000, 1000, 200, 0, "", "never left"},
		{"more than were sent again", 900, 800, 800, 200, 1, "100 % (800 of 800)", ""},
	} {
		trial, over := sound()
		f := &trial.Flows[0]
		for i := range trial.Flows {
			trial.Flows[i].RetransSegments = 0
		}
		f.RetransSegments = test.own
		h := reading(&trial, f.From)
		q := record.QdiscCounters{Interface: "eth0", Kind: "tbf", Handle: "1:"}
		h.Begin.Qdiscs, h.Begin.SNMP = []record.QdiscCounters{q}, map[string]int64{"Tcp.RetransSegs": 7, "TcpExt.TCPRetransFail": 5}
		q.Drops = test.drops
		child := q
		child.Handle, child.Kind = "10:", "bfifo"
		h.Begin.Qdiscs = append(h.Begin.Qdiscs, record.QdiscCounters{Interface: "eth0", Kind: "bfifo", Handle: "10:"})
		h.End.Qdiscs = []record.QdiscCounters{q, child}
		h.End.SNMP = map[string]int64{"Tcp.RetransSegs": 7 + test.all, "TcpExt.TCPRetransFail": 5 + test.failed}
		got := Attribute(trial.Flows, trial.Hosts, trial.WindowS, over, true)[0]
		if math.Abs(got.Refused-test.part) > 1e-9 || !strings.Contains(got.Why, test.why) || test.contradicted != "" && strings.Contains(got.Why, test.contradicted) {
			t.Errorf("%s: %.3g, %q; want %.3g, with %q, without %q", test.name, got.Refused, got.Why, test.part, test.why, test.contradicted)
		}
		if test.drops > 0 && test.part > 0 && strings.Contains(got.Why, "bfifo") {
			t.Errorf("%s: the drops of a qdisc are repeated: %q", test.name, got.Why)
		}
	}
}
