//go:build linux

package rounds

import (
	"os"
	"strconv"
	"strings"
	"syscall"
	"testing"
	"time"

	"linerate/internal/kernel/kerneltest"
	"linerate/internal/model/mesh"
)

// used is what this process has used so far: CPU time, and bytes that it read and wrote.
func used(t *testing.T) (cpu time.Duration, bytes float64) {
	t.Helper()
	var r syscall.Rusage
	if err := syscall.Getrusage(syscall.RUSAGE_SELF, &r); err != nil {
		t.Fatal(err)
	}
	text, err := os.ReadFile("/proc/self/io")
	if err != nil {
		t.Fatal(err)
	}
	for line := range strings.Lines(string(text)) {
		if of, n, _ := strings.Cut(strings.TrimSpace(line), ": "); of == "rchar" || of == "wchar" {
			v, _ := strconv.ParseFloat(n, 64)
			bytes += v
		}
	}
	return time.Duration(r.Utime.Nano() + r.Stime.Nano()), bytes
}

// TestCostOfARound: what a round takes of the conductor besides the window is small: the bytes of each
// host are bounded, and do not grow with the hosts. LINERATE_MESH_HOSTS is how many there are.
func TestCostOfARound(t *testing.T) {
	kerneltest.InNamespace(t, func(t *testing.T) {
		n, _ := strconv.Atoi(os.Getenv("LINERATE_MESH_HOSTS"))
		n = max(n, 20) / 10 * 10
		hosts := fabric(t, n/10, 10, "20mbit", "200mbit")
		names := make([]string, n)
		for i, h := range hosts {
			names[i] = h.Name
		}
		plan := shifts(names, 0)
		plan.Share = 0.1
		const rounds = 4
		for k := range rounds { // each host is in one pair
			var round []mesh.Pair
			for i := 0; i < n; i += 2 {
				round = append(round, mesh.Pair{i, (i + 1 + 2*k) % n})
			}
			plan.Rounds = append(plan.Rounds, round)
		}
		o := quick()
		var cpu []time.Duration
		var bytes []float64
		var took []time.Duration
		began := time.Now()
		o.Progress = func(p Progress) {
			c, b := used(t)
			if p.Phase == "measuring" && len(cpu) <= p.Done {
				cpu, bytes, took = append(cpu, c), append(bytes, b), append(took, time.Since(began))
			}
		}
		run, err := New(t.Context(), plan, reachable(names), opened(t), o)
		if err != nil || len(run.Mesh.Lost) > 0 {
			t.Fatal(err, run.Mesh.Lost)
		}
		var peak syscall.Rusage
		_ = syscall.Getrusage(syscall.RUSAGE_SELF, &peak)
		window := o.Warmup + o.Duration
		per := func(a, b int) (time.Duration, float64, time.Duration) {
			return (cpu[b] - cpu[a]) / time.Duration(b-a), (bytes[b] - bytes[a]) / float64(b-a) / float64(n),
				(took[b]-took[a])/time.Duration(b-a) - window
		}
		c, b, w := per(1, rounds-1)
		t.Logf("%d hosts: reached after %v; a round takes %v of CPU time, %.0f bytes of each host, %v besides its "+
			"window; %d MB of memory", n, took[0], c, b, w, peak.Maxrss>>10)
		if b > 64<<10 {
			t.Errorf("%.0f bytes of each host", b)
		}
	})
}
