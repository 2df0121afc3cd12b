//go:build linux && !portable

package hoststate

import (
	"fmt"
	"os"
	"regexp"
	"runtime/debug"
	"strconv"
	"testing"
	"time"

	"linerate/internal/kernel/kerneltest"
	"linerate/internal/kernel/proc"
)

// TestCost: a snapshot of a host where nothing is out of the ordinary takes less than a second
// of CPU time, and raises this process's resident memory by less than 20 MB at its peak. CPU
// time is what a busy machine does not change; the least of three counts.
func TestCost(t *testing.T) {
	kerneltest.InNamespace(t, func(t *testing.T) {
		kerneltest.Do(t, "ip", "link", "set", "dev", "lo", "up")
		kerneltest.Do(t, "ip", "link", "add", "name", "eth0", "type", "veth", "peer", "name", "eth1")
		least, peak := time.Hour, int64(1)<<62
		for range 3 {
			debug.FreeOSMemory()
			// the peak is from now on (proc_pid_clear_refs(5))
			if err := os.WriteFile("/proc/self/clear_refs", []byte("5"), 0); err != nil {
				t.Fatal(err)
			}
			before, cpu := resident(t, "VmRSS"), proc.TotalCPUTime()
			if _, err := Read(t.Context(), Options{}); err != nil {
				t.Fatal(err)
			}
			least, peak = min(least, proc.TotalCPUTime()-cpu), min(peak, resident(t, "VmHWM")-before)
		}
		if least > time.Second {
			t.Errorf("%v of CPU time", least)
		}
		if peak > 20<<20 {
			t.Errorf("%.1f MB more than before", float64(peak)/(1<<20))
		}
		t.Logf("%v of CPU time, %.1f MB", least, float64(peak)/(1<<20))
	})
}

// resident is a line of /proc/self/status in bytes.
func resident(t *testing.T, name string) int64 {
	t.Helper()
	text, err := os.ReadFile("/proc/self/status")
	if err != nil {
		t.Fatal(err)
	}
	m := regexp.MustCompile(fmt.Sprintf(`%s:\s+(\d+) kB`, name)).FindSubmatch(text)
	if m == nil {
		t.Fatalf("no %s in\n%s", name, text)
	}
	n, err := strconv.ParseInt(string(m[1]), 10, 64)
	if err != nil {
		t.Fatal(err)
	}
	return n << 10
}
