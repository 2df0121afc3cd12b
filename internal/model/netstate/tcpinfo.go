package netstate

import "slices"

// TCPInfo has those fields of struct tcp_info (linux/tcp.h) that linerate uses. A field that the
// kernel does not know is 0, and Lacks has its JSON name.
type TCPInfo struct {
	Lacks         []string `json:"lacks,omitempty" is:"word"`
	State         uint8    `json:"state"`
	CAState       uint8    `json:"ca_state"`
	Retransmits   uint8    `json:"retransmits"`
	Backoff       uint8    `json:"backoff"`
	Options       uint8    `json:"options"` // 1 timestamps, 2 SACK, 4 window scaling, 8 ECN
	SndMSS        uint32   `json:"snd_mss"`
	RcvMSS        uint32   `json:"rcv_mss"`
	PMTU          uint32   `json:"pmtu"`
	RTTUs         uint32   `json:"rtt_us"`
	RTTVarUs      uint32   `json:"rttvar_us"`
	MinRTTUs      uint32   `json:"min_rtt_us"`
	SndCwnd       uint32   `json:"snd_cwnd"`     // segments
	SndSsthresh   uint32   `json:"snd_ssthresh"` // segments
	SndWnd        uint32   `json:"snd_wnd_bytes"`
	RcvSpace      uint32   `json:"rcv_space_bytes"`
	Unacked       uint32   `json:"unacked"`          // segments
	Sacked        uint32   `json:"sacked,omitempty"` // segments that arrived after a gap (RFC 2018)
	TotalRetrans  uint32   `json:"total_retrans"`
	PacingRateBps uint64   `json:"pacing_rate_bps"`
	DeliveryBps   uint64   `json:"delivery_rate_bps"`
	BytesAcked    uint64   `json:"bytes_acked"`
	BytesReceived uint64   `json:"bytes_received"`
	BytesSent     uint64   `json:"bytes_sent"`
	BytesRetrans  uint64   `json:"bytes_retrans"`
	NotsentBytes  uint32   `json:"notsent_bytes"`
	SegsOut       uint32   `json:"segs_out"`
	SegsIn        uint32   `json:"segs_in"`
	BusyUs        uint64   `json:"busy_us"`
	RwndLimitedUs uint64   `json:"rwnd_limited_us"`
	SndbufLimited uint64   `json:"sndbuf_limited_us"`
	Delivered     uint32   `json:"delivered"`
	DeliveredCE   uint32   `json:"delivered_ce"`
	ReordSeen     uint32   `json:"reord_seen"`
	DsackDups     uint32   `json:"dsack_dups"`
	// LastSndMs and LastAckMs are the times since data was sent and since something was acknowledged.
	// Absent: not read, or less than a millisecond ago.
	LastSndMs uint32 `json:"last_snd_ms,omitempty"`
	LastAckMs uint32 `json:"last_ack_ms,omitempty"`
}

// Lacking returns the first of the given fields, by their JSON names, that the kernel does not
// report. Empty: it reports all of them.
func (i *TCPInfo) Lacking(fields ...string) string {
	for _, field := range fields {
		if slices.Contains(i.Lacks, field) {
			return field
		}
	}
	return ""
}

// roomy is the share of a window from which on the window counts as filled.
const roomy = 0.9

// CwndFull reports whether the segments in flight fill the congestion window.
func (i TCPInfo) CwndFull() bool { return float64(i.Unacked) >= roomy*float64(i.SndCwnd) }

// RwndFull reports whether the data in flight leave room for at most one segment in the receiver's
// window, while the congestion window has room for more. A window that is closed or unknown (before
// Linux 5.4) is not full.
func (i TCPInfo) RwndFull() bool {
	flight, window, mss := int64(i.Unacked)*int64(i.SndMSS), int64(i.SndWnd), int64(i.SndMSS)
	return !i.CwndFull() && flight > 0 && window > 0 &&
		float64(flight) >= min(roomy*float64(window), float64(window-mss))
}

// Closing reports whether the receiver's window is 0, or less than half of widest, the largest size
// that it had before, in bytes. It returns false if the kernel does not report the window.
func (i TCPInfo) Closing(widest uint32) bool {
	return i.Lacking("snd_wnd_bytes") == "" && (i.SndWnd == 0 || i.SndWnd < widest/2)
}
