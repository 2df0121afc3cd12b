//go:build linux

package measure_test

import (
	"slices"
	"strings"
	"testing"
	"time"

	"linerate/internal/control/controltest"
	"linerate/internal/control/measure"
	"linerate/internal/kernel/kerneltest"
	"linerate/internal/model/cause"
	"linerate/internal/model/flow"
	"linerate/internal/model/record"
	"linerate/internal/science/bottleneck"
	"linerate/internal/show/export"
)

// TestMeasureHeldBack: where the kernel drops what a flow sends, that is what holds the flow back,
// with the counter that has it and the finding that removes it.
func TestMeasureHeldBack(t *testing.T) {
	kerneltest.InNamespace(t, func(t *testing.T) {
		controltest.PlainPair(t)
		controltest.Serve(t, controltest.Server{})
		root := func(host string, args ...string) {
			kerneltest.Do(t, "tc", append([]string{"-n", host, "qdisc", "replace", "dev", "eth0", "root"}, args...)...)
		}
		found := func(m export.Measurement, id string) (f record.Finding, is bool) {
			i := slices.IndexFunc(m.Findings, func(f record.Finding) bool { return f.ID == id })
			if i >= 0 {
				f = m.Findings[i]
			}
			return f, i >= 0
		}

		// The shaper makes single packets of what is sent by segmentation offload, and the receiver
		// takes none of their size.
		root("client", "tbf", "rate", "50mbit", "burst", "31250", "limit", "150k")
		kerneltest.Do(t, "ip", "-n", "server", "link", "set", "dev", "eth0", "mtu", "1400")
		m := measured(t, "client", measure.Options{Addresses: []string{"10.0.0.1"}, Duration: 1500 * time.Millisecond,
			Warmup: 500 * time.Millisecond, Flows: flow.Spec{Protocol: flow.UDP}})
		if len(m.Flows) != 1 || m.Flows[0].Datagrams == nil {
			t.Fatalf("flows %+v", m.Flows)
		}
		f := m.Flows[0]
		if d := f.Datagrams; d.Sent == 0 || d.Received != 0 || d.Lost != d.Sent {
			t.Errorf("%d sent, %d received, %d lost", d.Sent, d.Received, d.Lost)
		}
		if f.LimitedBy != bottleneck.Loss || !strings.Contains(f.LimitedWhy, "server.eth0 dropped ") {
			t.Errorf("%q (%s)", f.LimitedBy, f.LimitedWhy)
		}
		narrow, _ := found(m, "path-mtu")
		if a, _ := narrow.Args.(cause.Narrow); a.At != "server.eth0" || a.MTU != 1400 {
			t.Errorf("path-mtu: %+v", m.Findings)
		}
		kerneltest.Do(t, "ip", "-n", "server", "link", "set", "dev", "eth0", "mtu", "1500")

		// What a payload takes of a rate behind a size table is not known.
		root("client", "stab", "overhead", "24", "mpu", "84", "tbf", "rate", "50mbit", "burst", "31250",
			"limit", "150k")
		m = measured(t, "client", measure.Options{Addresses: []string{"10.0.0.1"}, Duration: time.Second,
			Warmup: 500 * time.Millisecond})
		if len(m.Directions) != 1 || m.LimitBps != 0 || !strings.Contains(m.Directions[0].LimitWhy, "size table") {
			t.Errorf("limit %.0f, directions %+v", m.LimitBps, m.Directions)
		}

		if !strings.Contains(kerneltest.Do(t, "cat", "/proc/sys/net/ipv4/tcp_available_congestion_control"), "bbr") {
			return // cubic slows down before it loses much
		}
		root("client", "tbf", "rate", "300mbit", "burst", "20k", "limit", "20k")
		m = measured(t, "client", measure.Options{Addresses: []string{"10.0.0.1"}, Duration: 2 * time.Second,
			Warmup: 500 * time.Millisecond, Flows: flow.Spec{CongestionControl: "bbr"}})
		if len(m.Flows) != 1 {
			t.Fatalf("flows %+v", m.Flows)
		}
		// A busy machine may send no more than the queue takes.
		_, dropped := found(m, "qdisc-drop")
		if f := m.Flows[0]; f.LimitedBy == bottleneck.InterfaceQueue && !dropped ||
			f.LimitedBy == bottleneck.CongestionWindow && f.RetransBytes > f.SentBytes/10 {
			t.Errorf("%q (%s); %+v\n%s", f.LimitedBy, f.LimitedWhy, m.Findings, controltest.Figures(f))
		}
	})
}
