package record

// Counters of flows other than bytes: datagrams, transactions and their times.

// Datagrams has the counters of one end of a UDP flow. They count from the start of the flow;
// consumers subtract two readings to get those of the common window.
type Datagrams struct {
	// Sent counts datagrams that the sender's kernel accepted.
	Sent int64 `json:"sent,omitempty"`
	// Skipped counts datagrams that were never sent because the sender fell too far behind the
	// schedule (flow.MaxLate).
	Skipped int64 `json:"skipped,omitempty"`
	// BlockedUs is the time that the sender waited for room in its send buffer, in microseconds.
	BlockedUs int64 `json:"blocked_us,omitempty"`
	// Received counts datagrams that arrived, without duplicates.
	Received int64 `json:"received,omitempty"`
	// Lost counts sequence numbers that the receiver has not seen although it has seen a later one.
	Lost int64 `json:"lost,omitempty"`
	// Reordered counts datagrams that arrived after one that was sent later. Duplicates counts
	// those that arrived again.
	Reordered  int64 `json:"reordered,omitempty"`
	Duplicates int64 `json:"duplicates,omitempty"`
	// Stale counts datagrams that arrived so late (262080 datagrams behind) that the receiver
	// cannot tell whether they are duplicates. They also count as lost.
	Stale int64 `json:"stale,omitempty"`
	// LostInBuffer is the maximum number of lost datagrams that the receiving host dropped because
	// the socket's receive buffer was full (SO_RXQ_OVFL), and that the network did not lose.
	// BufferBytes is the size of that buffer as the kernel counts it, twice the granted size
	// (socket(7)).
	LostInBuffer int64 `json:"lost_in_buffer,omitempty"`
	BufferBytes  int64 `json:"buffer_bytes,omitempty"`
	// Bytes is the payload of each datagram. MTU is the path MTU that the sender's kernel knows at
	// the reading. A larger datagram is sent as several packets.
	Bytes int `json:"bytes,omitempty"`
	MTU   int `json:"mtu,omitempty"`
	// JitterUs is the interarrival jitter of RFC 3550, section 6.4.1, at the reading: the
	// difference between the spacing of two datagrams when they were sent and when they arrived,
	// smoothed over about 16 datagrams.
	JitterUs float64 `json:"jitter_us,omitempty"`
	// Delay is the one-way delay variation (RFC 3393): how much longer each datagram that arrived
	// in the window took than the fastest one. The clocks of the two hosts need not agree. Of
	// datagrams sent at the same instant one counts; of more than 16384 a random sample is used.
	// Set only in the last reading.
	Delay *Distribution `json:"delay,omitempty"`
	// Lateness is the delay between the scheduled time and the system call that sent datagrams,
	// once for each call in the window. Of more than 16384 values a random sample is used. Nil: the
	// datagrams have no schedule, or this is not the last reading.
	Lateness *Distribution `json:"lateness,omitempty"`
}

// LostShare returns the share of datagrams that did not arrive. It returns false if none was sent.
// A receiver that got nothing counts no loss; the share is then 1.
func (d *Datagrams) LostShare() (float64, bool) {
	switch {
	case d == nil || d.Sent+d.Received+d.Lost == 0:
		return 0, false
	case d.Received+d.Lost == 0:
		return 1, true
	}
	return float64(d.Lost) / float64(d.Received+d.Lost), true
}

// Jitter returns JitterUs. Known is false if fewer than two datagrams were received.
func (d *Datagrams) Jitter() (us float64, known bool) {
	if d == nil || d.Received < 2 {
		return 0, false
	}
	return d.JitterUs, true
}

// Add adds the counters of another flow.
func (d *Datagrams) Add(o *Datagrams) { d.count(o, 1) }

// Since returns the counters minus those of an earlier reading, without Delay and Lateness, which
// describe a whole window.
func (d Datagrams) Since(before *Datagrams) *Datagrams {
	d.count(before, -1)
	d.Delay, d.Lateness = nil, nil
	return &d
}

func (d *Datagrams) count(o *Datagrams, sign int64) {
	d.Sent += sign * o.Sent
	d.Skipped += sign * o.Skipped
	d.BlockedUs += sign * o.BlockedUs
	d.Received += sign * o.Received
	d.Lost += sign * o.Lost
	d.Reordered += sign * o.Reordered
	d.Duplicates += sign * o.Duplicates
	d.Stale += sign * o.Stale
	d.LostInBuffer += sign * o.LostInBuffer
}

