package socket

import (
	"math/rand/v2"
	"sync"
)

// Payload is what TCP flows send, repeatedly: random, so that no link can compress it. It is zero before
// FillPayload.
var Payload [128 << 10]byte

// FillPayload fills Payload, once.
var FillPayload = sync.OnceFunc(func() { FillRandom(Payload[:]) })

// FillRandom fills data with pseudo-random bytes, the same each time.
func FillRandom(data []byte) {
	_, _ = rand.NewChaCha8([32]byte{}).Read(data) // never fails
}
