// Package message defines what conductor and agents exchange over the bus: for each verb (Verb) a
// request and a reply, as JSON.
//
// Instants are nanoseconds on the agent's own monotonic clock unless stated otherwise; other units
// are in the names, as in package record. A zero value means that the field was not set, unless its
// comment says otherwise.
package message
