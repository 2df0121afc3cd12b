package record

// Latency is how long requests took that a probe sent while nothing else was
// going on, and beside the flows.
type Latency struct {
	ProbePerS     float64 `json:"probe_per_s"` // requests beside the flows, in a second
	IdleProbePerS float64 `json:"idle_probe_per_s"`
	IdleS         float64 `json:"idle_s"` // the length of the idle window
	// Idle and Loaded are of requests that were answered; nil: none was.
	Idle   *Distribution `json:"idle_us"`
	Loaded *Distribution `json:"loaded_us"`
	// BaselineUs is the quickest answer of the idle window, BufferDelayUs how much
	// longer one took on average under load, and BufferDelayPercent that in percent
	// of the baseline (RFC 6349, section 4.3).
	BaselineUs         float64 `json:"baseline_us"`
	BufferDelayUs      float64 `json:"buffer_delay_us"`
	BufferDelayPercent float64 `json:"buffer_delay_percent"`
	// The same of TCP's own round-trip times, as the senders' kernels estimate
	// them: the least that the flows have seen, and the mean in the window; 0: not
	// known.
	TCPBaselineUs         float64 `json:"tcp_baseline_us,omitempty"`
	TCPRTTUs              float64 `json:"tcp_rtt_us,omitempty"`
	TCPBufferDelayPercent float64 `json:"tcp_buffer_delay_percent,omitempty"`
	// Grade is A+ to F, by BufferDelayUs; empty: the load did not fill the path. Means says
	// what that is like.
	Grade string `json:"grade"`
	Means string `json:"grade_means"`
	// Note is what else decides the grade: that the full link is the sender's own interface.
	Note string `json:"note,omitempty"`
}

// RiseUs is how much longer the median response took under load; 0: not longer, or one of
// the two is not known.
func (l *Latency) RiseUs() float64 {
	if l.Idle == nil || l.Loaded == nil {
		return 0
	}
	return max(0, l.Loaded.P50Us-l.Idle.P50Us)
}

// minRTOUs is the least retransmission timeout of Linux (TCP_RTO_MIN).
const minRTOUs = 200e3

// TimedOut reports whether the mean under load is well above the median because of responses
// that waited as long as a retransmission timeout does: the queue dropped packets of the probe.
func (l *Latency) TimedOut() bool {
	d := l.Loaded
	return d != nil && d.P50Us < minRTOUs && d.MaxUs >= d.P50Us+minRTOUs*0.9 && d.MeanUs >= 1.2*d.P50Us
}

// restless is how many times the fastest response the median is from which on a path was not
// quiet without the load.
const restless = 4

// Restless reports whether responses took much longer than the fastest also without the
// load: other traffic, or busy hosts, delayed them.
func (l *Latency) Restless() bool { return l.Idle != nil && l.Idle.P50Us >= restless*l.BaselineUs }

// LatencyGrades are the values of Latency.Grade, the worst first.
var LatencyGrades = []string{"F", "D", "C", "B", "A", "A+"}
