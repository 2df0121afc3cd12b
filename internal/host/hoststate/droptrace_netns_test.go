//go:build linux && !portable

package hoststate

import (
	"errors"
	"slices"
	"strings"
	"testing"

	"github.com/cilium/ebpf"
	"github.com/cilium/ebpf/asm"
	"github.com/cilium/ebpf/link"
	"golang.org/x/sys/unix"

	"linerate/internal/kernel/drops"
	"linerate/internal/kernel/kerneltest"
	"linerate/internal/model/record"
)

// TestDropsTraced: what a host drops in the window is in the table of drops by the kernel's
// reason, on that host only, and a firewall's drops are found.
func TestDropsTraced(t *testing.T) {
	kerneltest.AsRoot(t, func(t *testing.T) {
		tracer, err := drops.Start(drops.Options{})
		if errors.Is(err, drops.ErrUnavailable) {
			kerneltest.Skip(t, err.Error())
		}
		if err != nil {
			t.Fatal(err)
		}
		tracer.Close()
		b := newBench(t)
		// The firewall of the server drops what comes in for it; to the client's port 9 nothing listens.
		var firewall link.Link
		b.in("server", func() error {
			drop, err := ebpf.NewProgram(&ebpf.ProgramSpec{Type: ebpf.Netfilter, AttachType: ebpf.AttachNetfilter,
				License: "GPL", Instructions: asm.Instructions{asm.Mov.Imm(asm.R0, 0), asm.Return()}})
			if err != nil {
				return err
			}
			defer drop.Close()
			firewall, err = link.AttachNetfilter(link.NetfilterOptions{Program: drop, ProtocolFamily: unix.NFPROTO_IPV4,
				Hook: link.NetfilterInetLocalIn, Priority: -128})
			return err
		})
		defer firewall.Close()
		e := b.diagnosed(func(b *bench) {
			send(b.udp("client", "", "10.0.0.1:9"), 70, 100)
			other := b.udp("other", "10.0.0.3:0", "") // not connected: an ICMP error is not the next datagram's
			for range 30 {
				_, _ = other.WriteToUDPAddrPort(make([]byte, 100), addr("10.0.0.2:9"))
			}
		}, benchHosts...)
		for _, want := range []record.Drop{
			{Host: "server", Where: "eth0", Counter: "NETFILTER_DROP", Packets: 70, Verdict: "unknown"},
			{Host: "client", Where: "eth0", Counter: "NO_SOCKET", Packets: 30, Verdict: "unknown"},
		} {
			i := slices.IndexFunc(e.Drops, func(d record.Drop) bool {
				return d.Host == want.Host && d.Where == want.Where && d.Counter == want.Counter &&
					d.Packets == want.Packets && d.Verdict == want.Verdict &&
					d.By == record.ByTracepoint && d.Direction == "rx" && d.Protocol == "IPv4 UDP"
			})
			if i < 0 {
				t.Errorf("no %+v in %+v", want, e.Drops)
			}
			if slices.ContainsFunc(e.Drops, func(d record.Drop) bool {
				return d.Counter == want.Counter && d.Host != want.Host
			}) {
				t.Errorf("%s is on another host as well: %+v", want.Counter, e.Drops)
			}
		}
		if !slices.ContainsFunc(e.Drops, func(d record.Drop) bool {
			return d.Counter == "NoPorts" && d.Again &&
				d.Packets == 30
		}) {
			t.Errorf("Udp.NoPorts is not said to be of the same packets: %+v", e.Drops)
		}
		if found := ids(sure(e)); !slices.Contains(found, "netfilter-drop") {
			t.Errorf("found %v", found)
		}
		for _, by := range e.DropsBy {
			if by.By != record.ByTracepoint || by.Why != "" {
				t.Errorf("%+v", by)
			}
		}
	})
}

// TestDropsCounted: without privileges over the machine the drops are by counters, and the
// snapshot says why.
func TestDropsCounted(t *testing.T) {
	kerneltest.InNamespace(t, func(t *testing.T) {
		e := newBench(t).diagnosed(nil, "server")
		if by := e.DropsBy[0]; by.By != record.ByCounters || !strings.Contains(by.Why, drops.ErrUnavailable.Error()) {
			t.Errorf("%+v", by)
		}
		if !slices.ContainsFunc(e.Unevaluated, func(u record.Unevaluated) bool { return u.Rule == "netfilter-drop" }) {
			t.Errorf("%+v", e.Unevaluated)
		}
	})
}
