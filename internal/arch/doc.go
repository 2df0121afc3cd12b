// Package arch holds the architecture's rules as tests: which layer may import which,
// where system calls, the bus and the clock may be used, and what every package and
// document must have. It has no code of its own, and nothing imports it.
//
// The rules and the reason for each are in rules_test.go. They are checked on source
// files, not on a build, so that files for other operating systems are included.
package arch
