package pasted

import (
	"strings"
	"testing"

	"linerate/internal/model/syntax"
)

// TestPrune: a row of a text with a name that is none is not read, and named with the name escaped. Others are read,
// also those with rare names.
func TestPrune(t *testing.T) {
	const rows = "$ ip neigh\n" +
		"192.0.2.1 dev eth0 lladdr 02:00:00:00:00:01 STALE\n" +
		"192.0.2.2 dev br-größe lladdr 02:00:00:00:00:02 STALE\n" +
		"192.0.2.3 dev eth0.100 lladdr 02:00:00:00:00:03 STALE\n" +
		"$ ip route\n" +
		"192.0.2.0/24 dev eth0 proto kernel scope link src 192.0.2.9\n" +
		"198.51.100.0/24 via $(reboot) dev eth0\n" +
		"203.0.113.0/24 via 192.0.2.1 dev $(reboot)\n" +
		"$ sysctl -a\n" +
		"net.ipv4.conf.eth0/100.rp_filter = 1\n"
	p, err := Parse(rows)
	if err != nil {
		t.Fatal(err)
	}
	s := p.Machines[0]
	if err := syntax.Check(&s); err != nil {
		t.Error(err)
	}
	said := strings.Join(p.NotUnderstood, "\n")
	if strings.Count(said, "$(reboot)") != 2 || p.Lost != 2 {
		t.Errorf("%d lines not read: %s", p.Lost, said)
	}
	names := ""
	for _, n := range s.Reading.Snapshot.Neighbours {
		names += n.Interface + " "
	}
	if names != "eth0 br-größe eth0.100 " || len(s.Reading.Snapshot.Routes) != 1 || len(s.State.Parameters) != 1 {
		t.Errorf("%q, routes %+v, %v", names, s.Reading.Snapshot.Routes, s.State.Parameters)
	}
}
