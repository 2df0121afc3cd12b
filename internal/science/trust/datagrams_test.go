package trust

import (
	"math"
	"slices"
	"strings"
	"testing"

	"linerate/internal/model/flow"
	"linerate/internal/model/netstate"
	"linerate/internal/model/record"
)

// packets is a trial of one flow of datagrams for a second: so many sent, lost on
// the way, and lost in the receiver's buffer behind its interface.
func packets(sent, lost, inBuffer int64, bytes, mtu int, destination string) record.Trial {
	received := sent - lost - inBuffer
	flow := record.Flow{
		ID: "f", From: "client", To: "server", Protocol: flow.UDP, Destination: destination,
		Connected: true, Alive: true,
		ReceivedBytes: received * int64(bytes), WrittenBytes: sent * int64(bytes), SentBytes: sent * int64(bytes),
		Datagrams: &record.Datagrams{
			Sent: sent, Received: received, Lost: lost + inBuffer, LostInBuffer: inBuffer,
			Bytes: bytes, MTU: mtu, BufferBytes: 1 << 20,
		},
	}
	frames := headers(flow)
	// What the mean of headers is of: as many packets as a datagram takes.
	each := math.Ceil(float64(bytes+8) / float64(mtu-20-20*strings.Count(destination, "[")))
	port := func(datagrams int64) netstate.InterfaceCounters {
		n := float64(datagrams) * each
		return netstate.InterfaceCounters{Interface: "eth0", RxPackets: uint64(n),
			RxBytes: uint64(float64(datagrams*int64(bytes)) + n*frames)}
	}
	const second = int64(1e9)
	host := func(name string, into, out int64) netstate.HostReading {
		h := netstate.HostReading{Host: name}
		h.End.Interfaces = []netstate.InterfaceCounters{port(into)}
		leaving := port(out)
		h.End.Interfaces[0].TxBytes, h.End.Interfaces[0].TxPackets = leaving.RxBytes, leaving.RxPackets
		h.End.Interfaces[0].AtNs = second
		h.Begin.Interfaces = []netstate.InterfaceCounters{{Interface: "eth0"}}
		h.End.ScheduledNs, h.End.BeganNs, h.End.EndedNs = second, second, second
		h.Begin.ScheduledNs, h.Begin.BeganNs, h.Begin.EndedNs = 1, 1, 1
		return h
	}
	return record.Trial{
		WindowS: 1, GoodputBps: float64(flow.ReceivedBytes) * 8, Flows: []record.Flow{flow},
		Hosts: []netstate.HostReading{host("client", 0, sent), host("server", received+inBuffer, 0)},
	}
}

// TestDatagrams: what was lost is a result and fails no check; what cannot have
// been does.
func TestDatagrams(t *testing.T) {
	const v4, v6 = "10.0.0.1:5000", "[fd00::1]:5000"
	for _, test := range []struct {
		name   string
		trial  record.Trial
		failed string
	}{
		{"nothing lost", packets(100_000, 0, 0, 1448, 1500, v4), ""},
		{"lost in the network", packets(100_000, 40_000, 0, 1448, 1500, v4), ""},
		{"lost in the buffer", packets(100_000, 0, 40_000, 1448, 1500, v4), ""},
		{"lost in both", packets(100_000, 20_000, 40_000, 1448, 1500, v6), ""},
		{"small ones", packets(100_000, 0, 0, 16, 1500, v4), ""},
		{"in several packets", packets(10_000, 0, 0, 65507, 1500, v4), ""},
		{"in several packets, IPv6", packets(10_000, 500, 0, 9000, 1500, v6), ""},
		{"more than was sent", func() record.Trial {
			t := packets(100_000, 0, 0, 1448, 1500, v4)
			t.Flows[0].WrittenBytes /= 2
			t.Flows[0].SentBytes /= 2
			t.Flows[0].Datagrams.Sent /= 2
			return t
		}(), Conservation},
		{"more lost than was sent", func() record.Trial {
			t := packets(100_000, 0, 0, 1448, 1500, v4)
			t.Flows[0].Datagrams.Lost += 10_000
			return t
		}(), Conservation},
		{"less at the interface than was received", func() record.Trial {
			t := packets(100_000, 0, 0, 1448, 1500, v4)
			t.Hosts[1].End.Interfaces[0].RxBytes /= 2
			return t
		}(), Wire},
		{"more at the interface than was lost", func() record.Trial {
			t := packets(100_000, 0, 10_000, 1448, 1500, v4)
			t.Hosts[1].End.Interfaces[0].RxBytes *= 2
			return t
		}(), Wire},
	} {
		found := false
		for _, c := range Trial(test.trial, nil) {
			found = found || c.Check == test.failed
			if c.Check == Foreign && test.failed != "" {
				continue // the same fact once more
			}
			if c.Pass != (c.Check != test.failed) {
				t.Errorf("%s: %+v", test.name, c)
			}
		}
		if test.failed != "" && !found {
			t.Errorf("%s: there is no check %s", test.name, test.failed)
		}
	}
	for _, c := range Trial(packets(1000, 10, 0, 1448, 1500, v4), nil) {
		if c.Check == Conservation && !rests(c, `"lost_datagrams":10,`) {
			t.Errorf("the loss is not reported: %+v", c)
		}
	}
}

