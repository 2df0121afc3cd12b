//go:build linux

package rounds

import (
	"context"
	"encoding/json"
	"fmt"
	"strings"
	"testing"
	"time"

	"linerate/internal/model/mesh"
	"linerate/internal/model/message"
	"linerate/internal/model/netstate"
	"linerate/internal/model/record"
)

// TestBegin: rounds begin so that they end within the hours, of which midnight may be part.
func TestBegin(t *testing.T) {
	zone := time.FixedZone("", 3600)
	at := func(day, hour, minute int) time.Time { return time.Date(2026, 3, day, hour, minute, 0, 0, zone) }
	for _, test := range []struct {
		hours     string
		now, want time.Time
		takes     time.Duration
	}{
		{"01:00-05:00", at(3, 2, 0), at(3, 2, 0), time.Minute},
		{"01:00-05:00", at(3, 4, 59), at(3, 4, 59), time.Minute},
		{"01:00-05:00", at(3, 4, 59), at(4, 1, 0), 2 * time.Minute},
		{"22:00-06:00", at(3, 5, 0), at(3, 5, 0), time.Minute},
		{"22:00-06:00", at(3, 5, 30), at(3, 22, 0), time.Hour},
		{"", at(3, 23, 59), at(3, 23, 59), time.Hour},
	} {
		hours, err := mesh.ParseHours(test.hours)
		if err != nil {
			t.Fatal(err)
		}
		c := prepare(&mesh.Plan{Hours: hours}, nil, nil, Options{Duration: test.takes - Overhead})
		if got := c.begin(test.now); !got.Equal(test.want) {
			t.Errorf("%s at %v: %v, want %v", test.hours, test.now, got, test.want)
		}
	}
}

// moved is a clock that sleeping moves.
type moved struct{ now time.Time }

func (m *moved) Now() time.Time                           { return m.now }
func (m *moved) Sleep(_ context.Context, d time.Duration) { m.now = m.now.Add(d) }

// TestAwaitHours: the wait is said once, and shown meanwhile.
func TestAwaitHours(t *testing.T) {
	m, said, phases := &moved{time.Date(2026, 3, 3, 23, 0, 0, 0, time.UTC)}, []string{}, map[string]bool{}
	plan := shiftsOf(2)
	plan.Hours = mesh.Hours{From: 60, To: 300}
	c := prepare(plan, nil, nil, Options{clock: m,
		Say: func(s string) { said = append(said, s) }, Progress: func(p Progress) { phases[p.Phase] = true }})
	c.run = c.header()
	if err := c.awaitHours(t.Context()); err != nil || m.now.Hour() != 1 || m.now.Day() != 4 {
		t.Errorf("%v, %v", err, m.now)
	}
	if len(said) != 1 || !strings.Contains(said[0], "01:00-05:00") || !phases["waiting until Wed 01:00"] {
		t.Errorf("said %q, %v", said, phases)
	}
	ended, cancel := context.WithCancel(t.Context())
	cancel()
	m.now = m.now.Add(10 * time.Hour)
	if err := c.awaitHours(ended); err == nil {
		t.Error("an interrupted wait went on")
	}
}

// TestChoose: of several addresses the one that hosts share a subnet by, on the fastest interface; never
// one that only its own link knows, or that several hosts have.
func TestChoose(t *testing.T) {
	up := func(name string, speed float64, addresses ...string) netstate.InterfaceSnapshot {
		return netstate.InterfaceSnapshot{Interface: name, Up: true, SpeedBps: speed, Addresses: addresses}
	}
	down := up("eth9", 100e9, "10.9.0.1/24")
	down.Up = false
	hosts := [][]netstate.InterfaceSnapshot{
		{up("mgmt", 1e9, "192.168.0.1/16"), up("data", 25e9, "fd00::1/64", "10.0.0.1/24"),
			up("docker0", 0, "172.17.0.1/16")},
		{up("mgmt", 1e9, "192.168.0.2/16"), up("data", 25e9, "10.0.0.2/24", "fd00::2/64"),
			up("docker0", 0, "172.17.0.1/16"), down},
		{up("mgmt", 1e9, "192.168.0.3/16", "fe80::1/64"), up("data", 100e9, "10.7.0.1/31")},
		{up("lo", 0, "127.0.0.1/8"), up("a", 0, "169.254.1.1/16")},
		{up("x", 10e9, "10.8.0.1/31"), up("y", 25e9, "10.8.0.3/31")},
	}
	var of [][]place
	for _, list := range hosts {
		of = append(of, candidates(message.Hello{Interfaces: list}))
	}
	chosen, sure := choose(of)
	for i, want := range []string{"10.0.0.1 true", "10.0.0.2 true", "192.168.0.3 true", "invalid IP true",
		"10.8.0.3 false"} {
		if got := fmt.Sprint(chosen[i].address, " ", sure[i]); got != want {
			t.Errorf("host %d: %s, want %s", i, got, want)
		}
	}
}

// shiftsOf is a plan of n hosts without rounds.
func shiftsOf(n int) *mesh.Plan { return shifts(names(n), 0) }

// TestCompact: what is kept of a pair is small, whatever hosts report, and what identifies its path is
// there.
func TestCompact(t *testing.T) {
	histogram := make([]byte, 1<<16)
	full := record.Flow{ID: "p250.1", Protocol: "rr", Source: "[2001:db8::1:2]:65535",
		Destination: "[2001:db8::2:2]:65535", ReceivedBytes: 1e10, GoodputBps: 9.41e9, RetransSegments: 1e5,
		Connected: true, Alive: true, Error: strings.Repeat("x\x1b", 1e4), SenderInfo: &netstate.TCPInfo{},
		Bins:      make([]int64, 1e4),
		Datagrams: &record.Datagrams{Sent: 1e9, Delay: &record.Distribution{Histogram: histogram}},
		Transactions: &record.Transactions{Done: 1e6, Latency: &record.Distribution{P50Us: 3,
			Histogram: histogram}}}
	one := together([]record.Flow{full, full})
	text, err := json.Marshal(one)
	if err != nil || len(text) > 2<<10 || strings.ContainsRune(one.Error, 0x1b) {
		t.Errorf("%v, %d bytes: %s", err, len(text), text)
	}
	if one.ID != "p250" || one.GoodputBps != 2*full.GoodputBps || one.Source != full.Source ||
		one.Transactions.Latency.P50Us != 3 {
		t.Errorf("%+v", one)
	}
	usual := record.Flow{ID: "p250.1", Protocol: "tcp", Source: "10.0.0.1:40000", Destination: "10.0.0.2:50000",
		From: "rack12-node13", To: "rack13-node14", OpenedBy: "rack12-node13", ReceivedBytes: 1e9, GoodputBps: 9.41e9,
		Connected: true, Alive: true}
	text, _ = json.Marshal(together([]record.Flow{usual}))
	t.Logf("%d bytes for a pair: %s", len(text), text)
	if len(text) > 600 {
		t.Errorf("%d bytes for a pair", len(text))
	}
}