// How threads wait for responses.
const (
	WaitSleep = "sleep" // until the kernel wakes them
	WaitSpin  = "spin"  // they read again and again for a while, before they would sleep
	WaitPoll  = "poll"  // they read again and again, and never sleep
)

// Transactions has the counters of one end of a flow of requests and responses, from the start of
// the flow.
type Transactions struct {
	// Done counts complete transactions. Failed counts those that will not complete.
	Done   int64 `json:"done"`
	Failed int64 `json:"failed,omitempty"`
	// Unanswered counts udp-rr requests without a response within one second, because a datagram
	// was lost in either direction; for application protocols, requests without an answer within
	// the timeout of the flow. Late counts responses that arrived after that, or again.
	Unanswered int64 `json:"unanswered,omitempty"`
	Late       int64 `json:"late,omitempty"`
	// Answered and ResponseBytes are what the responding end answered and what was received of it.
	// Set only in the flows of a trial.
	Answered      int64 `json:"answered,omitempty"`
	ResponseBytes int64 `json:"response_bytes,omitempty"`
	// Waiting counts transactions at the requesting end that are in progress or due at this
	// instant. LongestWaitUs is the time since the scheduled start of the oldest of them. Latency
	// does not include them.
	Waiting       int64   `json:"waiting,omitempty"`
	LongestWaitUs float64 `json:"longest_wait_us,omitempty"`
	// Polling reports whether the threads poll; they are then always busy.
	Polling bool `json:"polling,omitempty"`
	// Wait is how the requesting threads waited for most responses: WaitSleep, WaitSpin or WaitPoll.
	// Empty: each connection has a goroutine, which sleeps.
	Wait string `json:"wait,omitempty" is:"words"`
	// Spun counts waits that ended while the thread spun, before it would have slept.
	Spun int64 `json:"spun,omitempty"`
	// Application has further counters of an application protocol, at the requesting end. Nil for
	// other flows.
	Application *Application `json:"application,omitempty"`
	// Connections counts those open at this instant. Opened counts all that were opened so far.
	Connections int64 `json:"connections"`
	Opened      int64 `json:"opened,omitempty"`
	// Latency is the time of each transaction that completed in the window, from its scheduled
	// start (with a pace) or its actual start to the last byte of the response. Set only at the
	// requesting end, in the reading at the end of the window.
	Latency *Distribution `json:"latency,omitempty"`
	// BytesPerConnection is the memory of this process for each open connection, without the
	// kernel's.
	BytesPerConnection int64 `json:"bytes_per_connection,omitempty"`
	// Processes is the number of processes that share the connections at this end. 0: one.
	Processes int `json:"processes,omitempty"`
}

// TakeTimes copies the times of the window's transactions from a later reading, which has them.
func (t *Transactions) TakeTimes(later *Transactions) {
	if later.Latency != nil {
		t.Latency = later.Latency
	}
	if a := later.Application; a != nil && t.Application != nil {
		own := *t.Application
		own.Outcomes, own.Phases, own.Slow = a.Outcomes, a.Phases, a.Slow
		t.Application = &own
	}
}

// LostShare returns the share of udp-rr requests that got no response. Known is false if no
// transaction has ended.
func (t *Transactions) LostShare() (share float64, known bool) {
	all := t.Done + t.Unanswered
	if all == 0 {
		return 0, false
	}
	return float64(t.Unanswered) / float64(all), true
}

// Distribution summarises times, in microseconds.
type Distribution struct {
	Count   int64   `json:"count"`
	MinUs   float64 `json:"min"`
	MeanUs  float64 `json:"mean"`
	P50Us   float64 `json:"p50"`
	P90Us   float64 `json:"p90"`
	P99Us   float64 `json:"p99"`
	P999Us  float64 `json:"p999"`
	P9999Us float64 `json:"p9999"`
	MaxUs   float64 `json:"max"`
	// Histogram is an HDR histogram of nanoseconds with at least two significant digits in its
	// compressed encoding (V2), from which distributions can be merged.
	Histogram []byte `json:"histogram,omitempty"`
}
