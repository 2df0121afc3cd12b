package fact

// Facts that show what limits a flow. Interfaces are written as "client.eth0"; a share is a part of
// the window's readings or time, or of what it is said with.
type (
	// NoCarrierFor is how long an interface had no carrier, or was down, in a window.
	NoCarrierFor struct {
		Interface string  `json:"interface"`
		Down      bool    `json:"down,omitempty"`
		Seconds   float64 `json:"seconds"`
		WindowS   float64 `json:"window_s,omitempty"`
	}
	// NoAcknowledgement: nothing was acknowledged, and so many timeouts in a row brought no answer.
	NoAcknowledgement struct {
		Timeouts uint8 `json:"timeouts"`
	}
	// CapShare is what a flow got as a share of a cap. It was reached At so many Of all intervals, where
	// the average is lower.
	CapShare struct {
		Cap   string  `json:"cap"`
		Bps   float64 `json:"bps"`
		Share float64 `json:"share"`
		At    int     `json:"at,omitempty"`
		Of    int     `json:"of,omitempty"`
	}
	// LinkShare is what an interface or its shaper carried in one direction, as a share of its rate.
	LinkShare struct {
		Interface string  `json:"interface"`
		Out       bool    `json:"out,omitempty"`
		RateBps   float64 `json:"rate_bps"`
		Share     float64 `json:"share"`
		Shaped    bool    `json:"shaped,omitempty"` // by Shaper, or by a link without one
		Shaper    string  `json:"shaper,omitempty"`
		Queued    float64 `json:"queued,omitempty"` // share of readings with a queue there
	}
	// AcknowledgementShare is the share of a link's rate that is not data of the flows in that direction.
	AcknowledgementShare struct {
		Share float64 `json:"share"`
	}
	// ShortWindow is a window that is too short for a round-trip time.
	ShortWindow struct {
		WindowS float64 `json:"window_s"`
		RTTS    float64 `json:"rtt_s"`
	}
	// NotReported is a field of TCP_INFO that a sender's kernel does not report.
	NotReported struct {
		Field string `json:"field"`
		For   string `json:"for"` // what is not known therefore
	}
	// WaitedFor is which shares of its time a flow waited for its receiver's window and its send buffer.
	WaitedFor struct {
		Window float64 `json:"window"`
		Buffer float64 `json:"buffer"`
	}
	// BusyFor is the share of a window in which a sender had data to send or unacknowledged.
	BusyFor struct {
		Share float64 `json:"share"`
	}
	// NothingToSend is the share of readings at which all that was written had been sent.
	NothingToSend struct {
		Share     float64 `json:"share"`
		ByProgram bool    `json:"by_program,omitempty"` // of all connections of a program
	}
	// BufferHolds is how much of a flow its send buffer holds.
	BufferHolds struct {
		Bytes   float64 `json:"bytes"`
		Seconds float64 `json:"seconds"`
	}
	// BufferFull is a send buffer that was full for a share of the time, or (AllSent) at a share of the
	// readings, with all of it sent.
	BufferFull struct {
		Bytes   float64 `json:"bytes"`
		Share   float64 `json:"share"`
		AllSent bool    `json:"all_sent,omitempty"`
	}
	// WindowFull is how long, or (Read) at which share of the readings, the receiver's window was full.
	WindowFull struct {
		Share       float64 `json:"share"`
		Read        bool    `json:"read,omitempty"`
		BufferBytes float64 `json:"buffer_bytes,omitempty"` // of the receiver
		Receiver    string  `json:"receiver,omitempty"`
	}
	// ReceiverWindow is the size of a receiver's window, and what had not been read there, for how long.
	ReceiverWindow struct {
		Bytes  float64    `json:"bytes"`
		Unread *UnreadFor `json:"unread,omitempty"` // nil: not known
	}
	// UnreadFor is what a program had not read, and how long it lay there; 0: not said.
	UnreadFor struct {
		Bytes   float64 `json:"bytes"`
		Seconds float64 `json:"seconds,omitempty"`
	}
	// ReadCap is the most that a program reads, and what it had not read.
	ReadCap struct {
		Bps         float64 `json:"bps"`
		UnreadBytes float64 `json:"unread_bytes"`
	}
	// WindowClosing is the share of readings at which a window was zero or had shrunk to half.
	WindowClosing struct {
		Share float64 `json:"share"`
	}
	// WindowClosed: so little was in flight that a window was smaller or zero for most of the time.
	WindowClosed struct {
		FlyingBytes float64 `json:"flying_bytes"`
	}
	// RoundTrip is what round trips took, on average or at the window's end, and without a queue.
	RoundTrip struct {
		Seconds float64 `json:"seconds"`
		LeastS  float64 `json:"least_s"`
		Mean    bool    `json:"mean,omitempty"`
	}
	// QueueAt is a queue that round trips show, before a link that nothing here describes.
	QueueAt struct {
		RoundTrip
		Interface string  `json:"interface,omitempty"` // empty: somewhere on the path
		Resent    float64 `json:"resent,omitempty"`    // share of bytes, where packets are lost as well
		OrCPU     bool    `json:"or_cpu,omitempty"`    // packets may have waited for a CPU
		Larger    string  `json:"larger,omitempty"`    // buffer or window that would only lengthen it
		Either    bool    `json:"either,omitempty"`    // or its acknowledgements wait in the other direction's
	}
	// AcknowledgementsQueue is a queue in which a flow's acknowledgements wait behind other data.
	AcknowledgementsQueue struct {
		Interface string `json:"interface,omitempty"` // empty: From's flows tell of it
		Out       bool   `json:"out,omitempty"`
		Shaper    string `json:"shaper,omitempty"`
		// From and To are of the flows that fill it; empty: other traffic does.
		From    string  `json:"from,omitempty"`
		To      string  `json:"to,omitempty"`
		Even    bool    `json:"even,omitempty"` // their rate is, or (false) they lose packets
		Bps     float64 `json:"bps,omitempty"`
		RateBps float64 `json:"rate_bps,omitempty"`
		Share   float64 `json:"share,omitempty"`
		While   bool    `json:"while,omitempty"` // a full link had room
	}
	// NoWindowFull: a flow had room in both windows. It had FlyingBytes in flight, where congestion
	// control allowed AllowedBytes; 0: not said.
	NoWindowFull struct {
		FlyingBytes  float64 `json:"flying_bytes,omitempty"`
		AllowedBytes float64 `json:"allowed_bytes,omitempty"`
	}
	// InFlight is what a congestion window allows.
	InFlight struct {
		Bytes float64 `json:"bytes"`
	}
	// SentAgain is the share of its bytes that a flow sent again, and how much of that needlessly.
	SentAgain struct {
		Share     float64 `json:"share"`
		Needless  float64 `json:"needless,omitempty"`
		Reordered bool    `json:"reordered,omitempty"`
		NoDrops   bool    `json:"no_drops,omitempty"` // nothing that was read dropped any
	}
	// NeverLeft is the share of the segments sent again that never left their host.
	NeverLeft struct {
		Share    float64      `json:"share"`
		Segments int64        `json:"segments"`
		Of       int64        `json:"of"`
		Queues   []QueueDrops `json:"queues,omitempty"` // which dropped packets
	}
	// QueueDrops is what a qdisc of an interface dropped before it was sent; without Kind, the interface.
	QueueDrops struct {
		Interface string  `json:"interface"`
		Kind      string  `json:"kind,omitempty"`
		Packets   int64   `json:"packets"`
		Share     float64 `json:"share,omitempty"` // of what it was given
	}
	// Backpressure is a queue of an interface with packets at a share of the readings, or drops.
	Backpressure struct {
		Interface string  `json:"interface"`
		Kind      string  `json:"kind,omitempty"`
		Share     float64 `json:"share,omitempty"`
		Bps       float64 `json:"bps,omitempty"`
		Drops     float64 `json:"drops,omitempty"`
	}
	// DroppedThere are packets that a shaper dropped.
	DroppedThere struct {
		Packets float64 `json:"packets"`
	}
	// SocketFull is the share of time for which a socket's buffer was full.
	SocketFull struct {
		Share       float64 `json:"share"`
		ByInterface bool    `json:"by_interface,omitempty"` // which took the datagrams no sooner
	}
	// NotInTime: a flow's program did not run in time.
	NotInTime struct{}
	// GivenUp is the share of its datagrams that a sender did not send, as they were late.
	GivenUp struct {
		Share float64 `json:"share"`
		LateS float64 `json:"late_s"`
	}
	// DatagramsLost is the share of a flow's datagrams that were lost, and where.
	DatagramsLost struct {
		Share float64 `json:"share"`
		At    *LostAt `json:"at,omitempty"`
	}
	// ThreadCPU is the share of a CPU that moving bytes took on a host.
	ThreadCPU struct {
		Share float64 `json:"share"`
	}
	// CPUsBusy is how busy the CPUs of a host were, and the share of one that moving bytes took.
	CPUsBusy struct {
		Load
		Moving float64 `json:"moving"`
	}
	// CPUBusy is how busy a CPU of a host was, and with interrupts and softirqs.
	CPUBusy struct {
		CPU    int     `json:"cpu"`
		Busy   float64 `json:"busy"`
		Kernel float64 `json:"kernel"`
	}
	// LinkFilled is what fills a link in flight, and what is predicted of it therefore.
	LinkFilled struct {
		FlyingBytes float64 `json:"flying_bytes"`
		RateBps     float64 `json:"rate_bps"`
		Flows       int     `json:"flows,omitempty"`      // that share it; 0: one, and:
		AfterLoss   float64 `json:"after_loss,omitempty"` // share of it just after a loss
		QueueBytes  float64 `json:"queue_bytes,omitempty"`
	}
	// UnscaledWindow is the largest window without scaling.
	UnscaledWindow struct {
		Bytes float64 `json:"bytes"`
		RTTS  float64 `json:"rtt_s"`
	}
	// WindowOfBuffer is the window that a receive buffer allows, half of it to all.
	WindowOfBuffer struct {
		Parameter string  `json:"parameter,omitempty"` // empty: the socket's own buffer
		Bytes     float64 `json:"bytes"`
		RTTS      float64 `json:"rtt_s"`
	}
	// FlightOfBuffer is what a send buffer has in flight, Least of it to all, and two super-frames.
	FlightOfBuffer struct {
		Parameter string  `json:"parameter,omitempty"` // empty: the socket's own buffer
		Least     float64 `json:"least"`
		Bytes     float64 `json:"bytes"`
		RTTS      float64 `json:"rtt_s"`
	}
	// LossModel is what models of a congestion control let it carry with a share of frames lost.
	LossModel struct {
		Loss              float64 `json:"loss"`
		CongestionControl string  `json:"congestion_control"`
		LowBps            float64 `json:"low_bps"`
		HighBps           float64 `json:"high_bps"`
	}
	// Capped is the cap of a flow.
	Capped struct {
		Bps float64 `json:"bps"`
	}
	// LostAt is a place where packets were lost, and the counter or the bytes that show it.
	LostAt struct {
		By       string  `json:"by"` // one of Lost…
		At       string  `json:"at,omitempty"`
		Kind     string  `json:"kind,omitempty"` // of a qdisc
		Packets  int64   `json:"packets,omitempty"`
		Several  bool    `json:"several,omitempty"` // a packet is of one or more datagrams
		From     string  `json:"from,omitempty"`    // interface of the sender
		To       string  `json:"to,omitempty"`      // interface of the receiver
		Device   string  `json:"device,omitempty"`  // of From
		Sent     float64 `json:"sent_bytes,omitempty"`
		Handed   float64 `json:"handed_bytes,omitempty"` // by programs to the kernel
		Received float64 `json:"received_bytes,omitempty"`
		// Carrier is the interface that had none; Backlog what the CPUs' queues dropped, where that was
		// mostly of other network namespaces.
		Carrier *NoCarrierFor `json:"carrier,omitempty"`
		Backlog int64         `json:"backlog,omitempty"`
	}
)

