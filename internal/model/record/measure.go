package record

import (
	"cmp"
	"slices"
	"time"
)

// MeasureSchema is the schema name and version of a Measure.
const MeasureSchema = "linerate.measure/v2"

// MeasureStudy is the Study of a measurement that is kept as a run. Such a run has no
// StudyFile.
const MeasureStudy = "measure"

// The two nodes of a measurement.
const (
	NodeClient = "client" // where `linerate measure` runs
	NodeServer = "server" // where `linerate serve` runs
)

// Measure is the result document of `linerate measure`: one trial between two
// machines.
type Measure struct {
	Schema string `json:"schema"`
	// Run is the ID under which the notebook keeps the measurement; empty: it does not.
	Run string `json:"run,omitempty"`
	// Name is the name that --name gave it; empty: none.
	Name string `json:"name,omitempty"`
	// Page is the page that was written of it; empty: none was.
	Page     string    `json:"page,omitempty"`
	Address  string    `json:"address"` // the server's, as connected to
	Protocol string    `json:"protocol"`
	Started  time.Time `json:"started"`
	// DurationS is the length of the common window, after WarmupS.
	DurationS float64 `json:"duration_s"`
	WarmupS   float64 `json:"warmup_s"`
	// PlannedS is how long the window was to be, where it ended early; 0: it did not.
	PlannedS float64 `json:"planned_s,omitempty"`
	// Ended is why it ended early, where it was not interrupted: the connection to the server
	// was lost. The result is then of what this host knows, as of an iperf3 server's (see
	// MeasurePeer).
	Ended string `json:"ended,omitempty"`
	// Mode is how the bytes were to be moved, one of the Modes; each flow says how
	// it did.
	Mode string `json:"mode,omitempty"`

	// GoodputBps is the sum over all flows of what the receivers read in the
	// common window; the other totals are of that window, too.
	GoodputBps    float64 `json:"goodput_bps"`
	LimitBps      float64 `json:"limit_bps"`      // 0: not known
	Limit         Limit   `json:"limit,omitzero"` // as a Trial's
	LimitWhy      string  `json:"limit_why,omitempty"`
	WrittenBytes  int64   `json:"written_bytes"`
	ReceivedBytes int64   `json:"received_bytes"`
	RetransBytes  int64   `json:"retrans_bytes"`
	MeasureCounts
	// CPUSPerGigabyte is the processor time of both ends' linerate processes, in
	// seconds per 10⁹ bytes received; CPUUsPerTransaction in microseconds per
	// transaction that was done.
	CPUSPerGigabyte     float64 `json:"cpu_s_per_gigabyte"`
	CPUUsPerTransaction float64 `json:"cpu_us_per_transaction,omitempty"`

	Directions []MeasureDirection `json:"directions"`
	Ends       []MeasureEnd       `json:"ends"`
	// OneMachine says that both ends were on the same machine: its CPUs are those of each.
	OneMachine bool `json:"one_machine,omitempty"`
	// Addresses are the totals of each address at an end that has several.
	Addresses []MeasureAddress `json:"addresses,omitempty"`
	Flows     []Flow           `json:"flows"`
	Trust     []Check          `json:"trust"`
	// Findings are causes that the trial shows, as of a run: of what is known of the two
	// machines, which is less of a server than of this host.
	Findings []Finding `json:"findings"`
	// Latency is what became of a probe beside the flows, where there was one; its
	// own flow is in there, and not among the Flows.
	Latency *Latency `json:"latency,omitempty"`
	// LossFree is the highest rate of datagrams without loss, where that was
	// searched: the rest is of its ResultTrial.
	LossFree *LossFree `json:"loss_free,omitempty"`
	// FindMax is the highest rate of requests that meets an objective, where that was searched:
	// the rest is of the last trial that kept it at that rate.
	FindMax *FindMax     `json:"find_max,omitempty"`
	Expect  *Expectation `json:"expect,omitempty"`
	// Modes are the documents of the same measurement in each of several modes,
	// one after another, where that was asked for; all the rest is the first's.
	Modes []*Measure `json:"modes,omitempty"`
	MeasurePeer
}

// EachMode are the documents of the trials: one for each mode, or the only one.
func (m *Measure) EachMode() []*Measure {
	if len(m.Modes) > 0 {
		return m.Modes
	}
	return []*Measure{m}
}

// EndedBy is why the measurement ended early in one of its modes, if it was not interrupted.
func (m *Measure) EndedBy() (why string) {
	for _, one := range m.EachMode() {
		why = cmp.Or(why, one.Ended)
	}
	return why
}

// FoundNone reports whether a rate was searched and none was found.
func (m *Measure) FoundNone() bool {
	return m.LossFree != nil && m.LossFree.RateBps == 0 || m.FindMax != nil && m.FindMax.RatePerS == 0
}

// Doubtful reports whether a trust check failed in any mode, or nothing arrived in one, or a
// search found no rate, or did not confirm it.
func (m *Measure) Doubtful() bool {
	return m.FoundNone() || m.FindMax != nil && !m.FindMax.Found() ||
		slices.ContainsFunc(m.EachMode(), func(one *Measure) bool {
			return one.NothingArrived() || slices.ContainsFunc(one.Trust, func(c Check) bool { return !c.Pass })
		})
}

// NothingArrived reports whether the flows of a direction were connected, and none received
// anything in the window.
func (m *Measure) NothingArrived() bool {
	return slices.ContainsFunc(m.Directions, func(d MeasureDirection) bool {
		return d.GoodputBps == 0 && slices.ContainsFunc(m.Flows, func(f Flow) bool {
			return f.From == d.Sender() && f.Connected && f.Transactions == nil
		})
	})
}

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
	Note  string `json:"note,omitempty"`
	Probe *Flow  `json:"probe,omitempty"` // under load
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

