// Package arch holds the house rules as tests: which room may import which,
// where the kernel, the bus and the clock may be touched, what every package
// and every document owes its reader. It has no code of its own, and nothing
// imports it.
//
// The rules and the reason for each are in rules_test.go. They are read from
// the source files themselves, not from a build, so that a file for another
// operating system obeys them too.
package arch
