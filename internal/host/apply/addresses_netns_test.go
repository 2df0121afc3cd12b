//go:build linux && !portable

package apply

import (
	"context"
	"net/netip"
	"slices"
	"strings"
	"testing"
	"time"

	"linerate/internal/kernel/kerneltest"
	"linerate/internal/model/setting"
)

// run is consecutive addresses on eth1, each as a setting of its own.
func run(first string, n int) (list []setting.Setting) {
	a := setting.Address{Interface: "eth1", Address: netip.MustParsePrefix(first), Count: n}
	for _, p := range a.All() {
		list = append(list, setting.Setting{Address: &setting.Address{Interface: a.Interface, Address: p}})
	}
	return list
}

// Addresses in a row are one change, what was there of them stays, and what
// another program has removed meanwhile is no error.
func TestAddressesInARow(t *testing.T) {
	kerneltest.Parallel(t)
	kerneltest.InNamespace(t, func(t *testing.T) {
		scene(t)
		kerneltest.Do(t, "ip", "addr", "add", "10.46.0.9/16", "dev", "eth1")
		before := look(t)
		m := open(t, "")
		applied, mark, err := applySettings(m, context.Background(), run("10.46.0.1/16", 1000), false)
		if err != nil {
			t.Fatal(err)
		}
		if len(applied) != 1 || len(m.entries) != 1 || applied[0].Prior != "1 of 1000 present" ||
			applied[0].New != present ||
			applied[0].What != "10.46.0.1/16 to 10.46.3.232/16 on eth1" {
			t.Errorf("applied %+v in %d entries", applied, len(m.entries))
		}
		if n := strings.Count(kerneltest.Do(t, "ip", "-o", "addr", "show", "dev", "eth1"), "10.46."); n != 1000 {
			t.Errorf("%d addresses, want 1000", n)
		}
		kerneltest.Do(t, "ip", "addr", "del", "10.46.0.5/16", "dev", "eth1")
		if err := m.RevertTo(mark); err != nil {
			t.Error(err)
		}
		if d := differences(before, look(t)); d != "" {
			t.Errorf("not as before:\n%s", d)
		}
	})
}

// An address among many that is there with another prefix length is reported, and
// nothing is added.
func TestAddressesInARowRefused(t *testing.T) {
	kerneltest.Parallel(t)
	kerneltest.InNamespace(t, func(t *testing.T) {
		scene(t)
		kerneltest.Do(t, "ip", "addr", "add", "10.46.0.9/24", "dev", "eth1")
		before := look(t)
		m := open(t, "")
		_, _, err := applySettings(m, context.Background(), run("10.46.0.1/16", 300), false)
		if err == nil || !strings.Contains(err.Error(), "10.46.0.9 present as 10.46.0.9/24") {
			t.Errorf("the error is %v", err)
		}
		// One that the kernel refuses, with others in the same batch.
		_, _, err = applySettings(m, context.Background(), run("223.255.255.250/8", 20), false)
		if err != nil && !strings.Contains(err.Error(), "add address 22") {
			t.Errorf("the error does not name the address: %v", err)
		}
		if err := m.RevertTo(0); err != nil {
			t.Error(err)
		}
		if d := differences(before, look(t)); d != "" {
			t.Errorf("not as before:\n%s", d)
		}
	})
}

// Many addresses take a small part of the time that a process for each takes, and
// ten times as many not a hundred times as long.
func TestAddressesInARowAreQuick(t *testing.T) {
	kerneltest.InNamespace(t, func(t *testing.T) {
		scene(t)
		m := open(t, "")
		timed := func(n int) (add, remove time.Duration) {
			began := time.Now()
			if _, _, err := applySettings(m, context.Background(), run("10.128.0.1/9", n), false); err != nil {
				t.Fatal(err)
			}
			added := time.Now()
			if err := m.RevertTo(0); err != nil {
				t.Fatal(err)
			}
			return added.Sub(began), time.Since(added)
		}
		const n = 254
		var ratios, growth []float64
		for range 3 {
			began := time.Now()
			for _, s := range run("10.128.0.1/9", n) {
				kerneltest.Do(t, "ip", "addr", "add", s.Address.Address.String(), "dev", "eth1")
			}
			each := time.Since(began)
			kerneltest.Do(t, "ip", "addr", "flush", "to", "10.128.0.0/9", "dev", "eth1")
			add, remove := timed(n)
			ratios = append(ratios, each.Seconds()/add.Seconds())
			more, less := timed(10 * n)
			growth = append(growth, (more+less).Seconds()/(add+remove).Seconds())
		}
		slices.Sort(ratios)
		slices.Sort(growth)
		t.Logf(
			"%d addresses: by a process each %.0f times as long (%.0f–%.0f); ten times as many: %.1f times as long "+
				"(%.1f–%.1f)",
			n, ratios[1], ratios[0], ratios[2], growth[1], growth[0], growth[2])
		if ratios[1] < 20 {
			t.Errorf("by a process each it takes only %.1f times as long", ratios[1])
		}
		if growth[1] > 70 {
			t.Errorf("ten times as many take %.0f times as long", growth[1])
		}
	})
}
