// Package application runs flows of an application protocol, such as DNS, HTTP or SMTP, and times each
// transaction and its phases. It is one of the engines of package traffic.
//
// An Engine holds this host's ends of its flows. The end that opens the connections sends requests; the other
// end, or a server other than linerate, answers them. A Protocol defines requests and answers; each is a
// package below this one. The engine decides when a transaction begins, limits its duration, opens connections
// with the flow's options, and counts. Requests of a protocol that has a Codec are made by event loops
// (docs/decisions/0056-requests-on-event-loops.md), those of the others by goroutines.
//
// With a pace the load is an open loop: a transaction's time begins at its scheduled time, whether or not a
// connection is free then.
//
// This package does not choose the hosts of a flow, computes no rates and takes no readings on its own.
// docs/applications.md describes what is counted.
package application
