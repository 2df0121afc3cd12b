package record

// What is known of flows beside bytes: datagrams that were lost, transactions and
// how long they took.

// Datagrams is one end's count of a udp flow. Counts are since the flow began;
// consumers take differences, and so get those of the common window.
type Datagrams struct {
	// Sent were taken by the sender's kernel.
	Sent int64 `json:"sent,omitempty"`
	// Skipped were due while the sender was held up, and never sent (flow.MaxLate).
	Skipped int64 `json:"skipped,omitempty"`
	// BlockedUs is how long the sender waited for room in its socket's send buffer, in
	// microseconds.
	BlockedUs int64 `json:"blocked_us,omitempty"`
	// Received came in at the receiver, duplicates left out.
	Received int64 `json:"received,omitempty"`
	// Lost are those of whose sequence number the receiver has seen a later one
	// and not their own.
	Lost int64 `json:"lost,omitempty"`
	// Reordered came after one that was sent later, Duplicates a second time.
	Reordered  int64 `json:"reordered,omitempty"`
	Duplicates int64 `json:"duplicates,omitempty"`
	// Stale came so long after later ones (262080 datagrams) that it is not known
	// whether for a second time; they are still counted as lost.
	Stale int64 `json:"stale,omitempty"`
	// LostInBuffer is how many of the lost, at most, had arrived at the receiver and
	// were dropped there, since its socket's receive buffer was full
	// (SO_RXQ_OVFL): not the network's loss. BufferBytes is that buffer as the
	// kernel counts it, twice what it granted (socket(7)).
	LostInBuffer int64 `json:"lost_in_buffer,omitempty"`
	BufferBytes  int64 `json:"buffer_bytes,omitempty"`
	// Bytes is the payload of each datagram, MTU that of the path, as far as the sender's
	// kernel knows it at the reading: a larger datagram takes several packets.
	Bytes int `json:"bytes,omitempty"`
	MTU   int `json:"mtu,omitempty"`
	// JitterUs is the interarrival jitter of RFC 3550, section 6.4.1, at the
	// reading: the mean difference, smoothed over some 16 datagrams, between the
	// spacing of two datagrams when they were sent and when they arrived.
	JitterUs float64 `json:"jitter_us,omitempty"`
	// Delay is how much longer than the quickest one the datagrams that arrived in
	// the window took (one-way delay variation, RFC 3393); two clocks need not
	// agree for that. Of datagrams that were sent at the same instant one counts,
	// and of more than 16384 a random choice. Only in the last reading.
	Delay *Distribution `json:"delay,omitempty"`
	// Lateness is how much later than their schedule the sender handed datagrams to the
	// kernel in the window, once for those of one call; nil: they have no schedule, or
	// this is not the last reading. Of more than 16384 a random choice counts.
	Lateness *Distribution `json:"lateness,omitempty"`
}

// LostShare is the part of the datagrams that did not arrive; false: none was
// sent. A receiver that got nothing knows of no loss, and lost all the same.
func (d *Datagrams) LostShare() (float64, bool) {
	switch {
	case d == nil || d.Sent+d.Received+d.Lost == 0:
		return 0, false
	case d.Received+d.Lost == 0:
		return 1, true
	}
	return float64(d.Lost) / float64(d.Received+d.Lost), true
}

// Jitter is JitterUs; false: fewer than two datagrams were received, and it is not known.
func (d *Datagrams) Jitter() (us float64, known bool) {
	if d == nil || d.Received < 2 {
		return 0, false
	}
	return d.JitterUs, true
}

// Add adds what another flow has counted.
func (d *Datagrams) Add(o *Datagrams) { d.count(o, 1) }

// Since is what was counted after an earlier reading, without delays: they are of a
// whole window.
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

// Transactions is one end's count of a flow of requests and responses. Counts are
// since the flow began.
type Transactions struct {
	// Done are complete, Failed are not and will not be.
	Done   int64 `json:"done"`
	Failed int64 `json:"failed,omitempty"`
	// Unanswered are udp-rr's to which no response came within a second: a datagram was
	// lost, in one direction or the other; of an application's, those without an answer
	// within the flow's timeout. Late are responses that came after that, or a second time.
	Unanswered int64 `json:"unanswered,omitempty"`
	Late       int64 `json:"late,omitempty"`
	// Answered is what the responding end has, and ResponseBytes what was received
	// of it; only in a trial's flows.
	Answered      int64 `json:"answered,omitempty"`
	ResponseBytes int64 `json:"response_bytes,omitempty"`
	// Waiting have begun or are due, and are not done at this instant, at the end that
	// asks; LongestWaitUs is how long the one that waits longest has, from when it was to
	// begin. Latency does not know of them yet.
	Waiting       int64   `json:"waiting,omitempty"`
	LongestWaitUs float64 `json:"longest_wait_us,omitempty"`
	// Polling: the threads poll, and are always busy.
	Polling bool `json:"polling,omitempty"`
	// Application is of an application's transactions, at the end that asks; nil: of others.
	Application *Application `json:"application,omitempty"`
	// Connections are open at this instant; Opened have been opened so far.
	Connections int64 `json:"connections"`
	Opened      int64 `json:"opened,omitempty"`
	// Latency is of the transactions that were done in the window: from when each
	// was to begin (with a pace) or began, to the last byte of its response. Only
	// at the requesting end, in the reading at the window's end.
	Latency *Distribution `json:"latency,omitempty"`
	// BytesPerConnection is this process's own memory for each connection that is
	// open; the kernel's is not in it.
	BytesPerConnection int64 `json:"bytes_per_connection,omitempty"`
	// Processes share the connections at this end; 0: one.
	Processes int `json:"processes,omitempty"`
}

// TakeTimes takes the times of the window's transactions from a later reading, which has
// them.
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

// LostShare is the part of udp-rr's requests that had no response; false: there was
// none of which that is known.
func (t *Transactions) LostShare() (share float64, known bool) {
	all := t.Done + t.Unanswered
	if all == 0 {
		return 0, false
	}
	return float64(t.Unanswered) / float64(all), true
}

// Distribution is how a time was distributed, in microseconds.
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
	// Histogram is an HDR histogram of nanoseconds with two significant digits or
	// more, in its compressed encoding (V2), so that distributions can be added up.
	Histogram []byte `json:"histogram,omitempty"`
}
