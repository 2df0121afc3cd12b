package fact

// Facts of trust checks. A Share or Change is relative: 1 stands for 100 %. Allowed is the largest
// value with which the check passes.
type (
	// NoWindow says that a trial has no window.
	NoWindow struct{}
	// FlowsOpened is the number of flows of a trial, and the flows that did not connect.
	FlowsOpened struct {
		Flows   int       `json:"flows"`
		Missing []FlowEnd `json:"missing,omitempty"`
		Meant   bool      `json:"meant,omitempty"` // the treatment allows flows that do not connect
	}
	// FlowsLasted is the number of flows that connected, those that ended before the window did, and
	// those that lasted and carried nothing in it. Meant: the treatment allows the latter.
	FlowsLasted struct {
		Flows  int       `json:"flows"`
		Ended  []FlowEnd `json:"ended,omitempty"`
		Silent []FlowEnd `json:"silent,omitempty"`
		Meant  bool      `json:"meant,omitempty"`
		// By is ByAttack if an attack caused it, which is its result, or ByEvent if an event at AtS
		// did.
		By  string  `json:"by,omitempty"`
		AtS float64 `json:"at_s,omitempty"`
	}
	// FlowEnd is a flow that failed: did not connect, or ended too early.
	FlowEnd struct {
		Flow   string `json:"flow"`
		From   string `json:"from"`
		To     string `json:"to"`
		Failed int64  `json:"failed,omitempty"` // failed transactions of a flow that lasted
		Error  string `json:"error,omitempty"`
	}
	// BytesMoved is what all flows of a trial sent and received in the window.
	BytesMoved struct {
		WrittenBytes      float64     `json:"written_bytes"`
		LostDatagrams     int64       `json:"lost_datagrams,omitempty"`
		AcknowledgedBytes float64     `json:"acknowledged_bytes,omitempty"`
		ReceivedBytes     float64     `json:"received_bytes"`
		Differ            *FlowDiffer `json:"differ,omitempty"` // nil: the counts of each flow agree
	}
	// FlowDiffer is a flow whose sender and receiver counts differ by more than can be in flight.
	FlowDiffer struct {
		Flow string `json:"flow"`
		From string `json:"from"`
		To   string `json:"to"`
		// Counts says which two counts differ, such as CountsWritten: by Bytes, or for CountsAnswered
		// Done and Answered transactions. Allowed is how much they may differ by.
		Counts   string  `json:"counts"`
		Bytes    float64 `json:"bytes,omitempty"`
		Done     int64   `json:"done,omitempty"`
		Answered int64   `json:"answered,omitempty"`
		Allowed  float64 `json:"allowed"`
	}
	// Thirds compares what the first and the last third of a window carried, in bytes or transactions.
	Thirds struct {
		First        float64 `json:"first"`
		Last         float64 `json:"last"`
		Transactions bool    `json:"transactions,omitempty"`
		Change       float64 `json:"change"`
		Allowed      float64 `json:"allowed"`
		Losses       bool    `json:"losses,omitempty"` // Allowed has what congestion control makes of losses
		// All flows together stood still from StoodAtS for StoodS seconds; 0: they did not.
		StoodAtS float64      `json:"stood_at_s,omitempty"`
		StoodS   float64      `json:"stood_s,omitempty"`
		Senders  []HostChange `json:"senders,omitempty"` // the two senders, if Change is too large
	}
	// HostChange is the relative change between what a host sent in the first and in the last third.
	HostChange struct {
		Host   string  `json:"host"`
		Change float64 `json:"change"`
	}
	// BelowLimit says that no flow exceeds the limit of its path, and no interface the rate of its
	// link.
	BelowLimit struct{}
	// LimitShare is the goodput of all flows, as a share of their limit.
	LimitShare struct {
		Bps      float64 `json:"bps"`
		LimitBps float64 `json:"limit_bps"`
		Share    float64 `json:"share"`
		Allowed  float64 `json:"allowed"`
	}
	// FlowLimitShare is the goodput of a flow, as a share of the limit of its own path.
	FlowLimitShare struct {
		Flow string `json:"flow"`
		From string `json:"from"`
		To   string `json:"to"`
		LimitShare
	}
	// InterfaceShare is the rate of an interface in one direction, as a share of the rate of its link.
	InterfaceShare struct {
		Interface string  `json:"interface"`     // "client.eth0"
		Out       bool    `json:"out,omitempty"` // direction: sent; false: received
		Bps       float64 `json:"bps"`
		RateBps   float64 `json:"rate_bps"`
		Share     float64 `json:"share"`
		Allowed   float64 `json:"allowed"`
	}
	// SenderSum is the sum of the senders' own averages, as a share of the limit of their path.
	SenderSum LimitShare
	// ToolFailed is how many processes of a tool reported a figure (Gave of Of), and why one did not.
	ToolFailed struct {
		Gave  int    `json:"gave"`
		Of    int    `json:"of"`
		Error string `json:"error"`
	}
	// ToolRate compares the rate that a tool reports with what the receivers read in the window.
	ToolRate struct {
		Method      string  `json:"method"`
		Bps         float64 `json:"bps"`
		ReceivedBps float64 `json:"received_bps"`
		// Change is relative, and 0 if nothing was received. Least and Most are its bounds.
		Change float64 `json:"change,omitempty"`
		Least  float64 `json:"least,omitempty"`
		Most   float64 `json:"most,omitempty"`
		// LimitShare is the reported rate as a share of LimitBps, if it exceeds that by too much;
		// otherwise 0.
		LimitShare float64     `json:"limit_share,omitempty"`
		LimitBps   float64     `json:"limit_bps,omitempty"`
		Why        *ToolExcess `json:"why,omitempty"` // nil: the rates agree, or the reason is not known
	}
	// ToolExcess explains why a tool's rate is off by SurplusBps. PredictedBps is the part that comes
	// from dividing the bytes of each connection by its own time; if that is not known, Seconds is the
	// tool's own time.
	ToolExcess struct {
		PredictedBps float64 `json:"predicted_bps,omitempty"`
		SurplusBps   float64 `json:"surplus_bps,omitempty"`
		Explains     bool    `json:"explains,omitempty"`
		UnsentBytes  float64 `json:"unsent_bytes,omitempty"` // left in send buffers
		Seconds      float64 `json:"seconds,omitempty"`
	}
	// ToolTransactions compares the transactions per second that a tool reports with those that were
	// counted.
	ToolTransactions struct {
		Method  string  `json:"method"`
		PerS    float64 `json:"per_s"`
		Counted float64 `json:"counted_per_s"`
		// ByServer reports whether linerate's server counted; otherwise the sockets' bytes did.
		ByServer bool    `json:"by_server,omitempty"`
		Change   float64 `json:"change,omitempty"` // relative; 0 if none were counted
		Allowed  float64 `json:"allowed"`
	}
	// PeerBytes compares the counts of this host and of a peer that is not linerate, for one direction.
	PeerBytes struct {
		Direction   string  `json:"direction"`
		UDP         bool    `json:"udp,omitempty"`
		Sends       bool    `json:"sends,omitempty"` // this host sends, and the peer receives
		PeerBytes   float64 `json:"peer_bytes"`
		AllBytes    float64 `json:"all_bytes"`
		WindowBytes float64 `json:"window_bytes"`
		Expected    *Bounds `json:"expected,omitempty"` // range for PeerBytes, if that is outside
	}
	// Bounds is a range of bytes.
	Bounds struct {
		LeastBytes float64 `json:"least_bytes"`
		MostBytes  float64 `json:"most_bytes"`
	}
	// PeerRate compares a peer's rate over its own time with this host's rate in the window.
	PeerRate struct {
		Direction string      `json:"direction"`
		PeerBps   float64     `json:"peer_bps"`
		Seconds   float64     `json:"seconds"`
		Bps       float64     `json:"bps,omitempty"` // 0: this host did not count, and Change, Least and Most are 0
		Change    float64     `json:"change,omitempty"`
		Least     float64     `json:"least,omitempty"`
		Most      float64     `json:"most,omitempty"`
		Limit     *LimitShare `json:"limit,omitempty"` // nil: the peer's rate is not above the limit
	}
	// GeneratorLoad is how busy the traffic programs and the CPUs of their hosts were.
	GeneratorLoad struct {
		Thread float64 `json:"thread"` // share of a CPU that the busiest thread took, on Fact.Host
		CPUs   *Load   `json:"cpus,omitempty"`
		Polls  bool    `json:"polls,omitempty"` // threads poll; that time does not count as load
		// Exhausted reports whether the load may have limited the trial. If But is set, it says what
		// was the limit nevertheless: ButLimit, ButInterface (Full is its name) or ButNetwork.
		// Otherwise Held are the flows that the machine held back; empty: it is not known whether it
		// was the limit.
		Exhausted bool     `json:"exhausted,omitempty"`
		But       string   `json:"but,omitempty"`
		Full      string   `json:"full,omitempty"`
		Held      []string `json:"held,omitempty"`
	}
	// Load is how busy the CPUs of a host were together, from 0 to 1. With Usable, only the CPUs that
	// linerate may use are meant.
	Load struct {
		Host   string  `json:"host"`
		Usable bool    `json:"usable,omitempty"`
		Busy   float64 `json:"busy"`
		Niced  float64 `json:"niced,omitempty"` // of programs with a nice value above 0; not part of Busy
	}
	// Stolen is the share of a host's CPU time that a hypervisor took.
	Stolen struct {
		Share   float64 `json:"share"`
		Allowed float64 `json:"allowed"`
		Reached bool    `json:"reached,omitempty"` // the limit was reached nevertheless
	}
	// Edges is how late a host read the begin or end of a window, and how accurately a clock is known.
	Edges struct {
		LateS     float64 `json:"late_s"`
		ClockHost string  `json:"clock_host,omitempty"`
		DoubtS    float64 `json:"doubt_s,omitempty"`
		AllowedS  float64 `json:"allowed_s"`
		Allowed   float64 `json:"allowed"` // as a share of the window
		WindowS   float64 `json:"window_s"`
		// TickS and Busy say why the reading was late, if they are not 0: the kernel's timers expire
		// only every TickS seconds, or the CPUs were busy for the share Busy.
		TickS float64 `json:"tick_s,omitempty"`
		Busy  float64 `json:"busy,omitempty"`
	}
	// Carried compares what the interfaces of a receiving host received with what its flows did.
	Carried struct {
		InterfaceBytes float64 `json:"interface_bytes"`
		FlowBytes      float64 `json:"flow_bytes"`
		ResentBytes    float64 `json:"resent_bytes,omitempty"`
		UncountedBytes float64 `json:"uncounted_bytes,omitempty"` // lost, or received twice
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
	// RareCounters is an interface whose counters are refreshed too rarely for a window.
	RareCounters struct {
		Interface string  `json:"interface"`
		Driver    string  `json:"driver,omitempty"`
		RefreshS  float64 `json:"refresh_s"`
		WindowS   float64 `json:"window_s"`
	}
	// CarriedAgain is an interface whose packets another interface counts again, with headers of
	// unknown length.
	CarriedAgain struct {
		Interface string `json:"interface"`
		Kind      string `json:"kind"`
	}
	// SwitchCounts compares the counts of a switch port and of the host at its other end.
	SwitchCounts struct {
		Switch      string  `json:"switch"`
		Port        string  `json:"port"`
		Peer        string  `json:"peer"`               // "client.eth0"
		Receives    bool    `json:"receives,omitempty"` // the port receives; false: it sends
		SwitchBytes float64 `json:"switch_bytes"`
		HostBytes   float64 `json:"host_bytes"`
		Bytes       float64 `json:"bytes"` // difference
		Allowed     float64 `json:"allowed_bytes"`
		FCS         string  `json:"fcs,omitempty"` // FCSCounted or FCSNotCounted; empty: not known
	}
	// NoPorts says that no switch port is connected to an interface that was read.
	NoPorts struct{}
	// PortsUnread lists switches and ports that could not be read.
	PortsUnread struct {
		List   []PortUnread `json:"list"`
		Others bool         `json:"others,omitempty"` // other ports could be read
	}
	// PortUnread is a switch, or one of its ports, that could not be read, with the device's error.
	PortUnread struct {
		Switch string `json:"switch"`
		Port   string `json:"port,omitempty"`
		Error  string `json:"error"`
	}
)

// Causes of flows that ended before the window did.
const (
	ByAttack = "attack"
	ByEvent  = "event"
)

// What limited a trial although a machine was exhausted.
const (
	ButLimit     = "limit"     // the limit of the paths was reached
	ButInterface = "interface" // an interface was full
	ButNetwork   = "network"   // a full link or loss held every flow back
)

// Counts of a flow's sender and receiver that differ.
const (
	CountsLost         = "lost"         // received and lost exceed sent
	CountsWritten      = "written"      // received exceeds written
	CountsSent         = "sent"         // received exceeds sent
	CountsAcknowledged = "acknowledged" // received and acknowledged differ
	CountsAnswered     = "answered"     // transactions done and answered differ
)

// Whether a switch counts the frame check sequence of each frame.
const (
	FCSCounted    = "counted"
	FCSNotCounted = "not counted"
)

var _ = are(NoWindow{}, FlowsOpened{}, FlowsLasted{}, BytesMoved{}, Thirds{}, BelowLimit{}, LimitShare{},
	FlowLimitShare{}, InterfaceShare{}, ToolFailed{}, ToolRate{}, ToolTransactions{}, PeerBytes{}, PeerRate{},
	GeneratorLoad{}, Stolen{}, Edges{}, Carried{}, NoFlow{}, RareCounters{}, CarriedAgain{}, SwitchCounts{},
	NoPorts{}, PortsUnread{})
var _ = is[SenderSum]("sender_sum")
