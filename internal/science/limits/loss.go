package limits

import "math"

// What losses leave of a path to one connection. Loss is the share of packets at
// which the sender sees a loss, each by itself: a burst of losses within a round
// trip is one.

// Constants of the models below.
const (
	// everyPacket and everyOther are Mathis' constant where each packet is
	// acknowledged, √(3/2), and where every second one is, √(3/4) (Mathis, Semke,
	// Mahdavi, Ott: The macroscopic behavior of the TCP congestion avoidance
	// algorithm, 1997).
	everyPacket, everyOther = 1.2247449, 0.8660254
	// perAck and timeout are those of Padhye's model: packets for each
	// acknowledgement, and the least retransmission timeout of Linux.
	perAck, timeoutS = 2, 0.2
	// cubicScale is (C·(3+β)/(4·(1−β)))^¼ with C 0.4 and β 0.7 (RFC 9438, section
	// 5.1).
	cubicScale = 1.054
)

// Reno is what congestion avoidance by RFC 5681 gets: its window halves at each
// loss and grows by a segment with each round trip in between. Low is where every
// second packet is acknowledged, high where each is.
func (p Path) Reno(loss float64) (low, high float64) {
	return p.mathis(everyOther, loss), p.mathis(everyPacket, loss)
}

func (p Path) mathis(constant, loss float64) float64 {
	return p.atMost(constant / math.Sqrt(loss))
}

// RenoTimeouts is Reno where losses are so many that some cost a retransmission
// timeout (Padhye, Firoiu, Towsley, Kurose: Modeling TCP throughput, 1998).
func (p Path) RenoTimeouts(loss float64) float64 {
	trip := p.RTTS * math.Sqrt(2*perAck*loss/3)
	waits := timeoutS * math.Min(1, 3*math.Sqrt(3*perAck*loss/8)) * loss * (1 + 32*loss*loss)
	return p.atMost(p.RTTS / (trip + waits))
}

// Cubic is what CUBIC gets (RFC 9438, section 5): never less than Reno.
func (p Path) Cubic(loss float64) (low, high float64) {
	cubic := p.atMost(cubicScale * math.Pow(p.RTTS/loss, 0.75))
	low, high = p.Reno(loss)
	return max(low, cubic), max(high, cubic)
}

// atMost is the rate of a mean window of so many segments, as far as the path
// carries it.
func (p Path) atMost(segments float64) float64 {
	return p.WindowBps(segments * float64(p.Segment))
}

// Trough is the share of its rate that a path still carries to a single flow just
// after a loss, where a queue of so many bytes stands before it and the window is
// cut to a share: the queue drains first.
func (p Path) Trough(queue, cut float64) float64 {
	if p.BDP() <= 0 {
		return 1
	}
	return math.Min(1, cut*(1+queue/p.BDP()))
}
