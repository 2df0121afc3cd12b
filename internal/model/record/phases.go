package record

import "maps"

// Application has what only transactions of application protocols count.
type Application struct {
	// Errors counts completed transactions whose answer reports an error: an HTTP status of 400 or
	// above; a DNS response code other than NOERROR and NXDOMAIN, or a truncated answer; an SMTP
	// reply of 400 or above. It counts from the start of the flow.
	Errors int64 `json:"errors,omitempty"`
	// Outcomes counts the transactions of the window by answer, or by the reason why there was
	// none.
	Outcomes map[string]int64 `json:"outcomes,omitempty" is:"words"`
	// Phases has the time of each phase of the window's transactions, for those that had it. Slow
	// has the causes of the slowest transactions.
	Phases []PhaseTimes `json:"phases,omitempty"`
	Slow   *Slow        `json:"slow,omitempty"`
}

// Phase is a part of the time of an application protocol's transaction.
type Phase int

// Phases in the order of time.
const (
	PhaseWait      Phase = iota // from the scheduled instant until a connection was free
	PhaseName                   // lookup of the server's name
	PhaseConnect                // TCP or QUIC handshake
	PhaseTLS                    // TLS handshake over TCP
	PhaseGreeting               // SMTP: the server's greeting, and EHLO
	PhaseFirstByte              // from the request until the answer begins
	PhaseLastByte               // the rest of the answer
	Phases                      // number of phases
)

var phaseNames = [Phases]string{"wait", "name", "connect", "tls", "greeting", "first_byte", "last_byte"}

func (p Phase) String() string { return phaseNames[p] }

// PhaseTimes has the times of a phase in the transactions that had it.
type PhaseTimes struct {
	Phase string        `json:"phase" is:"words"`
	Times *Distribution `json:"times"`
}

// SlowCause is what took most of the time of a slow transaction: the name of a phase, or one of the
// constants below.
type SlowCause string

// Causes other than phases.
const (
	SlowSYN            SlowCause = "syn_retransmitted" // the SYN was sent again: lost, or the accept queue was full
	SlowRetransmission SlowCause = "retransmission"    // segments were sent again
	SlowElsewhere      SlowCause = "unknown"           // no time was recorded for any phase
)

// SlowPhase returns the cause for a phase.
func SlowPhase(p Phase) SlowCause { return SlowCause(p.String()) }

// Slow counts the causes for the slowest thousandth of the transactions of a window.
type Slow struct {
	Count   int64               `json:"count"`
	LeastUs float64             `json:"least_us"` // time of the fastest of them
	Causes  map[SlowCause]int64 `json:"causes" is:"words"`
}

// Add adds the slowest transactions of another flow.
func (s *Slow) Add(o *Slow) {
	if s.Causes == nil {
		s.Causes = map[SlowCause]int64{}
	}
	if s.Count == 0 || o.LeastUs < s.LeastUs {
		s.LeastUs = o.LeastUs
	}
	s.Count += o.Count
	for cause, n := range o.Causes {
		s.Causes[cause] += n
	}
}

// Since returns the counters minus those of an earlier reading. Values that describe the window
// remain.
func (a Application) Since(before *Application) *Application {
	a.Outcomes = maps.Clone(a.Outcomes)
	if before != nil {
		a.Errors -= before.Errors
	}
	return &a
}
