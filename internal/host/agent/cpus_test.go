package agent

import (
	"runtime"
	"testing"
)

// TestUseCPUs: an agent that was started with one CPU uses all from its first trial on; another one leaves the number
// as it is, which may be the user's.
func TestUseCPUs(t *testing.T) {
	before := runtime.GOMAXPROCS(1)
	defer runtime.GOMAXPROCS(before)
	for _, oneCPU := range []bool{false, true} {
		a := &agent{}
		a.oneCPU.Store(oneCPU)
		a.trial()
		a.closeEngine()
		if n := runtime.GOMAXPROCS(0); (n > 1) != (oneCPU && runtime.NumCPU() > 1) {
			t.Errorf("started with one CPU: %t; it uses %d", oneCPU, n)
		}
	}
}
