package snmp

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"math"
	"net"
	"os"
	"strings"
	"syscall"
	"testing"
	"time"

	"github.com/gosnmp/gosnmp"

	"linerate/internal/kernel/sched"
	"linerate/internal/model/netstate"
	"linerate/internal/model/record"
	"linerate/internal/model/topology"
)

func TestCredentials(t *testing.T) {
	v3 := "user: linerate\nauth_protocol: SHA-256\nauth_password: 'correct horse'\npriv_protocol: " +
		"aes\npriv_password: battery staple\n"
	for name, c := range map[string]struct {
		text, version, wrong string
	}{
		"community":       {"# of the rack\ncommunity: swordfish\n", "2c", ""},
		"default version": {"community: swordfish", "", ""},
		"user":            {v3, "3", ""},
		"no privacy":      {"user: u\nauth_protocol: MD5\nauth_password: 12345678", "3", ""},
		"a secret alone":  {"swordfish\n", "2c", "line 1: expected KEY: VALUE with community"},
		"wrong version":   {v3, "2c", "line 1: expected"},
		"nothing":         {"", "2c", "community is missing"},
		"no user":         {"auth_protocol: SHA\nauth_password: swordfish", "3", "user is missing"},
		"twice":           {"community: swordfish\ncommunity: b", "2c", "line 2: community is given twice"},
		"short password":  {"user: u\nauth_protocol: SHA\nauth_password: xyzzy", "3", "at least 8 characters"},
		"unknown protocol": {"user: u\nauth_protocol: swordfish\nauth_password: 12345678", "3",
			"auth_protocol is not known"},
		"protocol alone": {"user: u\nauth_protocol: SHA", "3", "expected both"},
		"privacy by itself": {"user: u\npriv_protocol: AES\npriv_password: swordfish", "3",
			"no privacy without authentication"},
		"a key with no value": {"community:", "2c", "community has no value"},
	} {
		got, err := ReadCredentials(secret(t, c.text, 0o600), c.version)
		if (err == nil) != (c.wrong == "") || err != nil && !strings.Contains(err.Error(), c.wrong) {
			t.Errorf("%s: %v", name, err)
		}
		if err != nil && (strings.Contains(err.Error(), "swordfish") || strings.Contains(err.Error(), "xyzzy")) {
			t.Errorf("%s: the error has the secret: %v", name, err)
		}
		if said := fmt.Sprintf("%v %+v %#v %s", got, got, got, got); strings.Contains(said, "swordfish") ||
			strings.Contains(said, "horse") {
			t.Errorf("%s: credentials print as %s", name, said)
		}
		if _, err := json.Marshal(got); err == nil {
			t.Errorf("%s: credentials can be in a document", name)
		}
	}
	if _, err := ReadCredentials(secret(t, "community: swordfish", 0o644), ""); err == nil ||
		!strings.Contains(err.Error(), "0600") {
		t.Errorf("a file for everybody: %v", err)
	}
	if _, err := ReadCredentials("/does/not/exist", ""); err == nil || !strings.Contains(err.Error(), "no such file") {
		t.Errorf("no file: %v", err)
	}
}

