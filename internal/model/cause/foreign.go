package cause

// Causes that only the BSDs and macOS have.
var (
	BuffersDenied        = one[None]("network-buffers-denied")
	BuffersDelayed       = one[None]("network-buffers-delayed")
	BuffersShort         = each[Pool]("network-buffers-short")
	InputQueueDrop       = one[None]("input-queue-drop")
	RingStalled          = each[None]("transmit-ring-stalled")
	InterruptsOfOneQueue = each[None]("interrupts-of-one-queue")
)

// Pool is a pool of memory for packets.
type Pool struct {
	Name string `json:"name"` // in the words of netstat -m: "mbuf clusters"
}
