//go:build linux

// Command bench measures linerate against other tools on the machine it runs on
// and writes docs/benchmarks.md. It is run by make bench, as root, because the
// other tools need that.
//
// The contenders take turns in one run, the first changing from round to round,
// so that what drifts on the machine drifts for both. What another tool rewrites
// on the machine is put back and compared afterwards. Only processes started
// here are ended, by their id; nothing is cleaned up by name.
//
// It is not a test: it fails only when it cannot measure, and ends with status 3
// when linerate misses what it set out to reach.
package main
