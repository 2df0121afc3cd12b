//go:build !portable

package sock

import (
	"golang.org/x/sys/unix"

	"linerate/internal/kernel"
	"linerate/internal/model/record"
)

// TCPInfo reads TCP_INFO of a socket (linux/tcp.h, struct tcp_info). The kernel
// fills as much of the structure as it knows; the rest stays zero.
func TCPInfo(fd int) (record.TCPInfo, error) {
	t, err := unix.GetsockoptTCPInfo(fd, unix.IPPROTO_TCP, unix.TCP_INFO)
	if err != nil {
		return record.TCPInfo{}, &kernel.Error{Op: "read", Object: "TCP_INFO", Err: err}
	}
	return ParseTCPInfo(t), nil
}

// ParseTCPInfo converts struct tcp_info.
func ParseTCPInfo(t *unix.TCPInfo) record.TCPInfo {
	return record.TCPInfo{
		State: t.State, CAState: t.Ca_state, Retransmits: t.Retransmits,
		Backoff: t.Backoff, Options: t.Options,
		SndMSS: t.Snd_mss, RcvMSS: t.Rcv_mss, PMTU: t.Pmtu,
		RTTUs: t.Rtt, RTTVarUs: t.Rttvar, MinRTTUs: t.Min_rtt,
		SndCwnd: t.Snd_cwnd, SndSsthresh: t.Snd_ssthresh, SndWnd: t.Snd_wnd,
		RcvSpace: t.Rcv_space, Unacked: t.Unacked, Sacked: t.Sacked, TotalRetrans: t.Total_retrans,
		PacingRateBps: bitsPerSecond(t.Pacing_rate), DeliveryBps: bitsPerSecond(t.Delivery_rate),
		BytesAcked: t.Bytes_acked, BytesReceived: t.Bytes_received,
		BytesSent: t.Bytes_sent, BytesRetrans: t.Bytes_retrans,
		NotsentBytes: t.Notsent_bytes, SegsOut: t.Segs_out, SegsIn: t.Segs_in,
		BusyUs: t.Busy_time, RwndLimitedUs: t.Rwnd_limited, SndbufLimited: t.Sndbuf_limited,
		Delivered: t.Delivered, DeliveredCE: t.Delivered_ce,
		ReordSeen: t.Reord_seen, DsackDups: t.Dsack_dups,
	}
}

// bitsPerSecond converts bytes per second to bits; all ones, no limit, is 0.
func bitsPerSecond(bytes uint64) uint64 {
	if bytes == ^uint64(0) {
		return 0
	}
	return bytes * 8
}