// TestLateReader: on a host that reads an edge late, datagrams may have waited unread as
// long, up to the buffer.
func TestLateReader(t *testing.T) {
	for _, test := range []struct {
		late   int64
		before float64 // bytes that had arrived before the window
		pass   bool
	}{
		{30e6, 12e6, true},
		{30e6, 16e6, false},
		{0, 5e6, false},
	} {
		trial := packets(100_000, 0, 0, 1448, 1500, "10.0.0.1:5000")
		trial.Flows[0].Datagrams.BufferBytes = 8 << 20
		server := &trial.Hosts[1]
		server.Begin.EndedNs += test.late
		server.End.EndedNs += test.late
		server.End.Interfaces[0].RxBytes -= uint64(test.before)
		for _, c := range Trial(trial, nil) {
			if c.Check == Wire && c.Pass != test.pass {
				t.Errorf("%d ns late, %g bytes before: %+v", test.late, test.before, c)
			}
		}
	}
}

// TestNotCounted: where no interface was counted, no check of what interfaces carried
// is made; none passes for want of evidence.
func TestNotCounted(t *testing.T) {
	trial := packets(100_000, 0, 0, 1448, 1500, "10.0.0.1:5000")
	made := func() (names []string) {
		for _, c := range Trial(trial, nil) {
			names = append(names, c.Check)
		}
		return names
	}
	if names := made(); !slices.Contains(names, Wire) || !slices.Contains(names, Foreign) {
		t.Fatalf("with counters: %v", names)
	}
	for i := range trial.Hosts {
		trial.Hosts[i].Begin.Interfaces, trial.Hosts[i].End.Interfaces = nil, nil
	}
	if names := made(); slices.Contains(names, Wire) || slices.Contains(names, Foreign) ||
		slices.Contains(names, Steal) {
		t.Errorf("without counters: %v", names)
	}
}

// TestUnreadWithoutInfo: bytes acknowledged and not read yet are the receive buffer's
// where the receiver's kernel has no other counts of them.
func TestUnreadWithoutInfo(t *testing.T) {
	one := record.Flow{
		ID: "f", From: "client", To: "server", Connected: true, Alive: true,
		ReceivedBytes: 100e6, WrittenBytes: 105e6, SentBytes: 105e6, AckedBytes: 105e6, SenderInfo: &netstate.TCPInfo{},
	}
	for buffer, pass := range map[int64]bool{1 << 20: false, 6 << 20: true} {
		one.RcvbufBytes = buffer
		for _, c := range Trial(record.Trial{WindowS: 1, Flows: []record.Flow{one}}, nil) {
			if c.Check == Conservation && c.Pass != pass {
				t.Errorf("with a buffer of %d bytes: %+v", buffer, c)
			}
		}
	}
}
