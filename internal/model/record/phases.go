package record

import "maps"

// Application is what is known of the transactions of an application's protocol.
type Application struct {
	// Errors are those done whose answer says that the request failed: a status of HTTP
	// from 400 on; a response code of DNS other than NOERROR and NXDOMAIN, or a truncated
	// answer; a reply of SMTP from 400 on. The count is since the flow began.
	Errors int64 `json:"errors,omitempty"`
	// Outcomes are the transactions of the window by their answers, or by why there was
	// none.
	Outcomes map[string]int64 `json:"outcomes,omitempty"`
	// Phases are what the times of the window's transactions consist of, each where it
	// happened; Slow is what took most of the time of the slowest.
	Phases []PhaseTimes `json:"phases,omitempty"`
	Slow   *Slow        `json:"slow,omitempty"`
}

// Phase is a part of the time of an application's transaction.
type Phase int

// The phases, in their order.
const (
	PhaseWait      Phase = iota // from the scheduled instant until a connection was free
	PhaseName                   // the look-up of the server's name
	PhaseConnect                // TCP's or QUIC's handshake
	PhaseTLS                    // the handshake of TLS over TCP
	PhaseGreeting               // SMTP: the server's greeting, and EHLO
	PhaseFirstByte              // from the request until the answer begins
	PhaseLastByte               // the rest of the answer
	Phases                      // how many there are
)

var phaseNames = [Phases]string{"wait", "name", "connect", "tls", "greeting", "first_byte", "last_byte"}

func (p Phase) String() string { return phaseNames[p] }

// PhaseTimes is how long a phase took in the transactions that had it.
type PhaseTimes struct {
	Phase string        `json:"phase"`
	Times *Distribution `json:"times"`
}

// SlowCause is what took most of the time of a slow transaction: a phase by its name, or
// one of the others here.
type SlowCause string

// Causes that are not a phase.
const (
	SlowSYN            SlowCause = "syn_retransmitted" // the SYN was sent again: lost, or the accept queue was full
	SlowRetransmission SlowCause = "retransmission"    // segments were sent again
	SlowElsewhere      SlowCause = "unknown"           // no phase was taken
)

// SlowPhase is a phase as a cause.
func SlowPhase(p Phase) SlowCause { return SlowCause(p.String()) }

// Slow is the slowest of each thousand transactions of a window.
type Slow struct {
	Count   int64               `json:"count"`
	LeastUs float64             `json:"least_us"` // the quickest of them
	Causes  map[SlowCause]int64 `json:"causes"`
}

// Add adds what another flow's slowest were.
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

// Since is what was counted after an earlier reading; what is of the window alone stays.
func (a Application) Since(before *Application) *Application {
	a.Outcomes = maps.Clone(a.Outcomes)
	if before != nil {
		a.Errors -= before.Errors
	}
	return &a
}
