package record

// Latency compares the response times of a probe while nothing else was sent with those beside the
// flows of a measurement.
type Latency struct {
	ProbePerS     float64 `json:"probe_per_s"` // requests per second beside the flows
	IdleProbePerS float64 `json:"idle_probe_per_s"`
	IdleS         float64 `json:"idle_s"` // the length of the idle window
	// Idle and Loaded are the times of answered requests. Nil: no request was answered.
	Idle   *Distribution `json:"idle_us"`
	Loaded *Distribution `json:"loaded_us"`
	// BaselineUs is the shortest response time of the idle window. BufferDelayUs is the mean
	// response time under load minus BaselineUs, and BufferDelayPercent is that relative to
	// BaselineUs (RFC 6349, section 4.3).
	BaselineUs         float64 `json:"baseline_us"`
	BufferDelayUs      float64 `json:"buffer_delay_us"`
	BufferDelayPercent float64 `json:"buffer_delay_percent"`
	// The same for TCP's round-trip times as the senders' kernels estimate them: the minimum that
	// the flows have seen and the mean in the window. 0: unknown.
	TCPBaselineUs         float64 `json:"tcp_baseline_us,omitempty"`
	TCPRTTUs              float64 `json:"tcp_rtt_us,omitempty"`
	TCPBufferDelayPercent float64 `json:"tcp_buffer_delay_percent,omitempty"`
	// Grade is A+ to F, by BufferDelayUs. Empty: the load did not fill the path. Means says what
	// the grade means to users.
	Grade string `json:"grade"`
	Means string `json:"grade_means"`
	// Note is an additional remark on the grade: that the full link is the sender's own interface.
	Note string `json:"note,omitempty"`
}

// RiseUs returns the increase of the median response time under load. 0: it did not increase, or
// one of the medians is unknown.
func (l *Latency) RiseUs() float64 {
	if l.Idle == nil || l.Loaded == nil {
		return 0
	}
	return max(0, l.Loaded.P50Us-l.Idle.P50Us)
}

// minRTOUs is the minimum retransmission timeout of Linux (TCP_RTO_MIN), in microseconds.
const minRTOUs = 200e3

// TimedOut reports whether the mean under load is well above the median because some responses took
// as long as a retransmission timeout: the queue dropped packets of the probe.
func (l *Latency) TimedOut() bool {
	d := l.Loaded
	return d != nil && d.P50Us < minRTOUs && d.MaxUs >= d.P50Us+minRTOUs*0.9 && d.MeanUs >= 1.2*d.P50Us
}

// restless is the ratio of the idle median to the shortest response time from which on a path
// counts as busy.
const restless = 4

// Restless reports whether even without the load most responses took much longer than the shortest:
// other traffic or busy hosts delayed them.
func (l *Latency) Restless() bool { return l.Idle != nil && l.Idle.P50Us >= restless*l.BaselineUs }

// LatencyGrades lists the values of Latency.Grade, worst first.
var LatencyGrades = []string{"F", "D", "C", "B", "A", "A+"}