// MeasureCounts is what is known of flows that are not TCP's bytes. All is of the
// common window.
type MeasureCounts struct {
	// Datagrams is for udp: the flows' together, the jitter as the mean over what
	// was received. Lost repeats those that were, LostShare is their part of those
	// that the receivers were to have; of udp-rr they are of the requests that have
	// had no response.
	Datagrams *Datagrams `json:"datagrams,omitempty"`
	Lost      *int64     `json:"lost,omitempty"`
	LostShare float64    `json:"lost_share,omitempty"`
	// RatePerS is how many transactions were done in a second (rr, udp-rr, crr),
	// Transactions the flows' together, and LatencyUs how long they took.
	RatePerS     float64       `json:"rate_per_s,omitempty"`
	Transactions *Transactions `json:"transactions,omitempty"`
	LatencyUs    *Distribution `json:"latency_us,omitempty"`
}

// MeasureDirection is all flows of one direction: write goes from the client to
// the server, read comes back. Transactions, which go in both directions, are write: this
// end asks.
type MeasureDirection struct {
	Direction     string  `json:"direction"`
	Flows         int     `json:"flows"`
	GoodputBps    float64 `json:"goodput_bps"`
	LimitBps      float64 `json:"limit_bps"`
	Limit         Limit   `json:"limit,omitzero"`
	LimitWhy      string  `json:"limit_why,omitempty"`
	WrittenBytes  int64   `json:"written_bytes"`
	ReceivedBytes int64   `json:"received_bytes"`
	RetransBytes  int64   `json:"retrans_bytes"`
	MeasureCounts
	Intervals []MeasureInterval `json:"intervals"`
	// Counted is how, with a peer that is not linerate or was lost, Peer its own figure, and
	// TotalBytes what this host had from the first byte to the last, to be held
	// against that.
	Counted    string     `json:"counted,omitempty"`
	Peer       *PeerCount `json:"peer,omitempty"`
	TotalBytes int64      `json:"total_bytes,omitempty"`
}

// Sender is the node that sends the direction's flows.
func (d MeasureDirection) Sender() string {
	if d.Direction == "read" {
		return NodeServer
	}
	return NodeClient
}

// MeasureInterval is a part of the window, in seconds from its beginning.
type MeasureInterval struct {
	FromS      float64 `json:"from_s"`
	ToS        float64 `json:"to_s"`
	GoodputBps float64 `json:"goodput_bps"`
	// RatePerS is of transactions, LostShare of datagrams.
	RatePerS  float64 `json:"rate_per_s,omitempty"`
	LostShare float64 `json:"lost_share,omitempty"`
}

// MeasureAddress is all flows of one address: goodput, and transactions per
// second. Interface is where this host's packets to the other end leave, or where the
// server has the address; empty: not known.
type MeasureAddress struct {
	Host      string  `json:"host"`
	Address   string  `json:"address"`
	Interface string  `json:"interface,omitempty"`
	SpeedBps  float64 `json:"speed_bps,omitempty"`
	Flows     int     `json:"flows"`
	WriteBps  float64 `json:"write_bps"`
	ReadBps   float64 `json:"read_bps"`
	RatePerS  float64 `json:"rate_per_s,omitempty"`
}

// MeasureInterface is an interface that flows used, with what its hardware has negotiated.
type MeasureInterface struct {
	Interface string  `json:"interface"`
	SpeedBps  float64 `json:"speed_bps,omitempty"`
	// RxBps and TxBps are what the interface counted in the window.
	RxBps float64 `json:"rx_bps"`
	TxBps float64 `json:"tx_bps"`
}

// MeasureEnd is one of the two machines.
type MeasureEnd struct {
	HostEnvironment
	Version   string `json:"version"` // of linerate
	Interface string `json:"interface,omitempty"`
	// SpeedBps is what the interface's hardware has negotiated; 0: not known.
	SpeedBps float64 `json:"speed_bps,omitempty"`
	// Interfaces are all of them, where the flows used several.
	Interfaces []MeasureInterface `json:"interfaces,omitempty"`
	// CPUS is the processor time of the linerate process in the window, with
	// what it did for Others; BusyCPUS that of the whole machine.
	CPUS            float64     `json:"cpu_s"`
	BusyCPUS        float64     `json:"busy_cpu_s"`
	CPUSPerGigabyte float64     `json:"cpu_s_per_gigabyte"`
	CPUBusy         float64     `json:"cpu_busy"`
	AllowedCPUs     []int       `json:"allowed_cpus,omitempty"` // as HostReading's
	GeneratorCPU    float64     `json:"generator_cpu"`
	Others          *OtherFlows `json:"others,omitempty"`
	// CPUUsPerTransaction, and the process's own memory for each connection that
	// was open at the window's end, where there were transactions.
	CPUUsPerTransaction float64 `json:"cpu_us_per_transaction,omitempty"`
	BytesPerConnection  int64   `json:"bytes_per_connection,omitempty"`
}

// Expectation is a gate that a measurement was held to.
type Expectation struct {
	Gate string `json:"gate"` // ">= 900mbit"
	Met  bool   `json:"met"`  // all Conditions are
	// Conditions are its parts, all of which have to be met.
	Conditions []Condition `json:"conditions,omitempty"`
}

// Condition is one part of a gate, which every direction and mode is held to.
type Condition struct {
	Metric    string `json:"metric"`    // "goodput", "latency_p99"
	Condition string `json:"condition"` // as it was given
	Met       bool   `json:"met"`
	Got       string `json:"got"` // in words
	// Unknown is why it is neither met nor missed: there are too few requests for the
	// percentile that it is about. Met is then false.
	Unknown string `json:"unknown,omitempty"`
}