func TestMatch(t *testing.T) {
	f := &found{
		interfaces: []iface{{1, "gi1"}, {2, "gi2"}, {3, "gi3"}, {4, "gi4"}, {49, "Po1"}, {7, "twin"}, {8, "twin"}},
		fdb: []learned{{"02:00:00:00:00:01", 1}, {"02:00:00:00:00:02", 2}, {"02:00:00:00:00:12", 2},
			{"02:00:00:00:00:03", 3}, {"02:00:00:00:00:03", 4},
			{"02:00:00:00:00:04", 99}},
		neighbours: []neighbour{{index: 3, system: "nas.example.org", port: "eth3"}, {index: 4,
			port: "02:00:00:00:00:05"}},
	}
	end := func(text string) (e topology.End) {
		if err := e.UnmarshalText([]byte(text)); err != nil {
			t.Fatal(err)
		}
		return e
	}
	for name, c := range map[string]struct {
		want    Wanted
		index   int
		missing string
	}{
		"by MAC address": {Wanted{Port: "a-eth0", Peer: end("a.eth0"), MAC: "02:00:00:00:00:01"}, 1, ""},
		"in capitals": {Wanted{Port: "a-eth0", Peer: end("a.eth0"), MAC: "02:00:00:00:00:0C"}, 0,
			"does not have"},
		"named": {Wanted{Port: "a-eth0", Peer: end("a.eth0"), Interface: "Po1",
			MAC: "02:00:00:00:00:01"}, 49, ""},
		"numbered": {Wanted{Port: "a-eth0", Peer: end("a.eth0"), Interface: "4"}, 4, ""},
		"named wrongly": {Wanted{Port: "a-eth0", Peer: end("a.eth0"), Interface: "gi9"}, 0,
			`no interface "gi9"`},
		"two of the name": {Wanted{Port: "a-eth0", Peer: end("a.eth0"), Interface: "twin"}, 0,
			`no interface "twin"`},
		"the port's own name": {Wanted{Port: "gi2", Peer: end("a.eth0")}, 2, ""},
		"behind two interfaces": {Wanted{Port: "a-eth0", Peer: end("a.eth0"), MAC: "02:00:00:00:00:03"}, 0,
			"behind several"},
		"LLDP by names":       {Wanted{Port: "nas-eth3", Peer: end("nas.eth3"), MAC: "02:00:00:00:00:0a"}, 3, ""},
		"LLDP by MAC address": {Wanted{Port: "b-eth0", Peer: end("b.eth0"), MAC: "02:00:00:00:00:05"}, 4, ""},
		"LLDP of the host":    {Wanted{Port: "b-eth0", Peer: end("b.eth0"), LLDP: "gi4"}, 4, ""},
		"of no interface": {Wanted{Port: "b-eth0", Peer: end("b.eth0"), MAC: "02:00:00:00:00:04"}, 0,
			"does not have"},
		"another switch": {Wanted{Port: "core", Peer: end("core")}, 0, "the MAC address of core is not known"},
	} {
		p := f.match([]Wanted{c.want})[0]
		if p.Index != c.index || (p.Missing == "") != (c.missing == "") || !strings.Contains(p.Missing, c.missing) ||
			(p.Found == "") != (c.missing != "") {
			t.Errorf("%s: %d, found %q, missing %q", name, p.Index, p.Found, p.Missing)
		}
		if c.index == 0 && !strings.Contains(p.Missing, "gi9") && !strings.Contains(p.Missing, "twin") &&
			!strings.Contains(p.Missing, "snmp: ports: {"+c.want.Port) {
			t.Errorf("%s: %q does not say what helps", name, p.Missing)
		}
	}
	both := f.match([]Wanted{{Port: "a-eth0", Peer: end("a.eth0"), MAC: "02:00:00:00:00:02"},
		{Port: "b-eth0", Peer: end("b.eth0"), MAC: "02:00:00:00:00:12"}})
	for _, p := range both {
		if p.Index != 0 || !strings.Contains(p.Missing, "leads to another switch") {
			t.Errorf("two hosts behind one interface: %+v", p.SwitchPort)
		}
	}
}

var nas = Wanted{Port: "nas-eth0", Peer: topology.End{Node: "nas", Interface: "eth0"},
	MAC: "02:00:00:00:00:01", Bps: 1e9}

func TestDiscover(t *testing.T) {
	f := newFake(t)
	f.port(1001, "gi1", 64, 0, 1e8, 0)
	f.port(1002, "gi2", 64, 0, 1e8, 0)
	f.value(ifAlias+".1002", gosnmp.OctetString, "to the \x1b[31mNAS")
	for i := range 40 { // more than one reply
		f.forwards(dot1qTpFdbPort, []int{1, 2, 0, 0, 0, 1, i}, 1, 1001)
	}
	f.forwards(dot1qTpFdbPort, []int{7, 2, 0, 0, 0, 0, 1}, 2, 1002)
	f.serve()
	s := f.open(t)
	if err := s.Discover(context.Background(), []Wanted{nas}); err != nil {
		t.Fatal(err)
	}
	p := s.ports[0]
	if p.Name != "gi2" || p.Index != 1002 || p.Bits != 64 || p.SpeedBps != 1e9 || p.Missing != "" {
		t.Errorf("found %+v", p.SwitchPort)
	}
	if strings.ContainsRune(p.Alias+s.found.system, '\x1b') || !strings.HasPrefix(p.Alias, "to the ") {
		t.Errorf("alias %q, system %q", p.Alias, s.found.system)
	}
	table := s.record("").FDB
	if len(table) != 41 || table[0] != (netstate.FDBEntry{MAC: "02:00:00:00:00:01", Interface: "nas-eth0",
		Peer: "nas.eth0"}) {
		t.Errorf("%d entries, first %+v", len(table), table[0])
	}
}

