// Package message holds what crosses the bus between a conductor and its agents:
// for each verb (Verb) one request and one reply, as JSON.
//
// Instants are nanoseconds on the agent's own monotonic clock unless said
// otherwise; other units are in the names, as in package record. A zero value of a
// field that says nothing else means that the field was not set.
package message
