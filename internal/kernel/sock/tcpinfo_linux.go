//go:build !portable

package sock

import (
	"unsafe"

	"golang.org/x/sys/unix"

	"linerate/internal/kernel"
	"linerate/internal/model/netstate"
)

// TCPInfo reads TCP_INFO of a socket (linux/tcp.h, struct tcp_info).
func TCPInfo(fd int) (netstate.TCPInfo, error) {
	var info [unsafe.Sizeof(unix.TCPInfo{})]byte
	length := uint32(len(info))
	_, _, errno := unix.Syscall6(unix.SYS_GETSOCKOPT, uintptr(fd), unix.IPPROTO_TCP, unix.TCP_INFO,
		uintptr(unsafe.Pointer(&info)), uintptr(unsafe.Pointer(&length)), 0)
	if errno != 0 {
		return netstate.TCPInfo{}, &kernel.Error{Op: "read", Object: "TCP_INFO", Err: errno}
	}
	return ParseTCPInfo(info[:length]), nil
}

// lately are the fields that kernels have added since 2.6.37, with the size of struct tcp_info up to the end of
// each.
var lately = func() (fields []addedField) {
	var t unix.TCPInfo
	add := func(offset, size uintptr, names ...string) {
		for _, name := range names {
			fields = append(fields, addedField{int(offset + size), name})
		}
	}
	add(unsafe.Offsetof(t.Pacing_rate), 8, "pacing_rate_bps")                                        // Linux 3.15
	add(unsafe.Offsetof(t.Bytes_received), 8, "bytes_acked", "bytes_received")                       // 4.1
	add(unsafe.Offsetof(t.Segs_in), 4, "segs_out", "segs_in")                                        // 4.2
	add(unsafe.Offsetof(t.Min_rtt), 4, "notsent_bytes", "min_rtt_us")                                // 4.6
	add(unsafe.Offsetof(t.Delivery_rate), 8, "delivery_rate_bps")                                    // 4.9
	add(unsafe.Offsetof(t.Sndbuf_limited), 8, "busy_us", "rwnd_limited_us", "sndbuf_limited_us")     // 4.10
	add(unsafe.Offsetof(t.Delivered_ce), 4, "delivered", "delivered_ce")                             // 4.18
	add(unsafe.Offsetof(t.Reord_seen), 4, "bytes_sent", "bytes_retrans", "dsack_dups", "reord_seen") // 4.19
	add(unsafe.Offsetof(t.Snd_wnd), 4, "snd_wnd_bytes")                                              // 5.4
	return fields
}()

type addedField struct {
	length int
	name   string // in JSON
}

// ParseTCPInfo converts as much of struct tcp_info as the kernel has filled.
func ParseTCPInfo(filled []byte) netstate.TCPInfo {
	t := new(unix.TCPInfo)
	copy(unsafe.Slice((*byte)(unsafe.Pointer(t)), unsafe.Sizeof(*t)), filled)
	var lacks []string
	for _, field := range lately {
		if len(filled) < field.length {
			lacks = append(lacks, field.name)
		}
	}
	return netstate.TCPInfo{
		Lacks: lacks,
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
		LastSndMs: t.Last_data_sent, LastAckMs: t.Last_ack_recv,
	}
}

// bitsPerSecond converts bytes per second to bits per second; all ones, meaning no limit, becomes 0.
func bitsPerSecond(bytes uint64) uint64 {
	if bytes == ^uint64(0) {
		return 0
	}
	return bytes * 8
}
