//go:build linux && !portable

package hoststate

import (
	"context"
	"math"
	"net"
	"slices"
	"testing"
	"time"

	"linerate/internal/kernel/kerneltest"
	"linerate/internal/model/record"
	"linerate/internal/science/bottleneck"
)

// sampled reads a host of a bench again and again while act is at work, and once more after
// it. Act gets what ends the wait for a sample.
func (b *bench) sampled(host string, interval time.Duration, act func()) (list []record.HostSample) {
	b.t.Helper()
	done := make(chan struct{})
	started := make(chan struct{})
	go func() {
		<-started
		act()
		close(done)
	}()
	b.in(host, func() error {
		s, err := NewSampler(host, interval)
		if err != nil {
			return err
		}
		defer s.Close()
		close(started)
		for last := false; !last; {
			select {
			case <-done:
				last = true
			default:
			}
			sample, err := s.Next(context.Background())
			if err != nil {
				return err
			}
			list = append(list, sample)
		}
		return nil
	})
	return list
}

// TestSamplerCountsPackets: packets that a program sends at 50,000/s are those that samples of
// both ends have, to 1 %, in number and in the time that they took.
func TestSamplerCountsPackets(t *testing.T) {
	kerneltest.InNamespace(t, func(t *testing.T) {
		const perS, seconds, size = 50_000, 2, 100
		b := newBench(t)
		b.udp("server", "10.0.0.1:9000", "")
		conn := b.udp("client", "", "10.0.0.1:9000")
		send(conn, 1, size) // resolves the neighbour
		time.Sleep(100 * time.Millisecond)
		sent, took := 0, 0.0
		list := b.sampled("client", 250*time.Millisecond, func() { sent, took = paced(conn, perS, perS*seconds, size) })
		carried, bits, busy := 0.0, 0.0, 0.0
		for _, s := range list {
			i := slices.IndexFunc(s.Interfaces, func(r record.InterfaceRates) bool { return r.Interface == "eth0" })
			if i < 0 {
				t.Fatalf("no eth0 in %+v", s.Interfaces)
			}
			carried += s.Interfaces[i].TxPps * s.WindowS
			bits += s.Interfaces[i].TxBps * s.WindowS
			busy = max(busy, s.Interfaces[i].TxPps)
		}
		t.Logf("%d packets in %.2f s; samples: %.0f packets, the highest rate %.0f/s", sent, took, carried, busy)
		if math.Abs(carried-float64(sent)) > 0.01*float64(sent) {
			t.Errorf("samples have %.0f packets, sent were %d", carried, sent)
		}
		if want := float64(8 * sent * (size + 14 + 20 + 8)); math.Abs(bits-want) > 0.01*want {
			t.Errorf("samples have %.0f bits, sent were %.0f", bits, want)
		}
		if busy < 0.9*float64(sent)/took {
			t.Errorf("the highest rate is %.0f/s, and %d packets were sent in %.2f s", busy, sent, took)
		}
	})
}

// paced sends datagrams at a rate, and returns how many the kernel took and the time.
func paced(conn *net.UDPConn, perS, n, size int) (sent int, took float64) {
	packet := make([]byte, size)
	began := time.Now()
	for sent < n {
		for due := int(time.Since(began).Seconds() * float64(perS)); sent < min(due, n); sent++ {
			if _, err := conn.Write(packet); err != nil {
				return sent, time.Since(began).Seconds()
			}
		}
		time.Sleep(200 * time.Microsecond)
	}
	return sent, time.Since(began).Seconds()
}

// TestSamplerReadsNothingSlow: what takes long, or is long, is no part of the state that is
// read again and again.
func TestSamplerReadsNothingSlow(t *testing.T) {
	s, err := NewSampler("here", time.Second)
	if err != nil {
		t.Fatal(err)
	}
	defer s.Close()
	var parts []string
	for _, p := range s.readings.State.State.Parts {
		parts = append(parts, p.Part)
	}
	for _, slow := range []string{"modules", "kernel log"} {
		if slices.Contains(parts, slow) || !slices.Contains(parts, "nics") {
			t.Errorf("parts %q: want nics, and not %s", parts, slow)
		}
	}
}

// TestSamplerFlows: a connection that carries data is the first of the list, with what the
// sender wrote, its RTT and what limited it: a reader that reads slowly closes the window.
func TestSamplerFlows(t *testing.T) {
	kerneltest.InNamespace(t, func(t *testing.T) {
		b := newBench(t)
		l := b.listen("server", "10.0.0.1:9001")
		idle := b.dial("client", "10.0.0.1:9001")
		defer idle.Close()
		busy := b.dial("client", "10.0.0.1:9001")
		for range 2 {
			c, err := l.Accept()
			if err != nil {
				t.Fatal(err)
			}
			defer c.Close()
			go func() {
				// Acknowledgements wait for the reader as well, and a sample has to last many
				// round trips.
				for piece := make([]byte, 64<<10); ; time.Sleep(4 * time.Millisecond) {
					if _, err := c.Read(piece); err != nil {
						return
					}
				}
			}()
		}
		written := make(chan struct{})
		go func() {
			defer close(written)
			_ = busy.SetWriteDeadline(time.Now().Add(4 * time.Second))
			for piece := make([]byte, 64<<10); ; {
				if _, err := busy.Write(piece); err != nil {
					return
				}
			}
		}()
		list := b.sampled("client", 500*time.Millisecond, func() { <-written })
		// By the first sample the flow is too short, and the last one is of the time after. A busy machine reads
		// connections less often.
		list = slices.DeleteFunc(list[1:len(list)-1], func(s record.HostSample) bool { return len(s.Flows) == 0 })
		if len(list) == 0 {
			t.Fatal("no sample has flows")
		}
		s := list[len(list)-1]
		if len(s.Flows) != 2 || s.Protocols.Connections != 2 {
			t.Fatalf("%d flows of %d connections", len(s.Flows), s.Protocols.Connections)
		}
		for _, s := range list {
			if f := s.Flows[0]; f.LimitedBy != bottleneck.ReceiverWindow && f.LimitedBy != bottleneck.SlowReader {
				t.Errorf("a flow to a slow reader is limited by %q (%+v)", f.LimitedBy, f.LimitedFacts)
			}
		}
		f := s.Flows[0]
		if f.Local != busy.LocalAddr().String() || f.Remote != "10.0.0.1:9001" || f.TxBps <= 0 || f.RTTUs == 0 ||
			f.State != "ESTAB" {
			t.Errorf("the first flow is %+v", f)
		}
		if f.LimitedBy != bottleneck.ReceiverWindow && f.LimitedBy != bottleneck.SlowReader {
			t.Errorf("a flow to a slow reader is limited by %q (%+v)", f.LimitedBy, f.LimitedFacts)
		}
		if g := s.Flows[1]; g.TxBps != 0 || g.LimitedBy != "" {
			t.Errorf("the idle flow is %+v", g)
		}
	})
}
