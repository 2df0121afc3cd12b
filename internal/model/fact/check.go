package fact

// Facts that trust checks rest on. Share is a part of a figure that may be Allowed at most.
type (
	// NoWindow: a trial has no window.
	NoWindow struct{}
	// FlowsOpened is how many flows a trial has, and which did not connect.
	FlowsOpened struct {
		Flows   int       `json:"flows"`
		Missing []FlowEnd `json:"missing,omitempty"`
		Meant   bool      `json:"meant,omitempty"` // the treatment allows it
	}
	// FlowsLasted is how many flows connected, and which ended before the window did.
	FlowsLasted struct {
		Flows int       `json:"flows"`
		Ended []FlowEnd `json:"ended,omitempty"`
		// By is an attack, of which that is the result, or an event at AtS, which took the flows' path.
		By  string  `json:"by,omitempty"`
		AtS float64 `json:"at_s,omitempty"`
	}
	// FlowEnd is a flow that failed.
	FlowEnd struct {
		Flow   string `json:"flow"`
		From   string `json:"from"`
		To     string `json:"to"`
		Failed int64  `json:"failed,omitempty"` // transactions of a flow that lasted
		Error  string `json:"error,omitempty"`
	}
	// BytesMoved is what all flows of a trial sent and received.
	BytesMoved struct {
		WrittenBytes      float64     `json:"written_bytes"`
		LostDatagrams     int64       `json:"lost_datagrams,omitempty"`
		AcknowledgedBytes float64     `json:"acknowledged_bytes,omitempty"`
		ReceivedBytes     float64     `json:"received_bytes"`
		Differ            *FlowDiffer `json:"differ,omitempty"` // nil: they agree
	}
	// FlowDiffer is a flow of which two counts differ by more than was in flight.
	FlowDiffer struct {
		Flow string `json:"flow"`
		From string `json:"from"`
		To   string `json:"to"`
		// Counts are the two, and what they may differ by is Allowed: bytes, or transactions.
		Counts   string  `json:"counts"`
		Bytes    float64 `json:"bytes,omitempty"`
		Done     int64   `json:"done,omitempty"`
		Answered int64   `json:"answered,omitempty"`
		Allowed  float64 `json:"allowed"`
	}
	// Thirds is what the first and the last third of a window carried, in bytes or transactions.
	Thirds struct {
		First        float64      `json:"first"`
		Last         float64      `json:"last"`
		Transactions bool         `json:"transactions,omitempty"`
		Change       float64      `json:"change"`
		Allowed      float64      `json:"allowed"`
		Senders      []HostChange `json:"senders,omitempty"` // of two, where the change is too large
	}
	// HostChange is by what the last third of what a host sent differs from the first.
	HostChange struct {
		Host   string  `json:"host"`
		Change float64 `json:"change"`
	}
	// BelowLimit: no flow is above the limit of its path, and no interface above its link's rate.
	BelowLimit struct{}
	// LimitShare is the goodput of all flows as a share of their limit.
	LimitShare struct {
		Bps      float64 `json:"bps"`
		LimitBps float64 `json:"limit_bps"`
		Share    float64 `json:"share"`
		Allowed  float64 `json:"allowed"`
	}
	// FlowLimitShare is the goodput of a flow as a share of the limit of its own path.
	FlowLimitShare struct {
		Flow string `json:"flow"`
		From string `json:"from"`
		To   string `json:"to"`
		LimitShare
	}
	// InterfaceShare is the rate of an interface in one direction as a share of its link's.
	InterfaceShare struct {
		Interface string  `json:"interface"` // "client.eth0"
		Out       bool    `json:"out,omitempty"`
		Bps       float64 `json:"bps"`
		RateBps   float64 `json:"rate_bps"`
		Share     float64 `json:"share"`
		Allowed   float64 `json:"allowed"`
	}
	// SenderSum is the sum of the senders' own averages, as a share of the limit of its path.
	SenderSum LimitShare
	// ToolFailed is how many processes of a tool gave a figure, of so many, and why one did not.
	ToolFailed struct {
		Gave  int    `json:"gave"`
		Of    int    `json:"of"`
		Error string `json:"error"`
	}
	// ToolRate is what a tool reports, and what receivers read in the window.
	ToolRate struct {
		Method      string  `json:"method"`
		Bps         float64 `json:"bps"`
		ReceivedBps float64 `json:"received_bps"`
		Change      float64 `json:"change,omitempty"` // where something was received, and its bounds
		Least       float64 `json:"least,omitempty"`
		Most        float64 `json:"most,omitempty"`
		// LimitShare is the figure as a share of LimitBps, where that is too much.
		LimitShare float64     `json:"limit_share,omitempty"`
		LimitBps   float64     `json:"limit_bps,omitempty"`
		Why        *ToolExcess `json:"why,omitempty"` // where the two differ too much
	}
	// ToolExcess is what explains a tool's figure: each connection's bytes over its own time make
	// PredictedBps of the SurplusBps. Where that is not known, Seconds is its own time.
	ToolExcess struct {
		PredictedBps float64 `json:"predicted_bps,omitempty"`
		SurplusBps   float64 `json:"surplus_bps,omitempty"`
		Explains     bool    `json:"explains,omitempty"`
		UnsentBytes  float64 `json:"unsent_bytes,omitempty"` // still in send buffers
		Seconds      float64 `json:"seconds,omitempty"`
	}
	// ToolTransactions is what a tool reports of transactions, and what was counted.
	ToolTransactions struct {
		Method   string  `json:"method"`
		PerS     float64 `json:"per_s"`
		Counted  float64 `json:"counted_per_s"`
		ByServer bool    `json:"by_server,omitempty"` // linerate's server counted; false: its sockets' bytes did
		Change   float64 `json:"change,omitempty"`    // where some were counted
		Allowed  float64 `json:"allowed"`
	}
	// PeerBytes is what this host and a peer that is not linerate have counted of a direction.
	PeerBytes struct {
		Direction   string  `json:"direction"`
		UDP         bool    `json:"udp,omitempty"`
		Sends       bool    `json:"sends,omitempty"` // this host does
		PeerBytes   float64 `json:"peer_bytes"`
		AllBytes    float64 `json:"all_bytes"`
		WindowBytes float64 `json:"window_bytes"`
		Expected    *Bounds `json:"expected,omitempty"` // of the peer's, where they are not within
	}
	// Bounds are the least and the most of something, in bytes.
	Bounds struct {
		LeastBytes float64 `json:"least_bytes"`
		MostBytes  float64 `json:"most_bytes"`
	}
	// PeerRate is a peer's rate over its own time, and this host's in the window.
	PeerRate struct {
		Direction string      `json:"direction"`
		PeerBps   float64     `json:"peer_bps"`
		Seconds   float64     `json:"seconds"`
		Bps       float64     `json:"bps,omitempty"` // 0: this host did not count; otherwise with bounds
		Change    float64     `json:"change,omitempty"`
		Least     float64     `json:"least,omitempty"`
		Most      float64     `json:"most,omitempty"`
		Limit     *LimitShare `json:"limit,omitempty"` // where it is above
	}
	// GeneratorLoad is how busy the programs that make the traffic were, and their machines.
	GeneratorLoad struct {
		Thread float64 `json:"thread"` // a CPU's share that the busiest of Fact.Host took
		CPUs   *Load   `json:"cpus,omitempty"`
		Polls  bool    `json:"polls,omitempty"` // threads that poll keep CPUs busy
		// Exhausted: so busy, or flows were held back by it. But is what was the limit nevertheless,
		// of interfaces Full; Held are the flows that the machine held back. Neither: it may have been.
		Exhausted bool     `json:"exhausted,omitempty"`
		But       string   `json:"but,omitempty"`
		Full      string   `json:"full,omitempty"`
		Held      []string `json:"held,omitempty"`
	}
	// Load is how busy all CPUs of a host were together, or those that linerate may Use.
	Load struct {
		Host   string  `json:"host"`
		Usable bool    `json:"usable,omitempty"`
		Busy   float64 `json:"busy"`
		Niced  float64 `json:"niced,omitempty"` // with programs that leave them to others
	}
	// Stolen is what a hypervisor took of a host's CPU time.
	Stolen struct {
		Share   float64 `json:"share"`
		Allowed float64 `json:"allowed"`
		Reached bool    `json:"reached,omitempty"` // the limit was, all the same
	}
	// Edges is how late a host read a window's edges, and how well a clock is known.
	Edges struct {
		LateS     float64 `json:"late_s"`
		ClockHost string  `json:"clock_host,omitempty"`
		DoubtS    float64 `json:"doubt_s,omitempty"`
		AllowedS  float64 `json:"allowed_s"`
		Allowed   float64 `json:"allowed"` // as a share of the window
		WindowS   float64 `json:"window_s"`
		// Why it was late: the kernel's timers go off every TickS alone, or CPUs were Busy.
		TickS float64 `json:"tick_s,omitempty"`
		Busy  float64 `json:"busy,omitempty"`
	}
	// Carried is what the interfaces of a receiving host took in, and what its flows received.
	Carried struct {
		InterfaceBytes float64 `json:"interface_bytes"`
		FlowBytes      float64 `json:"flow_bytes"`
		ResentBytes    float64 `json:"resent_bytes,omitempty"`
		UncountedBytes float64 `json:"uncounted_bytes,omitempty"` // lost, or came twice
		Share          float64 `json:"share"`
		Allowed        float64 `json:"allowed"`
	}
	// NoFlow is what the interfaces of a host carried that belongs to no flow.
	NoFlow struct {
		Sent    bool    `json:"sent,omitempty"` // false: received
		Bytes   float64 `json:"bytes"`
		Share   float64 `json:"share"`
		Allowed float64 `json:"allowed"`
	}
	// RareCounters are counters of an interface that are refreshed too rarely for a window.
	RareCounters struct {
		Interface string  `json:"interface"`
		Driver    string  `json:"driver,omitempty"`
		RefreshS  float64 `json:"refresh_s"`
		WindowS   float64 `json:"window_s"`
	}
	// CarriedAgain is an interface whose packets another one counts again, with headers of unknown length.
	CarriedAgain struct {
		Interface string `json:"interface"`
		Kind      string `json:"kind"`
	}
	// SwitchCounts is what a port of a switch and the host at its other end counted.
	SwitchCounts struct {
		Switch      string  `json:"switch"`
		Port        string  `json:"port"`
		Peer        string  `json:"peer"` // "client.eth0"
		Receives    bool    `json:"receives,omitempty"`
		SwitchBytes float64 `json:"switch_bytes"`
		HostBytes   float64 `json:"host_bytes"`
		Bytes       float64 `json:"bytes"` // by which they differ
		Allowed     float64 `json:"allowed_bytes"`
		FCS         string  `json:"fcs,omitempty"` // how it counts them; empty: not known
	}
	// NoPorts: no interface that was read is at the other ends of a switch's ports.
	NoPorts struct{}
	// PortsUnread are switches and ports without figures, of which others have some.
	PortsUnread struct {
		List   []PortUnread `json:"list"`
		Others bool         `json:"others,omitempty"`
	}
	// PortUnread is a switch, or a port of it, without figures, and the device's answer.
	PortUnread struct {
		Switch string `json:"switch"`
		Port   string `json:"port,omitempty"`
		Error  string `json:"error"`
	}
)

