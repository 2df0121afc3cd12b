//go:build linux

package cli

import (
	"strings"
	"testing"
	"time"

	"linerate/internal/control/controltest"
	"linerate/internal/kernel/kerneltest"
	"linerate/internal/model/flow"
	"linerate/internal/show/export"
)

// datagrams measures with UDP to its end.
func datagrams(t *testing.T, host string, args ...string) export.Measurement {
	t.Helper()
	m, status, said := measuredPlainly(t, host, append([]string{"--protocol", "udp", "--duration", "1s", "--warmup",
		"500ms"}, args...)...)
	if status != 0 {
		t.Logf("%s: %d, %s", strings.Join(args, " "), status, said)
	}
	if doubts := doubts(m); doubts != "" {
		t.Errorf("%s: %s", strings.Join(args, " "), doubts)
	}
	return m
}

// TestMeasureDatagrams: over a link of a rate, both ways, over either family: what
// fits arrives, what does not is reported as lost, and the server's bound holds.
func TestMeasureDatagrams(t *testing.T) {
	kerneltest.InNamespace(t, func(t *testing.T) {
		controltest.Wired(t, "50mbit", "client")
		s := serving(t, "--max-rate", "100mbit")
		kerneltest.Do(t, "ip", "netns", "exec", "client", "bash", "-c",
			"for n in 1 15 16 64 1400; do head -c $n /dev/urandom > /dev/udp/10.0.0.1/5202; done")

		for _, at := range []string{"10.0.0.1", "fd00::1"} {
			m := datagrams(t, "client", at, "--direction", "both", "--rate-cap", "10mbit", "--datagram", "500")
			for _, d := range m.Directions {
				g := d.Datagrams
				if g == nil || g.Received < 100 || g.Lost != 0 || g.Duplicates != 0 || d.GoodputBps > 10.5e6 ||
					g.Delay == nil {
					t.Errorf("%s, %s: %.0f bit/s, %+v", at, d.Direction, d.GoodputBps, g)
				}
			}
		}
		// 1472 of 1514 bytes, as a token bucket counts, and what one holds; a busy
		// machine sends less.
		const limit = 50e6 * 1472 / 1514
		m := datagrams(t, "client", "10.0.0.1", "--direction", "read", "--rate-cap", "90mbit")
		if d := m.Directions[0]; d.GoodputBps > limit*controltest.Fuller || d.GoodputBps < limit*0.3 ||
			d.LostShare <= 0 ||
			d.LostShare > 0.6 {
			t.Errorf("%.0f bit/s of %.0f, %.3f lost", d.GoodputBps, limit, d.LostShare)
		}
		if f := m.Flows[0]; f.SendMode != flow.ModeGSO || f.ReceiveMode != flow.ModeGRO ||
			f.Datagrams.LostInBuffer != 0 {
			t.Errorf("%s, %s, %+v", f.SendMode, f.ReceiveMode, f.Datagrams)
		}

		// The highest rate without loss is what the link carries, the search has seen a
		// higher one lose, and the rest of the document is of a trial that did not.
		m = datagrams(t, "client", "10.0.0.1", "--loss-free", "--rate-cap", "90mbit", "--resolution", "5%", "--repeats",
			"1", "--loss", "0.2%", "--duration", "500ms", "--warmup", "200ms")
		l := m.LossFree
		if l == nil || l.RateBps > limit*1.05 || l.RateBps < limit*0.5 || l.BoundedBy == "" &&
			(l.LostAtBps <= l.RateBps || len(l.Places) == 0) {
			t.Fatalf("%+v", l)
		}
		if first, last := l.Trials[0], l.Trials[len(l.Trials)-1]; first.Pass || first.Lost == 0 || !last.Pass ||
			!last.Confirms || m.LostShare != last.LostShare || l.DatagramBytes != 1472 {
			t.Errorf("%+v", l)
		}

		// A conductor that dies takes its flows along: nothing is sent any more.
		read := in(t, "client", "measure", "--quiet", "--protocol", "udp", "--duration", "1m", "--direction", "read",
			"--rate-cap", "5mbit", "10.0.0.1")
		if err := read.Start(); err != nil {
			t.Fatal(err)
		}
		flows := func() int {
			return strings.Count(kerneltest.Do(t, "ip", "netns", "exec", "server", "cat", "/proc/net/udp",
				"/proc/net/udp6"), ":1452 ")
		}
		for end := time.Now().Add(20 * time.Second); flows() < 2; time.Sleep(20 * time.Millisecond) {
			if time.Now().After(end) {
				t.Fatalf("the server has no flow:\n%s", s.log())
			}
		}
		_ = read.Process.Kill()
		_ = read.Wait()
		for end := time.Now().Add(20 * time.Second); flows() > 1; time.Sleep(20 * time.Millisecond) {
			if time.Now().After(end) {
				t.Fatal("a flow has outlived its conductor")
			}
		}
	})
}
