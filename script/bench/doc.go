//go:build linux

// Command bench measures linerate against other tools on this machine and writes
// docs/results/benchmarks.md. It is run by `make bench`, as root, because the other tools need
// that.
//
// The contenders take turns in one run, and a different one begins each round, so that
// a drift of the machine affects all of them alike. What another tool changes on the
// machine is restored and compared afterwards. Only processes that bench started are
// ended, by their ID; nothing is cleaned up by name.
//
// It is not a test: it fails only if it cannot measure, and exits with status 3 if
// linerate misses one of its marks.
package main
