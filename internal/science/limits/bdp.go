package limits

import "math"

// Path describes a path from one host to another and back, for computations with windows.
type Path struct {
	RateBps float64 // of its slowest link
	RTTS    float64 // round-trip time with empty queues, in seconds
	Segment int     // payload of a full segment, in bytes
	Shaped  bool    // RateBps is that of a token bucket, as in Frame.Shaped
}

const (
	// unscaled is the largest window without window scaling (RFC 9293, section 3.1), largestWindow
	// the largest with it (RFC 7323, section 2.3).
	unscaled      = 65535
	largestWindow = 1 << 30
	// FirstWindow is the number of segments with which slow start begins (RFC 6928).
	FirstWindow = 10
	// receiveShare and sendShare are the sizes of buffers in units of the bandwidth-delay product.
	// The kernel advertises about half of a receive buffer as window until it knows how well
	// segments fill their memory (tcp_adv_win_scale in Documentation/networking/ip-sysctl.rst). A
	// window also has to hold what waits behind a lost segment, so it is twice the product, and the
	// buffer four times. A send buffer holds what is in flight, what is to be sent next and the
	// kernel's own bookkeeping: three times.
	receiveShare = 4
	sendShare    = 3
	// BeyondSendBuffer is the most that TCP has in flight beyond its send buffer, in bytes: the
	// kernel checks for room before it begins a super-frame of 64 KiB, not while it fills it
	// (tcp_sendmsg_locked).
	BeyondSendBuffer = 2 * 64 << 10
)

// Linux's default maxima (third values) of tcp_rmem and tcp_wmem on a machine with enough memory
// (tcp(7)).
const (
	LinuxRmem = 6 << 20
	LinuxWmem = 4 << 20
)

// BDP returns the bandwidth-delay product in bytes: what is in flight if the path is full. It is
// rounded to 1/1000 byte, so that a rounding error of the product does not add a byte.
func (p Path) BDP() float64 { return math.Round(p.RateBps*p.RTTS/8*1e3) / 1e3 }

// Segments returns the number of full segments that hold the bandwidth-delay product.
func (p Path) Segments() int { return int(math.Ceil(p.BDP() / float64(p.Segment))) }

// Scaling reports whether a window of the bandwidth-delay product needs window scaling.
func (p Path) Scaling() bool { return p.BDP() > unscaled }

// Flows returns how many connections it takes to fill the path, each with the largest possible
// window.
func (p Path) Flows() int { return max(1, int(math.Ceil(p.BDP()/largestWindow))) }

// WindowBps returns the highest rate that a window of this many bytes allows.
func (p Path) WindowBps(bytes float64) float64 {
	if p.RTTS <= 0 {
		return p.RateBps
	}
	return min(p.RateBps, bytes*8/p.RTTS)
}

// UnscaledBps returns the highest rate without window scaling.
func (p Path) UnscaledBps() float64 { return p.WindowBps(unscaled) }

// ReceiveBuffer and SendBuffer return the sizes up to which the kernel's autotuning must be allowed
// to grow (the third values of tcp_rmem and tcp_wmem, which have 31 bits), for as many connections
// as it takes to fill the path.
func (p Path) ReceiveBuffer() int64 { return p.buffer(receiveShare) }
func (p Path) SendBuffer() int64    { return p.buffer(sendShare) }

func (p Path) buffer(share float64) int64 {
	return int64(min(math.Ceil(share*p.BDP()/float64(p.Flows())), math.MaxInt32))
}

// SlowStart returns how many round trips slow start takes to fill the path, from a window of first
// segments: the window doubles in each (RFC 5681, section 3.1).
func (p Path) SlowStart(first int) int {
	return int(max(0, math.Ceil(math.Log2(p.BDP()/float64(max(first, 1)*p.Segment)))))
}

// Answer returns how many round trips a response of this many bytes waits for, on a new connection
// whose window begins with first segments, and the seconds from the connection's first packet to
// the response's last byte. It waits one round trip for the handshake and one for each window. The
// window doubles until it takes as long to transmit as its first acknowledgement takes to come
// back; from then on the link transmits without a pause.
func (p Path) Answer(bytes float64, first int) (trips int, seconds float64) {
	segments := math.Ceil(bytes / float64(p.Segment))
	left, window, each := segments, float64(max(first, 1)), p.segmentS()
	trips, seconds = 1, p.RTTS
	for ; left > 0; window *= 2 {
		begin := seconds // the link is free from then on
		if arrives := float64(trips)*p.RTTS + p.RTTS + float64(trips-1)*each; arrives > begin {
			trips, begin = trips+1, arrives
		} else {
			window = left
		}
		sent := min(window, left)
		left, seconds = left-sent, begin+sent*each
	}
	return trips, seconds - 8*(segments*float64(p.Segment)-bytes)/p.RateBps // the last segment has only the rest
}

// segmentS returns how long a full segment takes on an Ethernet of the path's rate, in seconds,
// with the headers of TCP, its timestamps and IPv4.
func (p Path) segmentS() float64 {
	bytes := p.Segment + tcpHeader + tcpTimestamps + ipv4Header + ethernetHeader
	if !p.Shaped {
		bytes += ethernetRest
	}
	return 8 * float64(bytes) / p.RateBps
}
