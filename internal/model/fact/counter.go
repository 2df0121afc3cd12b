package fact

// Facts about counters and sockets.
type (
	// Apart is the part of a counter's growth that may have another cause.
	Apart struct {
		Packets int64  `json:"packets"`
		Cause   string `json:"cause"`         // FragmentsRefused, BeforeRoutes or NamesLookedUp
		All     bool   `json:"all,omitempty"` // it may be all of the growth
	}
	// Part compares the growth of counters (Grew) with that of others (Of).
	Part struct {
		Grew     int64    `json:"grew"`
		Counters []string `json:"counters"`
		Of       int64    `json:"of"` // growth of Counters
	}
	// Listener is a listening TCP socket and its accept queue.
	Listener struct {
		Local   string `json:"local"`
		Queued  int64  `json:"queued"`
		Backlog int64  `json:"backlog"`
		Program string `json:"program,omitempty"`
	}
	// DroppingSocket is a UDP socket that has dropped datagrams since it was opened.
	DroppingSocket struct {
		Local       string `json:"local"`
		Drops       uint64 `json:"drops"`
		Queued      int64  `json:"queued_bytes"`
		BufferBytes int64  `json:"buffer_bytes,omitempty"` // 0: not known
		Program     string `json:"program,omitempty"`
	}
	// Unread is a connection with bytes that its program has not read.
	Unread struct {
		Local  string `json:"local"`
		Remote string `json:"remote"`
		Bytes  int64  `json:"bytes"`
	}
	// Retransmitted is a connection that has sent segments again.
	Retransmitted struct {
		Local    string `json:"local"`
		Remote   string `json:"remote"`
		Segments int64  `json:"segments"`
		Of       int64  `json:"of"` // all segments that it sent
		// AssumedMSS is the size in bytes of a segment's data with which Of was computed from bytes. 0: Of was counted.
		AssumedMSS int `json:"assumed_mss,omitempty"`
	}
)

// Values of Apart.Cause.
const (
	FragmentsRefused = "fragments-refused"
	BeforeRoutes     = "before-routes"
	NamesLookedUp    = "names-looked-up"
)

var _ = are(Apart{}, Part{}, Listener{}, DroppingSocket{}, Unread{}, Retransmitted{})