// Why flows ended.
const (
	ByAttack = "attack"
	ByEvent  = "event"
)

// What was the limit though a machine was exhausted.
const (
	ButLimit     = "limit"     // that of the paths
	ButInterface = "interface" // one that was full
	ButNetwork   = "network"   // a full link or loss held every flow back
)

// Two counts of a flow that differ.
const (
	CountsLost         = "lost"         // received and lost exceed sent
	CountsWritten      = "written"      // received exceeds written
	CountsSent         = "sent"         // received exceeds sent
	CountsAcknowledged = "acknowledged" // received and acknowledged differ
	CountsAnswered     = "answered"     // transactions done and answered differ
)

// Whether a switch counts frame check sequences.
const (
	FCSCounted    = "counted"
	FCSNotCounted = "not counted"
)

var (
	_ = is[NoWindow]("no_window")
	_ = is[FlowsOpened]("flows_opened")
	_ = is[FlowsLasted]("flows_lasted")
	_ = is[BytesMoved]("bytes_moved")
	_ = is[Thirds]("thirds")
	_ = is[BelowLimit]("below_limit")
	_ = is[LimitShare]("limit_share")
	_ = is[FlowLimitShare]("flow_limit_share")
	_ = is[InterfaceShare]("interface_share")
	_ = is[SenderSum]("sender_sum")
	_ = is[ToolFailed]("tool_failed")
	_ = is[ToolRate]("tool_rate")
	_ = is[ToolTransactions]("tool_transactions")
	_ = is[PeerBytes]("peer_bytes")
	_ = is[PeerRate]("peer_rate")
	_ = is[GeneratorLoad]("generator_load")
	_ = is[Stolen]("stolen")
	_ = is[Edges]("edges")
	_ = is[Carried]("carried")
	_ = is[NoFlow]("no_flow")
	_ = is[RareCounters]("rare_counters")
	_ = is[CarriedAgain]("carried_again")
	_ = is[SwitchCounts]("switch_counts")
	_ = is[NoPorts]("no_ports")
	_ = is[PortsUnread]("ports_unread")
)
