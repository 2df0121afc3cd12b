package fact

// Facts about what limits a flow. Interfaces are written as "client.eth0". A share is from 0 to 1,
// of the time or the readings of the window unless noted otherwise.
type (
	// NoCarrierFor is how long an interface had no carrier, or was down (Down), during a window.
	NoCarrierFor struct {
		Interface string  `json:"interface"`
		Down      bool    `json:"down,omitempty"`
		Seconds   float64 `json:"seconds"`
		WindowS   float64 `json:"window_s,omitempty"`
	}
	// NoAcknowledgement says that nothing was acknowledged, and how many consecutive retransmission
	// timeouts there were.
	NoAcknowledgement struct {
		Timeouts uint8 `json:"timeouts"`
	}
	// CapShare is the rate of a flow as a share of one of its caps. If the average is clearly lower, At
	// is the number of intervals, of Of, in which the cap was reached.
	CapShare struct {
		Cap   string  `json:"cap"` // CapWrite, CapPace or CapRate
		Bps   float64 `json:"bps"`
		Share float64 `json:"share"`
		At    int     `json:"at,omitempty"`
		Of    int     `json:"of,omitempty"`
	}
	// LinkShare is the rate of an interface or its shaper in one direction, as a share of what it can
	// carry (RateBps).
	LinkShare struct {
		Interface string  `json:"interface"`
		Out       bool    `json:"out,omitempty"` // direction: sent; false: received
		RateBps   float64 `json:"rate_bps"`
		Share     float64 `json:"share"`
		// The rate is limited by Shaper or, if that is empty, by the link.
		Shaped bool    `json:"shaped,omitempty"`
		Shaper string  `json:"shaper,omitempty"`
		Queued float64 `json:"queued,omitempty"` // share of the readings at which packets waited there
	}
	// AcknowledgementShare is the share of a link's rate that is taken by the acknowledgements of the
	// other direction.
	AcknowledgementShare struct {
		Share float64 `json:"share"`
	}
	// ShortWindow is a window that is too short for the flow's round-trip time.
	ShortWindow struct {
		WindowS float64 `json:"window_s"`
		RTTS    float64 `json:"rtt_s"`
	}
	// NotReported is a field of TCP_INFO that the sender's kernel does not report.
	NotReported struct {
		Field string `json:"field"`
		For   string `json:"for"` // what is unknown without it, such as ForWaits
	}
	// WaitedFor is the shares of its time in which a flow waited for the receiver's window and for its
	// send buffer.
	WaitedFor struct {
		Window float64 `json:"window"`
		Buffer float64 `json:"buffer"`
	}
	// BusyFor is the share of a window in which a sender had data unsent or unacknowledged.
	BusyFor struct {
		Share float64 `json:"share"`
	}
	// NothingToSend is the share of the readings at which everything written had been sent.
	NothingToSend struct {
		Share     float64 `json:"share"`
		ByProgram bool    `json:"by_program,omitempty"` // all connections of a program together
	}
	// BufferHolds is how much of a flow fits into its send buffer, in bytes and in seconds.
	BufferHolds struct {
		Bytes   float64 `json:"bytes"`
		Seconds float64 `json:"seconds"`
	}
	// BufferFull is a full send buffer: for a share of the time or, with AllSent, at a share of the
	// readings, when everything in it had also been sent.
	BufferFull struct {
		Bytes   float64 `json:"bytes"`
		Share   float64 `json:"share"`
		AllSent bool    `json:"all_sent,omitempty"`
	}
	// WindowFull is the share of the time or, with Read, of the readings at which the receiver's window
	// was full.
	WindowFull struct {
		Share       float64 `json:"share"`
		Read        bool    `json:"read,omitempty"`
		BufferBytes float64 `json:"buffer_bytes,omitempty"` // receive buffer of the host Receiver; 0: not known
		Receiver    string  `json:"receiver,omitempty"`
	}
	// ReceiverWindow is the size of a receiver's window, and the data that the receiver had not read.
	ReceiverWindow struct {
		Bytes  float64    `json:"bytes"`
		Unread *UnreadFor `json:"unread,omitempty"` // nil: not known
	}
	// UnreadFor is how much data a program had not read, and for how long; 0 seconds: not known.
	UnreadFor struct {
		Bytes   float64 `json:"bytes"`
		Seconds float64 `json:"seconds,omitempty"`
	}
	// ReadCap is the highest rate at which a program reads, and the data that it had not read.
	ReadCap struct {
		Bps         float64 `json:"bps"`
		UnreadBytes float64 `json:"unread_bytes"`
	}
	// WindowClosing is the share of the readings at which a window was zero, or below half of its
	// earlier size.
	WindowClosing struct {
		Share float64 `json:"share"`
	}
	// WindowClosed says that so little was in flight on average that the window must have been smaller
	// or zero for most of the time.
	WindowClosed struct {
		FlyingBytes float64 `json:"flying_bytes"`
	}
	// RoundTrip is the round-trip time, the mean or that at the window's end, and the least, without a
	// queue.
	RoundTrip struct {
		Seconds float64 `json:"seconds"`
		LeastS  float64 `json:"least_s"`
		Mean    bool    `json:"mean,omitempty"`
	}
	// QueueAt is a queue that shows in round-trip times, before a link whose rate is not known.
	QueueAt struct {
		RoundTrip
		Interface string  `json:"interface,omitempty"` // empty: somewhere on the path
		Resent    float64 `json:"resent,omitempty"`    // share of the bytes, if packets are lost as well
		OrCPU     bool    `json:"or_cpu,omitempty"`    // the packets may have waited for a CPU instead
		Larger    string  `json:"larger,omitempty"`    // buffer or window that would only lengthen it
		// Either reports whether it may be the queue of the other direction instead, in which this
		// flow's acknowledgements wait.
		Either bool `json:"either,omitempty"`
	}
	// AcknowledgementsQueue is a queue in which the acknowledgements of a flow wait behind other data.
	AcknowledgementsQueue struct {
		Interface string `json:"interface,omitempty"` // empty: the flows between From and To show it
		Out       bool   `json:"out,omitempty"`
		Shaper    string `json:"shaper,omitempty"`
		// From and To are the hosts of the flows that fill the queue; empty: other traffic fills it.
		From    string  `json:"from,omitempty"`
		To      string  `json:"to,omitempty"`
		Even    bool    `json:"even,omitempty"` // shown by the even rate of these flows; false: by their losses
		Bps     float64 `json:"bps,omitempty"`
		RateBps float64 `json:"rate_bps,omitempty"`
		Share   float64 `json:"share,omitempty"`
		While   bool    `json:"while,omitempty"` // while a full link had room
	}
	// NoWindowFull says that neither window was full: FlyingBytes were in flight of AllowedBytes that
	// congestion control permits; 0: not known.
	NoWindowFull struct {
		FlyingBytes  float64 `json:"flying_bytes,omitempty"`
		AllowedBytes float64 `json:"allowed_bytes,omitempty"`
	}
	// InFlight is the number of bytes that the congestion window permits in flight.
	InFlight struct {
		Bytes float64 `json:"bytes"`
	}
	// SentAgain is the share of its bytes that a flow sent again, and the share of these that was
	// needless.
	SentAgain struct {
		Share     float64 `json:"share"`
		Needless  float64 `json:"needless,omitempty"`
		Reordered bool    `json:"reordered,omitempty"` // after packets were reordered
		NoDrops   bool    `json:"no_drops,omitempty"`  // no counter that was read shows drops
	}
	// NeverLeft is the share of the retransmitted segments that never left their host.
	NeverLeft struct {
		Share    float64      `json:"share"`
		Segments int64        `json:"segments"`
		Of       int64        `json:"of"`
		Queues   []QueueDrops `json:"queues,omitempty"` // queues of the host that dropped packets
	}
	// QueueDrops is the number of packets that a qdisc of an interface dropped before sending; without
	// Kind, that the interface dropped.
	QueueDrops struct {
		Interface string  `json:"interface"`
		Kind      string  `json:"kind,omitempty"`
		Packets   int64   `json:"packets"`
		Share     float64 `json:"share,omitempty"` // of the packets that it was given
	}
	// Backpressure is a queue of an interface that held a flow back: with packets at a share of the
	// readings, or with drops.
	Backpressure struct {
		Interface string  `json:"interface"`
		Kind      string  `json:"kind,omitempty"`
		Share     float64 `json:"share,omitempty"`
		Bps       float64 `json:"bps,omitempty"`
		Drops     float64 `json:"drops,omitempty"`
	}
	// DroppedThere is the number of packets that a shaper dropped.
	DroppedThere struct {
		Packets float64 `json:"packets"`
	}
	// SocketFull is the share of the time for which a socket's send buffer was full.
	SocketFull struct {
		Share       float64 `json:"share"`
		ByInterface bool    `json:"by_interface,omitempty"` // because the interface took no more datagrams
	}
	// NotInTime says that the program of a flow did not get the CPU in time.
	NotInTime struct{}
	// GivenUp is the share of its datagrams that a sender skipped because they were late.
	GivenUp struct {
		Share float64 `json:"share"`
		LateS float64 `json:"late_s"`
	}
	// DatagramsLost is the share of a flow's datagrams that were lost, and where; nil: not known.
	DatagramsLost struct {
		Share float64 `json:"share"`
		At    *LostAt `json:"at,omitempty"`
	}
	// ThreadCPU is the share of a CPU that moving the bytes took on Fact.Host.
	ThreadCPU struct {
		Share float64 `json:"share"`
	}
	// CPUsBusy is how busy the CPUs of a host were, and the share of one CPU that moving the bytes
	// took.
	CPUsBusy struct {
		Load
		Moving float64 `json:"moving"`
	}
	// CPUBusy is how busy a CPU was (Busy), and the part of that for interrupts and softirqs (Kernel).
	CPUBusy struct {
		CPU    int     `json:"cpu"`
		Busy   float64 `json:"busy"`
		Kernel float64 `json:"kernel"`
	}
	// LinkFilled is what must be in flight to fill a link, and what that predicts for a flow.
	LinkFilled struct {
		FlyingBytes float64 `json:"flying_bytes"`
		RateBps     float64 `json:"rate_bps"`
		// That share the link; 0: one, with AfterLoss and QueueBytes.
		Flows      int     `json:"flows,omitempty"`
		AfterLoss  float64 `json:"after_loss,omitempty"` // share of the rate just after a loss
		QueueBytes float64 `json:"queue_bytes,omitempty"`
	}
	// UnscaledWindow is the largest window without window scaling, in bytes, and the round-trip time.
	UnscaledWindow struct {
		Bytes float64 `json:"bytes"`
		RTTS  float64 `json:"rtt_s"`
	}
	// WindowOfBuffer is a receive buffer, of which half to all becomes the window, and the round-trip
	// time.
	WindowOfBuffer struct {
		Parameter string  `json:"parameter,omitempty"` // empty: the socket's own buffer
		Bytes     float64 `json:"bytes"`
		RTTS      float64 `json:"rtt_s"`
	}
	// FlightOfBuffer is a send buffer, of which the share Least to all, and two super-frames more, can
	// be in flight, and the round-trip time.
	FlightOfBuffer struct {
		Parameter string  `json:"parameter,omitempty"` // empty: the socket's own buffer
		Least     float64 `json:"least"`
		Bytes     float64 `json:"bytes"`
		RTTS      float64 `json:"rtt_s"`
	}
	// LossModel is the range of rates that the models of a congestion control give for a share of
	// frames lost.
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
	// LostAt is a place where packets were lost, and the counter or the byte counts that show it.
	LostAt struct {
		By       string  `json:"by"`             // one of the constants Lost…
		At       string  `json:"at,omitempty"`   // interface or host
		Kind     string  `json:"kind,omitempty"` // of a qdisc
		Packets  int64   `json:"packets,omitempty"`
		Several  bool    `json:"several,omitempty"` // a packet has one or more datagrams
		From     string  `json:"from,omitempty"`    // interface of the sender
		To       string  `json:"to,omitempty"`      // interface of the receiver
		Device   string  `json:"device,omitempty"`  // name of the interface From
		Sent     float64 `json:"sent_bytes,omitempty"`
		Handed   float64 `json:"handed_bytes,omitempty"` // that programs gave the kernel
		Received float64 `json:"received_bytes,omitempty"`
		// Carrier is the interface that had no carrier. Backlog is the number of packets that the CPUs'
		// backlogs dropped, if most of these belong to other network namespaces.
		Carrier *NoCarrierFor `json:"carrier,omitempty"`
		Backlog int64         `json:"backlog,omitempty"`
	}
)

