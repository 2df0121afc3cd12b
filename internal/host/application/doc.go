// Package application makes flows of an application protocol, such as DNS, HTTP and
// SMTP, and takes the time of each transaction and of its phases. It is one of the
// engines of package traffic.
//
// An Engine holds one end each of its flows. The end that opens the connections makes
// requests; the other end answers them, or a server that is not linerate's does. What a
// request and an answer are is a Protocol's matter: each has a package of its own below
// this one. The engine decides when a transaction begins, bounds how long it may take,
// opens connections with the flow's options, and counts.
//
// With a pace the load is an open loop: a transaction's time begins at the instant that
// the schedule gives, whether a connection is free by then or not.
//
// It does not decide between which hosts flows are, computes no rates, and takes no
// readings on its own. What is counted is in docs/applications.md.
package application
