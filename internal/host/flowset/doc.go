// Package flowset has the life cycle that flows of all protocols share on one host. A Set holds this host's
// ends of a trial's flows; it listens and accepts, connects, gives up, starts, samples and closes them.
// Packages stream, datagram and transaction move the data: each embeds a Set in its engine and a State in its
// flow.
//
// It moves no data and computes no rates. It holds no lock while it opens or closes a socket, waits for a
// worker or calls a flow.
package flowset
