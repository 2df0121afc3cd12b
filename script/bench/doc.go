//go:build linux

// Command bench measures linerate against other tools on this machine and writes
// docs/results/benchmarks.md. It is run by `make bench`, as root, because the other tools need
// that. `make bench BENCH='-only rr,udp'` holds some of the contests, whose keys -h lists, and
// writes no page.
//
// Each contest has a lab of its own, with its servers alone, in which TCP has the same
// congestion control for all programs. A program that is not installed is named, and its
// marks are left out. neper's tcp_rr and tcp_crr are such: no registry of packages has them.
// Build them from their source and put them on the PATH or in bin/peers. Of iperf3
// script/setup unpacks a newer version there, if the packaged one has no --gsro.
//
// The contenders take turns in one run, and a different one begins each round, so that
// a drift of the machine affects all of them alike. What another tool changes on the
// machine is restored and compared afterwards. Only processes that bench started are
// ended, by their ID; nothing is cleaned up by name.
//
// It is not a test: it fails only if it cannot measure, and exits with status 3 if
// linerate misses one of its marks.
package main