// Values of CapShare.Cap.
const (
	CapWrite = "write" // of the program that writes
	CapPace  = "pace"  // at which the flow is paced
	CapRate  = "rate"  // of datagrams sent
)

// What is unknown if the kernel does not report a field of TCP_INFO.
const (
	ForWaits  = "waits"  // what the flow waited for
	ForReader = "reader" // whether its reader is slow
	ForWindow = "window" // the receiver's window
)

// Values of LostAt.By, the places where packets were lost.
const (
	LostInQdisc     = "qdisc"
	LostSending     = "sending"   // at an interface, to be sent
	LostReceiving   = "receiving" // at an interface, received
	LostInBacklog   = "backlog"   // the CPUs' queues of received packets
	LostInFragments = "fragments" // in reassembly
	LostInSocket    = "socket"    // in the receive buffer
	LostCarrier     = "carrier"   // at an interface without carrier
	LostBefore      = "before"    // on the sending host, before its interface
	LostBetween     = "between"   // between two interfaces
	LostNeedless    = "needless"  // perhaps nowhere: what was sent again had arrived
	LostBehind      = "behind"    // on the receiving host, behind its interface
	LostSomewhere   = "somewhere"
)

var _ = are(NoCarrierFor{}, NoAcknowledgement{}, CapShare{}, LinkShare{}, AcknowledgementShare{}, ShortWindow{},
	NotReported{}, WaitedFor{}, BusyFor{}, NothingToSend{}, BufferHolds{}, BufferFull{}, WindowFull{},
	ReceiverWindow{}, UnreadFor{}, ReadCap{}, WindowClosing{}, WindowClosed{}, RoundTrip{}, QueueAt{},
	AcknowledgementsQueue{}, NoWindowFull{}, InFlight{}, SentAgain{}, NeverLeft{}, QueueDrops{}, Backpressure{},
	DroppedThere{}, SocketFull{}, NotInTime{}, GivenUp{}, DatagramsLost{}, ThreadCPU{}, CPUBusy{}, LinkFilled{},
	UnscaledWindow{}, WindowOfBuffer{}, FlightOfBuffer{}, LossModel{}, Capped{}, LostAt{})
var _ = is[CPUsBusy]("cpus_busy")