// Caps of flows.
const (
	CapWrite = "write"
	CapPace  = "pace"
	CapRate  = "rate" // of datagrams
)

// What is not known without a field of TCP_INFO.
const (
	ForWaits  = "waits"
	ForReader = "reader"
	ForWindow = "window"
)

// Where packets were lost.
const (
	LostInQdisc     = "qdisc"
	LostSending     = "sending"
	LostReceiving   = "receiving"
	LostInBacklog   = "backlog" // the CPUs' queues of received packets
	LostInFragments = "fragments"
	LostInSocket    = "socket"
	LostCarrier     = "carrier"
	LostBefore      = "before"   // its interface, on the sending host
	LostBetween     = "between"  // two interfaces
	LostNeedless    = "needless" // what arrived may have been sent again needlessly
	LostBehind      = "behind"   // its interface, on the receiving host
	LostSomewhere   = "somewhere"
)

var (
	_ = is[NoCarrierFor]("no_carrier_for")
	_ = is[NoAcknowledgement]("no_acknowledgement")
	_ = is[CapShare]("cap_share")
	_ = is[LinkShare]("link_share")
	_ = is[AcknowledgementShare]("acknowledgement_share")
	_ = is[ShortWindow]("short_window")
	_ = is[NotReported]("not_reported")
	_ = is[WaitedFor]("waited_for")
	_ = is[BusyFor]("busy_for")
	_ = is[NothingToSend]("nothing_to_send")
	_ = is[BufferHolds]("buffer_holds")
	_ = is[BufferFull]("buffer_full")
	_ = is[WindowFull]("window_full")
	_ = is[ReceiverWindow]("receiver_window")
	_ = is[UnreadFor]("unread_for")
	_ = is[ReadCap]("read_cap")
	_ = is[WindowClosing]("window_closing")
	_ = is[WindowClosed]("window_closed")
	_ = is[RoundTrip]("round_trip")
	_ = is[QueueAt]("queue_at")
	_ = is[AcknowledgementsQueue]("acknowledgements_queue")
	_ = is[NoWindowFull]("no_window_full")
	_ = is[InFlight]("in_flight")
	_ = is[SentAgain]("sent_again")
	_ = is[NeverLeft]("never_left")
	_ = is[QueueDrops]("queue_drops")
	_ = is[Backpressure]("backpressure")
	_ = is[DroppedThere]("dropped_there")
	_ = is[SocketFull]("socket_full")
	_ = is[NotInTime]("not_in_time")
	_ = is[GivenUp]("given_up")
	_ = is[DatagramsLost]("datagrams_lost")
	_ = is[ThreadCPU]("thread_cpu")
	_ = is[CPUsBusy]("cpus_busy")
	_ = is[CPUBusy]("cpu_busy")
	_ = is[LinkFilled]("link_filled")
	_ = is[UnscaledWindow]("unscaled_window")
	_ = is[WindowOfBuffer]("window_of_buffer")
	_ = is[FlightOfBuffer]("flight_of_buffer")
	_ = is[LossModel]("loss_model")
	_ = is[Capped]("capped")
	_ = is[LostAt]("lost_at")
)
