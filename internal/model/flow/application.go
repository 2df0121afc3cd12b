package flow

import (
	"fmt"
	"time"

	"linerate/internal/model/unit"
)

// Arrival processes of transactions with a pace.
const (
	ArrivalsFixed   = "fixed"   // evenly apart
	ArrivalsPoisson = "poisson" // independently of each other: exponentially distributed gaps
)

// Values of the option tls.
const (
	TLSOff     = "off"
	TLSFull    = "full"    // a full handshake for each connection
	TLSResumed = "resumed" // a session is resumed where there is one (RFC 8446, section 2.2)
)

const (
	// DefaultTimeout is the default of the option timeout.
	DefaultTimeout = 5 * time.Second
	// DefaultBody is the default size of the body of an HTTP response, and of a mail, in bytes.
	DefaultBody = 1000

	maxTimeout  = time.Minute
	maxThink    = 10 * time.Second
	maxPipeline = 1000
)

var (
	applications = Names(func(p Protocol) bool { return p.Application })
	requests     = Names(func(p Protocol) bool { return p.Transactional() && !p.Application })
	bodies       = Names(func(p Protocol) bool { return p.Requests })
	answers      = Names(func(p Protocol) bool { return p.Answers })
	pipelining   = Names(func(p Protocol) bool { return p.Pipelines })
	threaded     = Names(func(p Protocol) bool { return p.Threads })
	reconnecting = Names(func(p Protocol) bool { return p.Reconnects })
	encrypting   = Names(func(p Protocol) bool { return p.Encrypts })
)

// applicationOptions are the rows of Options for application protocols.
var applicationOptions = []*Option{
	{
		Key: "arrivals",
		Doc: "with pace: when requests begin. fixed: evenly apart; poisson: independently of each other, " +
			"with exponentially distributed gaps",
		Protocols: applications, Enum: []string{ArrivalsFixed, ArrivalsPoisson}, Type: "name", Absent: ArrivalsFixed,
		conflict: func(s *Spec) string {
			if s.Arrivals != "" && s.Pace == 0 {
				return " without pace: each request follows the answer before it"
			}
			return ""
		},
	},
	{
		Key: "pipeline",
		Doc: "requests of a connection that may be unanswered at a time: queries (RFC 7766, section 6.2.1.1), " +
			"streams, or requests of HTTP/1.1 (RFC 9112, section 9.3.2)",
		Protocols: pipelining, Absent: "1", Default: 1, Least: 1, Most: maxPipeline, Type: "number",
	},
	{
		Key: "per_connection", Doc: "requests of a connection, after which it is closed and another is opened",
		Protocols: reconnecting, Absent: "all: connections stay", Least: 1, Most: 1e6, Type: "number",
	},
	{
		Key: "tls",
		Doc: "off; full: a whole handshake for each connection; resumed: sessions are resumed (RFC 8446, " +
			"section 2.2). smtp: by STARTTLS",
		Protocols: encrypting, Enum: []string{TLSOff, TLSFull, TLSResumed}, Type: "name",
		Absent: "off; of dot and h3: full",
		conflict: func(s *Spec) string {
			if s.TLS == TLSOff && Of(s.Protocol).Encrypted {
				return fmt.Sprintf(" off: %s is always encrypted", s.Protocol)
			}
			return ""
		},
	},
	{
		Key: "insecure", Doc: "true: the certificate of a server that is not linerate's is not verified",
		Protocols: encrypting, Type: "bool",
	},
	{
		Key: "think", Doc: "how long the server takes for each answer, in addition", Protocols: applications,
		Type: "duration",
		check: func(s *Spec) string {
			if d := time.Duration(s.Think); d < 0 || d > maxThink {
				return fmt.Sprintf(" %v: expected at most %v", s.Think, maxThink)
			}
			return ""
		},
	},
	{
		Key: "timeout", Doc: "how long a request may take, after which it is given up and counted as unanswered",
		Protocols: applications, Type: "duration",
		Absent: DefaultTimeout.String(),
		check: func(s *Spec) string {
			if d := time.Duration(s.Timeout); d < time.Millisecond || d > maxTimeout {
				return fmt.Sprintf(" %v: expected 1ms to %v", s.Timeout, maxTimeout)
			}
			return ""
		},
	},
}

// serviceOption is the row of Options that selects a server other than linerate's.
var serviceOption = []*Option{
	{
		Key: "service", Doc: "the service of the other host that answers, by its name there; linerate: its own server",
		Protocols: applications, Neutral: OwnService, Absent: OwnService, Planned: true,
		conflict: func(s *Spec) string {
			for key, given := range map[string]bool{"think": s.Think != 0, "tls": s.TLS != "" &&
				s.TLS != TLSOff, "request": s.Request != 0 && s.Protocol == HTTP} {
				if given && s.Served() {
					return fmt.Sprintf(" %s: its configuration has nothing for %s, which is for linerate's own server",
						s.Service, key)
				}
			}
			return ""
		},
	},
}

// threadsConflict returns why the threads of a flow have nothing to do.
func threadsConflict(s *Spec) string {
	if s.Threads > s.Connections {
		return fmt.Sprintf(" %d: a flow with %s has nothing for more than %d to do: say connections, too", s.Threads,
			unit.Plural(s.Connections, "connection"), s.Connections)
	}
	return ""
}
