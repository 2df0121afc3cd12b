// Package costtest tests that the CPU time of a parser grows with its input, and not with its square.
package costtest

import (
	"slices"
	"syscall"
	"testing"
	"time"
)

const (
	// least is what a shorter time counts as: clocks of CPU time are coarse.
	least = 20 * time.Millisecond
	// Other work on the machine adds to a time, but not to each: a measurement is the least of measured, and is
	// repeated up to attempts times.
	measured = 3
	attempts = 5
)

// Doubled fails the test if an input of size 2n takes more than most times the CPU time of one of size n.
// Makes returns the function that reads an input of a size.
func Doubled(t *testing.T, name string, n int, most float64, makes func(n int) (reads func())) {
	t.Helper()
	var once, twice time.Duration
	for range attempts {
		once, twice = took(makes(n)), took(makes(2*n))
		if float64(twice) <= most*float64(max(once, least)) {
			return
		}
	}
	t.Errorf("%s: %v, and %v for twice the input", name, once, twice)
}

// took returns the CPU time that a call takes in this process, without that of the kernel.
func took(call func()) time.Duration {
	user := func() time.Duration {
		var u syscall.Rusage
		_ = syscall.Getrusage(syscall.RUSAGE_SELF, &u)
		return time.Duration(u.Utime.Nano())
	}
	var all []time.Duration
	for range measured {
		began := user()
		call()
		all = append(all, user()-began)
	}
	return slices.Min(all)
}
