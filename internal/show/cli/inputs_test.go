package cli

import (
	"testing"
	"time"

	"linerate/internal/model/netstate"
)

// TestJoined: two snapshots of one host are the later one with what grew, if it is known when they were taken.
// Hosts of one name whose interfaces have other MAC addresses, such as network namespaces, stay two.
func TestJoined(t *testing.T) {
	at := time.Date(2026, 11, 29, 10, 0, 0, 0, time.UTC)
	host := func(mac string, taken time.Time, missed uint64) (s netstate.HostSnapshot) {
		s.Reading.Host, s.Taken = "nas", taken
		s.Reading.Snapshot.Interfaces = []netstate.InterfaceSnapshot{{Interface: "eth0", MAC: mac}}
		s.Reading.End.Interfaces = []netstate.InterfaceCounters{{Interface: "eth0", RxMissed: missed}}
		return s
	}
	for name, c := range map[string]struct {
		list  []netstate.HostSnapshot
		over  float64
		hosts int
		overS float64
	}{
		"later":            {[]netstate.HostSnapshot{host("m", at, 1), host("m", at.Add(10*time.Second), 5)}, 0, 1, 10},
		"in another order": {[]netstate.HostSnapshot{host("m", at.Add(10*time.Second), 5), host("m", at, 1)}, 0, 1, 10},
		"three, given": {[]netstate.HostSnapshot{host("m", time.Time{}, 1), host("m", time.Time{}, 2),
			host("m", time.Time{}, 5)}, 5, 1, 10},
		"unknown":      {[]netstate.HostSnapshot{host("m", time.Time{}, 1), host("m", time.Time{}, 5)}, 0, 2, 0},
		"another host": {[]netstate.HostSnapshot{host("m", at, 1), host("n", at.Add(time.Second), 5)}, 0, 2, 0},
	} {
		got := joined(c.list, c.over)
		last := got[len(got)-1]
		if len(got) != c.hosts || last.OverS != c.overS {
			t.Errorf("%s: %d hosts, over %v s", name, len(got), last.OverS)
			continue
		}
		if c.hosts == 1 && last.Reading.End.Interfaces[0].RxMissed-last.Reading.Begin.Interfaces[0].RxMissed != 4 {
			t.Errorf("%s: %+v after %+v", name, last.Reading.End.Interfaces, last.Reading.Begin.Interfaces)
		}
	}
}