// TestDiscoverOldBridge reads the table without VLANs, of a device with 32-bit counters.
func TestDiscoverOldBridge(t *testing.T) {
	f := newFake(t)
	f.port(3, "port3", 32, 0, 1e8, 0)
	f.forwards(dot1dTpFdbPort, []int{2, 0, 0, 0, 0, 1}, 11, 3)
	f.serve()
	s := f.open(t)
	if err := s.Discover(context.Background(), []Wanted{nas}); err != nil {
		t.Fatal(err)
	}
	if p := s.ports[0]; p.Name != "port3" || p.Bits != 32 {
		t.Errorf("found %+v", p.SwitchPort)
	}
}

// window watches a switch for a window that begins soon, and returns what it counted.
func window(t *testing.T, s *Switch, length time.Duration) (record.SwitchReading, time.Duration) {
	t.Helper()
	w := s.Watch(context.Background(), nil)
	begin := sched.Now() + int64(300*time.Millisecond)
	end := begin + int64(length)
	w.Schedule(begin, end)
	time.Sleep(time.Duration(end - sched.Now() + int64(50*time.Millisecond)))
	asked := time.Now()
	r := w.Reading(begin, end)
	return r, time.Since(asked)
}

// prompt is how long a reading may take at most after the window.
const prompt = pollTimeout + stopping + time.Second

func discovered(t *testing.T, f *fake) *Switch {
	t.Helper()
	f.forwards(dot1qTpFdbPort, []int{1, 2, 0, 0, 0, 0, 1}, 1, 1)
	f.serve()
	s := f.open(t)
	if err := s.Discover(context.Background(), []Wanted{nas}); err != nil {
		t.Fatal(err)
	}
	return s
}

func TestWatch(t *testing.T) {
	const bps = 400e6
	for name, c := range map[string]struct {
		bits    int
		start   uint64
		refresh time.Duration
		window  time.Duration
		missing string
	}{
		"at each request":  {64, 0, 0, time.Second, ""},
		"wraps at 32 bits": {32, 1<<32 - 30e6, 0, time.Second, ""},
		"beyond 32 bits":   {64, 1<<32 - 30e6, 0, time.Second, ""},
		// Of 8 s between two refreshes at least 6.3 s are known, as far as polls see them: 70 % are
		// enough. Of 5 s it may be 3.6 s.
		"cached":                 {64, 0, 900 * time.Millisecond, 8 * time.Second, ""},
		"cached for too long":    {64, 0, 900 * time.Millisecond, 3 * time.Second, "set workload.duration to"},
		"cached beyond a window": {64, 0, time.Minute, time.Second, "changed too rarely"},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			f := newFake(t)
			f.port(1, "gi1", c.bits, c.start, bps, c.refresh)
			s := discovered(t, f)
			r, took := window(t, s, c.window)
			if took > prompt || len(r.Ports) != 1 {
				t.Fatalf("after %v: %+v", took, r)
			}
			p := r.Ports[0]
			if c.missing != "" {
				if !strings.Contains(p.Missing, c.missing) || p.Counters.InOctets != 0 {
					t.Errorf("missing %q, counters %+v", p.Missing, p.Counters)
				}
				return
			}
			if p.Missing != "" {
				t.Fatal(p.Missing)
			}
			rate := float64(p.Counters.InOctets) * 8 / p.Seconds()
			if off := math.Abs(rate/bps - 1); off > 0.001+p.DoubtS/p.Seconds() {
				t.Errorf("%.4g bit/s of %.4g over %.3g s, doubt %.3g s", rate, bps, p.Seconds(), p.DoubtS)
			}
			if want := c.refresh.Seconds(); r.RefreshS < want/2 || r.RefreshS > 2*want {
				t.Errorf("refreshed every %.3g s, want %.3g", r.RefreshS, want)
			}
		})
	}
}

