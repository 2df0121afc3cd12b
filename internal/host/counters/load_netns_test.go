//go:build linux && !portable

package counters

import (
	"strings"
	"testing"
	"time"

	"linerate/internal/kernel/kerneltest"
	"linerate/internal/kernel/sched"
	"linerate/internal/model/netstate"
)

// TestLoad: the load is read at as many samples as are kept, of every CPU, and not at all where
// a reading takes too long for the interval.
func TestLoad(t *testing.T) {
	kerneltest.InNamespace(t, func(t *testing.T) {
		r := open(t)
		load := r.WatchLoad(time.Hour, 120*time.Hour)
		if load.Missing != "" {
			t.Fatal(load.Missing)
		}
		loaded := 0
		for range 120 {
			var s netstate.Sample
			if load.Enter(&s); len(s.CPU) > 0 {
				if loaded++; len(s.CPU) != len(s.Events)+1 || s.CPU[0].CPU != -1 {
					t.Fatalf("%+v", s)
				}
			}
		}
		if loaded != 40 {
			t.Errorf("%d of 120 samples have the load, want every third", loaded)
		}
		load = r.WatchLoad(time.Nanosecond, time.Nanosecond)
		var s netstate.Sample
		if load.Enter(&s); !strings.Contains(load.Missing, "more than 1 %") || s.CPU != nil {
			t.Errorf("at an interval of a nanosecond: %q, %+v", load.Missing, s)
		}
	})
}

// TestLog: a line that the kernel writes in a window is in the log of that window, with a time
// inside of it, and one from before is not. Only root of the machine may read the log.
func TestLog(t *testing.T) {
	kerneltest.AsRoot(t, func(t *testing.T) {
		port := func(name string) { // which the kernel reports
			kerneltest.Do(t, "ip", "link", "add", "name", name, "type", "veth", "peer", "name", name+"p")
			kerneltest.Do(t, "ip", "link", "set", "dev", name, "master", "logbr0")
		}
		kerneltest.Do(t, "ip", "link", "add", "name", "logbr0", "type", "bridge")
		port("before0")
		began := sched.Now()
		log := WatchLog()
		log.Look()
		port("inside0")
		log.Look()
		lines := log.Close()
		log.Close() // once more changes nothing
		if lines.Missing != "" && len(lines.Lines) == 0 {
			t.Logf("the log cannot be read here: %s", lines.Missing)
			return
		}
		found := 0
		for _, line := range lines.Lines {
			switch {
			case strings.Contains(line.Text, "before0"):
				t.Errorf("a line from before: %+v", line)
			case strings.Contains(line.Text, "inside0"):
				found++
				if line.AtNs < began || line.AtNs > sched.Now() {
					t.Errorf("at %d, not in the window from %d: %+v", line.AtNs, began, line)
				}
			}
		}
		if found == 0 {
			t.Errorf("no line about inside0 in %+v", lines)
		}
	})
}
