package fact

// Facts about counters and sockets.
type (
	// Apart is how much of a counter's growth may have another cause.
	Apart struct {
		Packets int64  `json:"packets"`
		Cause   string `json:"cause"`         // FragmentsRefused, BeforeRoutes, NamesLookedUp
		All     bool   `json:"all,omitempty"` // of the growth
	}
	// Part is a growth beside that of other counters.
	Part struct {
		Grew     int64    `json:"grew"`
		Counters []string `json:"counters"`
		Of       int64    `json:"of"` // by how much these grew
	}
	// Listener is a listening TCP socket and its accept queue.
	Listener struct {
		Local   string `json:"local"`
		Queued  int64  `json:"queued"`
		Backlog int64  `json:"backlog"`
		Program string `json:"program,omitempty"`
	}
	// DroppingSocket is a UDP socket that dropped datagrams since it was opened.
	DroppingSocket struct {
		Local       string `json:"local"`
		Drops       uint64 `json:"drops"`
		Queued      int64  `json:"queued_bytes"`
		BufferBytes int64  `json:"buffer_bytes,omitempty"` // 0: not known
		Program     string `json:"program,omitempty"`
	}
	// Unread is a connection whose program has not read what arrived.
	Unread struct {
		Local  string `json:"local"`
		Remote string `json:"remote"`
		Bytes  int64  `json:"bytes"`
	}
	// Retransmitted is a connection that sent segments again.
	Retransmitted struct {
		Local    string `json:"local"`
		Remote   string `json:"remote"`
		Segments int64  `json:"segments"`
		Of       int64  `json:"of"` // that it sent
	}
)

// Causes of Apart.
const (
	FragmentsRefused = "fragments-refused"
	BeforeRoutes     = "before-routes"
	NamesLookedUp    = "names-looked-up"
)

var (
	_ = is[Apart]("apart")
	_ = is[Part]("part")
	_ = is[Listener]("listener")
	_ = is[DroppingSocket]("dropping_socket")
	_ = is[Unread]("unread")
	_ = is[Retransmitted]("retransmitted")
)