// TestSilentHost: a host whose MAC address the switch has forgotten is found once it talks.
func TestSilentHost(t *testing.T) {
	t.Parallel()
	f := newFake(t)
	f.port(1, "gi1", 64, 0, 400e6, 0)
	f.serve()
	s := f.open(t)
	if err := s.Discover(context.Background(), []Wanted{nas}); err != nil {
		t.Fatal(err)
	}
	for range mostSearches - 1 {
		if r, _ := window(t, s, 300*time.Millisecond); !strings.Contains(r.Ports[0].Missing,
			"gives no forwarding table") {
			t.Errorf("before it talks: %+v", r.Ports)
		}
	}
	f.forwards(dot1qTpFdbPort, []int{1, 2, 0, 0, 0, 0, 1}, 1, 1)
	if r, _ := window(t, s, time.Second); r.Ports[0].Missing != "" || r.Ports[0].Name != "gi1" || len(r.FDB) != 1 {
		t.Errorf("after it talked: %+v", r)
	}
}

// TestLearn learns the refresh interval before the first trial, so that a window which is too
// short is known for what it is.
func TestLearn(t *testing.T) {
	t.Parallel()
	f := newFake(t)
	f.port(1, "gi1", 64, 0, 400e6, 900*time.Millisecond)
	s := discovered(t, f)
	s.Learn(context.Background())
	if !s.learned || s.refreshS < 0.45 || s.refreshS > 1.8 {
		t.Fatalf("learned %t, %.3g s", s.learned, s.refreshS)
	}
	r, _ := window(t, s, time.Second)
	if !strings.Contains(r.Ports[0].Missing, "its counters change every") ||
		!strings.Contains(r.Ports[0].Missing, "set workload.duration to") {
		t.Errorf("missing %q", r.Ports[0].Missing)
	}
	idle := newFake(t)
	idle.port(1, "gi1", 64, 0, 0, 0)
	s = discovered(t, idle)
	began := time.Now()
	if s.Learn(context.Background()); s.learned || time.Since(began) > learning-time.Second {
		t.Errorf("an idle switch: learned %t after %v", s.learned, time.Since(began))
	}
}

// TestPauses: counters that change rarely, as those of a switch that refreshes them seldom do,
// may also be of traffic that pauses. What was seen of one that counts at each request is kept,
// and replaces what was taken for its refreshes.
func TestPauses(t *testing.T) {
	const pauses = 900 * time.Millisecond
	for name, first := range map[string]time.Duration{"pauses after": 0, "pauses before": pauses} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			f := newFake(t)
			f.port(1, "gi1", 64, 0, 400e6, first)
			s := discovered(t, f)
			if s.Learn(context.Background()); !s.learned || (s.refreshS > 0) != (first > 0) {
				t.Fatalf("learned %t, %.3g s", s.learned, s.refreshS)
			}
			f.port(1, "gi1", 64, 0, 400e6, pauses-first)
			if r, _ := window(t, s, 3*time.Second); r.RefreshS != 0 || r.Ports[0].Missing != "" {
				t.Errorf("refreshed every %.3g s, missing %q", r.RefreshS, r.Ports[0].Missing)
			}
		})
	}
}

// refusing is a connection that this host's firewall refuses.
type refusing struct{ net.Conn }

func (refusing) Write([]byte) (int, error) {
	return 0, &net.OpError{Op: "write", Net: "udp", Err: os.NewSyscallError("write", syscall.EPERM)}
}

// TestNotSent: what this host refuses to send is not said of the switch.
func TestNotSent(t *testing.T) {
	s := newFake(t).open(t)
	s.device.latest.Conn = refusing{s.device.latest.Conn}
	err := s.Discover(context.Background(), []Wanted{nas})
	if !errors.Is(err, syscall.EPERM) || !strings.Contains(err.Error(), "this host does not send to 127.0.0.1") {
		t.Error(err)
	}
}

