package cause

// Causes of the states of connections and sockets.
var (
	AcceptQueueFull   = one[None]("accept-queue-full")
	BacklogSmall      = one[None]("backlog-small")
	CloseWait         = one[None]("close-wait")
	SYNUnanswered     = one[None]("syn-unanswered")
	Unacknowledged    = one[None]("unacknowledged")
	UnreadData        = one[None]("unread-data")
	UDPQueueFull      = one[None]("udp-queue-full")
	HalfOpenMany      = one[None]("half-open-many")
	PortsInTimeWait   = one[None]("ports-in-time-wait")
	FinWaitMany       = one[None]("fin-wait-many")
	ClosingUnanswered = one[None]("closing-unanswered")
	PeerWindowClosed  = one[None]("peer-window-closed")
	WindowLimited     = one[None]("window-limited")
	SendBufferLimited = one[None]("send-buffer-limited")
	MSSSmall          = one[None]("mss-small")
	UDPSocketDropped  = one[None]("udp-socket-dropped")
	OrphansMany       = one[None]("orphans-many")

	ReceiverWindow = one[Between]("receiver-window")
	SendBuffer     = one[Between]("send-buffer")

	PortsExhausted       = each[Ports]("ports-exhausted")
	DescriptorsExhausted = one[None]("descriptors-exhausted")
)

// Between is the hosts from which and to which flows go.
type Between struct {
	From string `json:"from"`
	To   string `json:"to"`
}

// Ports says of which addresses no port is left.
type Ports struct {
	// Bound: of the source address, where bind(2) takes the port; otherwise of the pair of addresses
	// and the port of the other end, where connect(2) does.
	Bound bool `json:"bound,omitempty"`
}
