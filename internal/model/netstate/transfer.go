package netstate

// Transfer is what a tool that measures rates, such as iperf3(1), printed about one TCP connection or one flow of UDP
// datagrams. What was not printed is absent.
type Transfer struct {
	Tool     string  `json:"tool" is:"word"`               // "iperf"
	Protocol string  `json:"protocol,omitempty" is:"word"` // "tcp", "udp"
	From     string  `json:"from,omitempty" is:"host"`     // address and port of the sender
	To       string  `json:"to,omitempty" is:"host"`
	Seconds  float64 `json:"seconds,omitempty"`
	// SentBytes are those that the sender wrote to its socket, ReceivedBytes those that the receiver read.
	SentBytes     *int64 `json:"sent_bytes,omitempty"`
	ReceivedBytes *int64 `json:"received_bytes,omitempty"`
	// Retransmitted are segments. MSS is the size of a segment's data in bytes.
	Retransmitted *int64 `json:"retransmitted,omitempty"`
	MSS           int64  `json:"mss_bytes,omitempty"`
	MinRTTUs      uint32 `json:"min_rtt_us,omitempty"`
	MeanRTTUs     uint32 `json:"mean_rtt_us,omitempty"`
	// Lost of Datagrams did not arrive, by the receiver's count of sequence numbers.
	Datagrams *int64 `json:"datagrams,omitempty"`
	Lost      *int64 `json:"lost_datagrams,omitempty"`
	// Intervals is how many intervals of the transfer were printed. In Idle of them no byte was transferred.
	Intervals int `json:"intervals,omitempty"`
	Idle      int `json:"idle_intervals,omitempty"`
}

// EthernetMSS is the size in bytes of a segment's data over IPv4 with timestamps at an MTU of 1500.
const EthernetMSS = 1448

// MostTransfers is how many transfers of a host are kept.
const MostTransfers = 256

// Segments returns how many segments were retransmitted, and about how many were sent: the size of a segment is
// EthernetMSS where it was not printed. Both are 0 if one is not known.
func (t Transfer) Segments() (again, of int64) {
	if t.Retransmitted == nil || t.SentBytes == nil || *t.Retransmitted < 0 || *t.SentBytes < 0 {
		return 0, 0
	}
	mss := t.MSS
	if mss <= 0 {
		mss = EthernetMSS
	}
	return *t.Retransmitted, *t.SentBytes/mss + *t.Retransmitted
}