// TestBadSwitches: whatever a switch does, the trial is not delayed and has the reason.
func TestBadSwitches(t *testing.T) {
	for name, c := range map[string]struct {
		turns   func(*fake) // bad, once it is discovered
		missing string
	}{
		"dead":  {func(f *fake) { f.silent.Store(true) }, "no answer"},
		"late":  {func(f *fake) { f.delay.Store(int64(3 * time.Second)) }, "no answer"},
		"slow":  {func(f *fake) { f.delay.Store(int64(1200 * time.Millisecond)) }, "no answer"},
		"steps": {func(f *fake) { f.delay.Store(int64(100 * time.Millisecond)) }, ""},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			f := newFake(t)
			f.port(1, "gi1", 64, 0, 400e6, 0)
			s := discovered(t, f)
			c.turns(f)
			r, took := window(t, s, 800*time.Millisecond)
			if took > prompt || (r.Missing == "") != (c.missing == "") || !strings.Contains(r.Missing, c.missing) {
				t.Errorf("after %v: %+v", took, r)
			}
		})
	}
}

func TestRestart(t *testing.T) {
	t.Parallel()
	for name, c := range map[string]struct {
		change func(f *fake)
		want   string
	}{
		"restart": {func(f *fake) { f.value(sysUpTime, gosnmp.TimeTicks, uint32(3)) }, "restarted"},
		"discontinuity": {func(f *fake) { f.value(ifDiscontinuity+".1", gosnmp.TimeTicks, uint32(77)) },
			"ifCounterDiscontinuityTime"},
		"backwards": {func(f *fake) { f.value(counters[0].wide+".1", gosnmp.Counter64, uint64(5)) }, "decreased"},
		"vanished": {func(f *fake) { f.value(counters[9].narrow+".1", gosnmp.NoSuchInstance, nil) },
			"disappeared"},
	} {
		f := newFake(t)
		f.port(1, "gi1", 64, 1<<20, 400e6, 0)
		f.value(ifDiscontinuity+".1", gosnmp.TimeTicks, uint32(0))
		f.value(sysUpTime, gosnmp.TimeTicks, uint32(1000))
		s := discovered(t, f)
		r := newSeries(s.readable(nil))
		if err := s.poll(context.Background(), r); err != nil {
			t.Fatal(err)
		}
		c.change(f)
		if err := s.poll(context.Background(), r); err != nil {
			t.Fatal(err)
		}
		if !strings.Contains(r.broken[0], c.want) {
			t.Errorf("%s: %q", name, r.broken[0])
		}
	}
}

// TestHostileReplies: replies that are no answers end in a sentence, soon.
func TestHostileReplies(t *testing.T) {
	for name, garbled := range map[string]func([]byte) []byte{
		"nothing":   func([]byte) []byte { return []byte{} },
		"noise":     func([]byte) []byte { return []byte("\x30\x84\xff\xff\xff\xff\x02\x01\x01") },
		"truncated": func(b []byte) []byte { return b[:len(b)/2] },
		"flipped": func(b []byte) []byte {
			for i := range b {
				if i > 30 {
					b[i] ^= 0xff
				}
			}
			return b
		},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			f := newFake(t)
			f.garbled = garbled
			f.serve()
			began := time.Now()
			err := f.open(t).Discover(context.Background(), []Wanted{nas})
			if err == nil || strings.ContainsAny(err.Error(), "\n\x1b") || strings.Contains(err.Error(), community) ||
				len(err.Error()) > 200 {
				t.Errorf("%v", err)
			}
			if took := time.Since(began); took > 3*patience {
				t.Errorf("after %v", took)
			}
		})
	}
}

// TestEndlessTable: rows that go on for ever, or round, are read no further.
func TestEndlessTable(t *testing.T) {
	f := newFake(t)
	for i := range mostInterfaces + 50 {
		f.value(fmt.Sprintf("%s.%d", ifName, i+1), gosnmp.OctetString, fmt.Sprintf("gi%d", i+1))
	}
	f.serve()
	s := f.open(t)
	if err := s.Discover(context.Background(), []Wanted{nas}); err != nil {
		t.Fatal(err)
	}
	if n := len(s.found.interfaces); n != mostInterfaces ||
		!strings.Contains(strings.Join(s.found.lacking, " "), "more than") {
		t.Errorf("%d interfaces, lacking %q", n, s.found.lacking)
	}
}

func TestWrongCommunity(t *testing.T) {
	t.Parallel()
	f := newFake(t)
	f.serve()
	err := opened(t, f.snmp(), Community("guess-of-mine")).Discover(context.Background(), []Wanted{nas})
	if err == nil || !strings.Contains(err.Error(), "the community is wrong") ||
		strings.Contains(err.Error(), "guess") {
		t.Errorf("%v", err)
	}
}
