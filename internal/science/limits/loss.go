package limits

import "math"

// This file computes what losses leave of a path to one connection. Loss is the share of packets at
// which the sender sees a loss; a burst of losses within one round trip counts once.

// Constants of the models below.
const (
	// everyPacket and everyOther are the constant of Mathis if each packet is acknowledged, √(3/2),
	// and if every second one is, √(3/4) (Mathis, Semke, Mahdavi, Ott: The macroscopic behavior of
	// the TCP congestion avoidance algorithm, 1997).
	everyPacket, everyOther = 1.2247449, 0.8660254
	// perAck and timeoutS belong to the model of Padhye: packets for each acknowledgement, and the
	// least retransmission timeout of Linux in seconds.
	perAck, timeoutS = 2, 0.2
	// cubicScale is (C·(3+β)/(4·(1−β)))^¼ with C 0.4 and β 0.7 (RFC 9438, section 5.1).
	cubicScale = 1.054
)

// Reno returns the rate that congestion avoidance by RFC 5681 reaches: its window halves at each
// loss and grows by one segment in each round trip between. low applies if every second packet is
// acknowledged, high if each is.
func (p Path) Reno(loss float64) (low, high float64) {
	return p.mathis(everyOther, loss), p.mathis(everyPacket, loss)
}

func (p Path) mathis(constant, loss float64) float64 {
	return p.atMost(constant / math.Sqrt(loss))
}

// RenoTimeouts returns the rate of Reno if losses are so frequent that some cost a retransmission
// timeout (Padhye, Firoiu, Towsley, Kurose: Modeling TCP throughput, 1998).
func (p Path) RenoTimeouts(loss float64) float64 {
	trip := p.RTTS * math.Sqrt(2*perAck*loss/3)
	waits := timeoutS * math.Min(1, 3*math.Sqrt(3*perAck*loss/8)) * loss * (1 + 32*loss*loss)
	return p.atMost(p.RTTS / (trip + waits))
}

// Cubic returns the rate that CUBIC reaches (RFC 9438, section 5). It is never less than that of
// Reno.
func (p Path) Cubic(loss float64) (low, high float64) {
	cubic := p.atMost(cubicScale * math.Pow(p.RTTS/loss, 0.75))
	low, high = p.Reno(loss)
	return max(low, cubic), max(high, cubic)
}

// atMost returns the rate of a mean window of this many segments, limited to the path's rate.
func (p Path) atMost(segments float64) float64 {
	return p.WindowBps(segments * float64(p.Segment))
}

// Trough returns the share of its rate that a path still carries to a single flow just after a
// loss. queue is the bytes queued before the path, which drain first, and cut the share to which
// the window is reduced.
func (p Path) Trough(queue, cut float64) float64 {
	if p.BDP() <= 0 {
		return 1
	}
	return math.Min(1, cut*(1+queue/p.BDP()))
}
