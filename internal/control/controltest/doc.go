// Package controltest is the kit of tests that make labs, runs and measurements without the
// command line. The test's own program is started as a lab's init process, as an agent and as a
// server, so a package that uses it has
//
//	func TestMain(m *testing.M) { controltest.Main(m) }
//
// Conductors run in the test's process. The study files in testdata are for tests of every level.
//
// It is for tests only; no package imports it.
package controltest
