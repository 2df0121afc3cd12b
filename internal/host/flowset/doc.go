// Package flowset is the life cycle that the flows of all protocols share on one
// host: a Set holds one end of each of a trial's flows, listens and accepts,
// connects, gives up, starts, samples and closes them. How a protocol moves data is
// left to the packages stream, datagram and transaction, each of which embeds a Set
// in its engine and a State in its flow.
//
// It moves no data and computes no rates. No lock is held while a socket is
// opened or closed, while a worker is waited for, or while a flow is called.
package flowset
