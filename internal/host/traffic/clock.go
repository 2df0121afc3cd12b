package traffic

import (
	"time"

	"linerate/internal/kernel"
)

// Every write and read is stamped. kernel.Now is a system call; the runtime
// reads the same clock without one, in a fifth of the time.
var (
	epoch   = time.Now()
	epochNs = kernel.Now()
)

// now is kernel.Now.
func now() int64 { return epochNs + int64(time.Since(epoch)) }

// deadline turns an instant of now into one for the runtime's timers.
func deadline(ns int64) time.Time { return epoch.Add(time.Duration(ns - epochNs)) }
