//go:build linux && !portable

package netlink

import (
	"strings"
	"testing"
	"time"

	"linerate/internal/kernel/kerneltest"
	"linerate/internal/kernel/sched"
)

// TestWatchLinks: a cable whose far end goes down and comes up again, an interface that is
// taken down, and changes of other kinds, which are none of the carrier.
func TestWatchLinks(t *testing.T) {
	kerneltest.InNamespace(t, func(t *testing.T) {
		scene(t)
		carrier := func(name string) string { return kerneltest.Do(t, "ip", "-o", "link", "show", "dev", name) }
		until(t, func() bool {
			return strings.Contains(carrier("a0"), "LOWER_UP") && strings.Contains(carrier("b1"), "LOWER_UP")
		})
		began := sched.Now()
		w, err := WatchLinks()
		if err != nil {
			t.Fatal(err)
		}
		ip := func(words ...string) { kerneltest.Do(t, "ip", words...) }
		ip("link", "set", "dev", "a0", "mtu", "1400")
		// The kernel notifies of carriers later, in a work queue (net/core/link_watch.c): two
		// changes of one until then are none.
		ip("link", "set", "dev", "a1", "down")
		until(t, func() bool { return w.seen() >= 2 })
		ip("link", "set", "dev", "a1", "up")
		until(t, func() bool { return w.seen() >= 4 })
		ip("link", "set", "dev", "b0", "down")
		ip("link", "add", "dev", "new0", "type", "veth", "peer", "name", "new1")
		until(t, func() bool { return w.seen() >= 6 })
		changes, err := w.Close()
		if err != nil {
			t.Fatal(err)
		}
		type state struct{ carrier, up bool }
		want := map[string][]state{
			"a0": {{false, true}, {true, true}},
			"a1": {{false, false}, {true, true}},
			"b0": {{false, false}},
			"b1": {{false, true}},
		}
		got, last := map[string][]state{}, began
		for _, c := range changes {
			if c.AtNs < last {
				t.Errorf("%+v is before the one in front of it", c)
			}
			got[c.Interface], last = append(got[c.Interface], state{c.Carrier, c.Up}), c.AtNs
		}
		for name, states := range want {
			if len(got[name]) != len(states) {
				t.Errorf("%s: %v, want %v", name, got[name], states)
				continue
			}
			for i := range states {
				if got[name][i] != states[i] {
					t.Errorf("%s: %v, want %v", name, got[name], states)
				}
			}
		}
	})
}

// until waits for what the kernel does in its own time.
func until(t *testing.T, done func() bool) {
	t.Helper()
	for end := time.Now().Add(20 * time.Second); !done(); time.Sleep(10 * time.Millisecond) {
		if time.Now().After(end) {
			t.Fatal("it did not happen within 20 s")
		}
	}
}

func (w *LinkWatch) seen() int {
	w.mu.Lock()
	defer w.mu.Unlock()
	return len(w.changes)
}
