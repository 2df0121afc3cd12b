package fact

import "net/netip"

// Facts about connections, listeners and ports.
type (
	// InStates is how many connections are in some states.
	InStates struct {
		States []string `json:"states"`
		Count  int      `json:"count"`
	}
	// Connection is a connection with its queues.
	Connection struct {
		Local          string   `json:"local"`
		Remote         string   `json:"remote"`
		State          string   `json:"state"`
		Unread         int64    `json:"unread_bytes"`
		Unacknowledged int64    `json:"unacknowledged_bytes"`
		ReadBps        *float64 `json:"read_bps,omitempty"` // by its program; absent: not known
		Timeouts       uint8    `json:"timeouts,omitempty"` // in a row
	}
	// HeldBack is a connection that waited for the window of its peer or for its send buffer.
	HeldBack struct {
		Local       string  `json:"local"`
		Remote      string  `json:"remote"`
		SendBuffer  bool    `json:"send_buffer,omitempty"` // false: the window
		WaitedUs    uint64  `json:"waited_us"`
		BusyUs      uint64  `json:"busy_us"`
		WindowBytes *uint32 `json:"window_bytes,omitempty"` // of the peer; absent: not known
	}
	// SmallSegments is a connection whose segments are smaller than its path takes.
	SmallSegments struct {
		Local   string `json:"local"`
		Remote  string `json:"remote"`
		MSS     uint32 `json:"mss"`
		PathMTU uint32 `json:"path_mtu"`
	}
	// Backlog is that of a listening TCP socket.
	Backlog struct {
		Local   string `json:"local"`
		Backlog int64  `json:"backlog"`
		Program string `json:"program,omitempty"`
	}
	// UnreadSocket is a UDP socket with datagrams that its program has not read.
	UnreadSocket struct {
		Local   string `json:"local"`
		Bytes   int64  `json:"bytes"`
		Drops   int64  `json:"drops"`
		Program string `json:"program,omitempty"`
	}
	// InTimeWait are connections in TIME-WAIT, beside the range of local ports.
	InTimeWait struct {
		Count   int       `json:"count"`
		Between bool      `json:"between,omitempty"` // one address of the host and one address and port
		Range   PortRange `json:"range"`
	}
	// Orphans are connections without a program, beside net.ipv4.tcp_max_orphans.
	Orphans struct {
		Count int64 `json:"count"`
		Most  int64 `json:"most"`
	}
	// Limited is a flow with what shows by what it is limited: facts, or of a trial of an earlier
	// version their words.
	Limited struct {
		Flow string `json:"flow"`
		By   []Fact `json:"by,omitempty"`
		Why  string `json:"why,omitempty"`
	}
	// NoPort is how many connections of a flow were open when no port was left for a further one.
	NoPort struct {
		Source      netip.Addr     `json:"source,omitzero"` // zero: any
		Destination netip.AddrPort `json:"destination"`
		Open        int            `json:"open"`
		Wanted      int            `json:"wanted"`
	}
	// Failed is a system call that failed.
	Failed struct {
		Call  string `json:"call"`
		Error string `json:"error"` // "EADDRINUSE"
	}
	// LocalPorts is the range of ports that connections had to themselves, net.ipv4.ip_local_port_range.
	LocalPorts struct {
		First uint16 `json:"first"`
		Last  uint16 `json:"last"`
	}
	// NoDescriptor is how many connections of a flow were open when socket(2) failed with EMFILE.
	NoDescriptor struct {
		Flow   string `json:"flow"`
		Open   int    `json:"open"`
		Wanted int    `json:"wanted"`
	}
	// DescriptorLimit is RLIMIT_NOFILE of a process.
	DescriptorLimit struct {
		Limit int `json:"limit"`
	}
)

var (
	_ = is[InStates]("in_states")
	_ = is[Connection]("connection")
	_ = is[HeldBack]("held_back")
	_ = is[SmallSegments]("small_segments")
	_ = is[Backlog]("backlog")
	_ = is[UnreadSocket]("unread_socket")
	_ = is[InTimeWait]("in_time_wait")
	_ = is[Orphans]("orphans")
	_ = is[Limited]("limited")
	_ = is[NoPort]("no_port")
	_ = is[Failed]("failed_call")
	_ = is[LocalPorts]("local_ports")
	_ = is[NoDescriptor]("no_descriptor")
	_ = is[DescriptorLimit]("descriptor_limit")
)

// Names returns the parameter.
func (t InTimeWait) Names() []string { return t.Range.Names() }

// Names returns the parameter.
func (Orphans) Names() []string { return []string{"net.ipv4.tcp_max_orphans"} }

// Names returns the parameter.
func (LocalPorts) Names() []string { return []string{"net.ipv4.ip_local_port_range"} }
