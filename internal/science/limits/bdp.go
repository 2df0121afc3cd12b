package limits

import "math"

// Path is a path from one host to another and back, as a window sees it.
type Path struct {
	RateBps float64 // of its slowest link
	RTTS    float64 // there and back, with empty queues, in seconds
	Segment int     // payload of a full segment, in bytes
	Shaped  bool    // RateBps is a token bucket's, as Frame.Shaped is
}

const (
	// unscaled is the largest window without window scaling (RFC 9293, section
	// 3.1), largestWindow with it (RFC 7323, section 2.3).
	unscaled      = 65535
	largestWindow = 1 << 30
	// FirstWindow is how many segments slow start begins with (RFC 6928).
	FirstWindow = 10
	// Of a receive buffer about half is advertised as window until the kernel
	// knows how well segments fill their memory (tcp_adv_win_scale in
	// Documentation/networking/ip-sysctl.rst), and a window has to hold what waits
	// behind a lost segment, too: twice the product, of which half counts. A send
	// buffer holds what is in flight and what is to be sent next, with the
	// kernel's own bookkeeping: three times.
	receiveShare = 4
	sendShare    = 3
	// BeyondSendBuffer is what TCP has in flight at most beyond its send buffer, in bytes: the
	// kernel looks for room before it begins a super-frame of 64 KiB, not while it fills it
	// (tcp_sendmsg_locked).
	BeyondSendBuffer = 2 * 64 << 10
)

// Linux's own third values of tcp_rmem and tcp_wmem (tcp(7)), on a machine with
// memory enough.
const (
	LinuxRmem = 6 << 20
	LinuxWmem = 4 << 20
)

// BDP is the bandwidth-delay product in bytes: what is in flight when the path is full.
// It is rounded far below a byte, so that no error of the product becomes one.
func (p Path) BDP() float64 { return math.Round(p.RateBps*p.RTTS/8*1e3) / 1e3 }

// Segments is how many full segments that are.
func (p Path) Segments() int { return int(math.Ceil(p.BDP() / float64(p.Segment))) }

// Scaling says whether a window as large as that needs window scaling.
func (p Path) Scaling() bool { return p.BDP() > unscaled }

// Flows is how many connections it takes, each with the largest window there is.
func (p Path) Flows() int { return max(1, int(math.Ceil(p.BDP()/largestWindow))) }

// WindowBps is the most that a window of so many bytes lets through.
func (p Path) WindowBps(bytes float64) float64 {
	if p.RTTS <= 0 {
		return p.RateBps
	}
	return min(p.RateBps, bytes*8/p.RTTS)
}

// UnscaledBps is that of the largest window without window scaling.
func (p Path) UnscaledBps() float64 { return p.WindowBps(unscaled) }

// ReceiveBuffer and SendBuffer are what the kernel's autotuning has to be allowed
// (the third values of tcp_rmem and tcp_wmem, which are of 31 bits), for as many
// connections as it takes to fill the path.
func (p Path) ReceiveBuffer() int64 { return p.buffer(receiveShare) }
func (p Path) SendBuffer() int64    { return p.buffer(sendShare) }

func (p Path) buffer(share float64) int64 {
	return int64(min(math.Ceil(share*p.BDP()/float64(p.Flows())), math.MaxInt32))
}

// SlowStart is how many round trips slow start takes to fill the path, from a window of first
// segments: the window doubles with each (RFC 5681, section 3.1).
func (p Path) SlowStart(first int) int {
	return int(max(0, math.Ceil(math.Log2(p.BDP()/float64(max(first, 1)*p.Segment)))))
}

// Answer is how many round trips a response of so many bytes waits for on a connection that
// begins with a window of first segments, and its time in seconds from the connection's first
// packet to the response's last byte. It waits one round trip for the handshake, and one for each
// window, which doubles as long as nothing else bounds it, until a window takes as long to transmit
// as its first acknowledgement takes to come back: then the link transmits to the end.
func (p Path) Answer(bytes float64, first int) (trips int, seconds float64) {
	segments := math.Ceil(bytes / float64(p.Segment))
	left, window, each := segments, float64(max(first, 1)), p.segmentS()
	trips, seconds = 1, p.RTTS
	for ; left > 0; window *= 2 {
		begin := seconds // the link is free from here on
		if arrives := float64(trips)*p.RTTS + p.RTTS + float64(trips-1)*each; arrives > begin {
			trips, begin = trips+1, arrives
		} else {
			window = left
		}
		sent := min(window, left)
		left, seconds = left-sent, begin+sent*each
	}
	return trips, seconds - 8*(segments*float64(p.Segment)-bytes)/p.RateBps // the last segment has the rest
}

// segmentS is how long a full segment takes on an Ethernet of the path's rate, in seconds, with
// the headers of TCP, its timestamps and IPv4.
func (p Path) segmentS() float64 {
	bytes := p.Segment + tcpHeader + tcpTimestamps + ipv4Header + ethernetHeader
	if !p.Shaped {
		bytes += ethernetRest
	}
	return 8 * float64(bytes) / p.RateBps
}
