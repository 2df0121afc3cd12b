package cause

// Causes of the states of connections and sockets.
var (
	AcceptQueueFull   = one[None]("accept-queue-full")
	BacklogSmall      = one[None]("backlog-small")
	CloseWait         = one[None]("close-wait")
	SYNUnanswered     = one[None]("syn-unanswered")
	Unacknowledged    = one[None]("unacknowledged")
	ConnectionStalled = one[None]("connection-stalled")
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

	ConnectionLosses = one[None]("connection-losses")
	PathQueue        = one[None]("path-queue")
	DatagramsLost    = one[None]("datagrams-lost")
	TransferStalled  = one[None]("transfer-stalled")
	SenderAhead      = one[None]("sender-ahead")

	ReceiverWindow = one[Between]("receiver-window")
	SendBuffer     = one[Between]("send-buffer")

	PortsExhausted       = each[Ports]("ports-exhausted")
	DescriptorsExhausted = one[None]("descriptors-exhausted")
)

// Between names the sending and the receiving host of the flows concerned.
type Between struct {
	From string `json:"from"`
	To   string `json:"to"`
}

// Ports says which range of local ports is exhausted.
type Ports struct {
	// Bound is true if bind(2) allocates the ports: then each source address has one range for all its
	// connections. False: connect(2) allocates them, and each combination of source address,
	// destination address and destination port has a range of its own.
	Bound bool `json:"bound,omitempty"`
}
