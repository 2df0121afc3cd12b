package fact

// Facts about hosts of the BSDs and macOS.
type (
	// BufferPool is how much of a pool of memory for packets is in use (netstat -m).
	BufferPool struct {
		Name string `json:"name"` // "mbuf clusters"; "Kbytes allocated to network"
		Used int64  `json:"used"`
		Most int64  `json:"most"`
	}
	// StalledRing is a transmit ring of which the NIC completes nothing.
	StalledRing struct {
		Interface string `json:"interface"`
		Ring      string `json:"ring"` // "txq0"
	}
	// QueueInterrupts is the queue of a NIC with the most interrupts: Count of Of since boot, of Queues.
	QueueInterrupts struct {
		Interface string `json:"interface"`
		Queue     string `json:"queue"` // "igb0:rxq0"
		Count     int64  `json:"count"`
		Of        int64  `json:"of"`
		Queues    int    `json:"queues"`
	}
)

var _ = are(BufferPool{}, StalledRing{}, QueueInterrupts{})

// Names returns the interface.
func (s StalledRing) Names() []string { return []string{s.Interface} }

// Names returns the interface.
func (q QueueInterrupts) Names() []string { return []string{q.Interface} }
