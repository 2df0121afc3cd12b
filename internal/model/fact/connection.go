package fact

import "net/netip"

// Facts about connections, listeners and local ports.
type (
	// InStates is the number of connections in any of some TCP states.
	InStates struct {
		States []string `json:"states"`
		Count  int      `json:"count"`
	}
	// Connection is a TCP connection and its queues.
	Connection struct {
		Local          string   `json:"local"`
		Remote         string   `json:"remote"`
		State          string   `json:"state"`
		Unread         int64    `json:"unread_bytes"`
		Unacknowledged int64    `json:"unacknowledged_bytes"`
		ReadBps        *float64 `json:"read_bps,omitempty"` // rate at which its program reads; absent: not known
		Timeouts       uint8    `json:"timeouts,omitempty"` // consecutive retransmission timeouts
	}
	// Stalled is a connection with data to send of which nothing was sent or acknowledged for a time.
	Stalled struct {
		Local    string  `json:"local"`
		Remote   string  `json:"remote"`
		Waiting  int64   `json:"waiting_bytes"` // not acknowledged, or not sent
		Window   uint32  `json:"cwnd"`          // segments
		SentAgoS float64 `json:"sent_ago_s"`
		AckAgoS  float64 `json:"acknowledged_ago_s"`
		RTTUs    uint32  `json:"rtt_us"`
	}
	// PathQueue is a connection whose packets wait on their path. MinRTTUs is the shortest round-trip time.
	PathQueue struct {
		Local    string `json:"local"`
		Remote   string `json:"remote"`
		RTTUs    uint32 `json:"rtt_us"`
		MinRTTUs uint32 `json:"min_rtt_us"`
	}
	// Transferred is what a tool printed about a transfer: bytes that its ends counted. Absent: not printed.
	Transferred struct {
		From     string  `json:"from,omitempty"`
		To       string  `json:"to,omitempty"`
		Seconds  float64 `json:"seconds,omitempty"`
		Sent     *int64  `json:"sent_bytes,omitempty"`
		Received *int64  `json:"received_bytes,omitempty"`
		// Lost of Datagrams did not arrive.
		Lost      *int64 `json:"lost,omitempty"`
		Datagrams *int64 `json:"datagrams,omitempty"`
		// In Idle of Intervals nothing was transferred.
		Idle      int `json:"idle_intervals,omitempty"`
		Intervals int `json:"intervals,omitempty"`
	}
	// HeldBack is a connection that waited for its peer's window or for its send buffer, out of the
	// time that it was busy.
	HeldBack struct {
		Local       string  `json:"local"`
		Remote      string  `json:"remote"`
		SendBuffer  bool    `json:"send_buffer,omitempty"` // it waited for its send buffer; false: for the window
		WaitedUs    uint64  `json:"waited_us"`
		BusyUs      uint64  `json:"busy_us"`
		WindowBytes *uint32 `json:"window_bytes,omitempty"` // the peer's; absent: not known
	}
	// SmallSegments is a connection whose segments are much smaller than its path allows.
	SmallSegments struct {
		Local   string `json:"local"`
		Remote  string `json:"remote"`
		MSS     uint32 `json:"mss"`
		PathMTU uint32 `json:"path_mtu"`
	}
	// Backlog is a listening TCP socket and its backlog.
	Backlog struct {
		Local   string `json:"local"`
		Backlog int64  `json:"backlog"`
		Program string `json:"program,omitempty"`
	}
	// UnreadSocket is a UDP socket with bytes that its program has not read, and the datagrams that it
	// has dropped.
	UnreadSocket struct {
		Local   string `json:"local"`
		Bytes   int64  `json:"bytes"`
		Drops   int64  `json:"drops"`
		Program string `json:"program,omitempty"`
	}
	// InTimeWait is the number of connections in TIME-WAIT, and the range of local ports.
	InTimeWait struct {
		Count   int       `json:"count"`
		Between bool      `json:"between,omitempty"` // all are to one address and port
		Range   PortRange `json:"range"`
	}
	// Orphans is the number of connections without a program; Most is net.ipv4.tcp_max_orphans.
	Orphans struct {
		Count int64 `json:"count"`
		Most  int64 `json:"most"`
	}
	// Limited is a flow and what limits it, as facts. Why is the text that earlier versions stored
	// instead.
	Limited struct {
		Flow string `json:"flow"`
		By   []Fact `json:"by,omitempty"`
		Why  string `json:"why,omitempty"`
	}
	// NoPort is a flow that found no free local port: Open of the Wanted connections were open by then.
	NoPort struct {
		Source      netip.Addr     `json:"source,omitzero"` // bound address; zero: any
		Destination netip.AddrPort `json:"destination"`
		Open        int            `json:"open"`
		Wanted      int            `json:"wanted"`
	}
	// Failed is a system call that failed, and its error.
	Failed struct {
		Call  string `json:"call"`
		Error string `json:"error"` // symbolic name: "EADDRINUSE"
	}
	// LocalPorts is the range of local ports for connections, net.ipv4.ip_local_port_range.
	LocalPorts struct {
		First uint16 `json:"first"`
		Last  uint16 `json:"last"`
	}
	// NoDescriptor is a flow whose socket(2) failed with EMFILE: Open of the Wanted connections were
	// open by then.
	NoDescriptor struct {
		Flow   string `json:"flow"`
		Open   int    `json:"open"`
		Wanted int    `json:"wanted"`
	}
	// DescriptorLimit is the limit of a process's open files, RLIMIT_NOFILE.
	DescriptorLimit struct {
		Limit int `json:"limit"`
	}
)

var _ = are(InStates{}, Connection{}, PathQueue{}, Transferred{}, HeldBack{}, SmallSegments{}, Backlog{},
	UnreadSocket{}, InTimeWait{}, Orphans{}, Limited{}, NoPort{}, LocalPorts{}, NoDescriptor{},
	DescriptorLimit{})
var (
	_ = is[Stalled]("stalled_connection")
	_ = is[Failed]("failed_call")
)

// Names returns net.ipv4.ip_local_port_range.
func (t InTimeWait) Names() []string { return t.Range.Names() }

// Names returns net.ipv4.tcp_max_orphans.
func (Orphans) Names() []string { return []string{"net.ipv4.tcp_max_orphans"} }

// Names returns net.ipv4.ip_local_port_range.
func (LocalPorts) Names() []string { return []string{"net.ipv4.ip_local_port_range"} }
