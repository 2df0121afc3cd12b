package flow

import (
	"cmp"
	"errors"
	"fmt"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"sync"

	"linerate/internal/model/source"
	"linerate/internal/model/unit"
)

// Option is all that is known of one field of a Spec: study files, the JSON Schema,
// `measure`, --help, the reference in docs and the checks of foreign tools read it
// here. A new option is a field of Spec and a row of Options.
type Option struct {
	Key string
	Doc string
	// Absent says what holds without the option; empty: nothing is set.
	Absent string
	// Protocols that the option means something to; nil: all.
	Protocols []string
	Enum      []string
	// Least and Most bound a number that is given; both 0: any.
	Least, Most float64
	// Unit of the bounds, for messages.
	Unit string
	// Default is what a flow of one of Protocols has without the option; 0: nothing.
	Default int
	// Neutral is a value that means something to every protocol.
	Neutral string
	// Type is the placeholder of the value of --key; empty: `measure` has no such flag.
	Type string
	// Planned options are carried out by the plan, whichever program makes the flow.
	Planned bool
	// Imposed options are set on flows of any protocol, by a server for its bounds.
	Imposed bool
	// Parse sets the option in s from a flag's text; nil: it has no flag.
	Parse func(s *Spec, text string) error
	// Wanted reports whether s asks for something that a flow without the option does
	// not have.
	Wanted func(s *Spec) bool

	// check returns what is wrong with a value that is given, and conflict what is
	// wrong with it beside the other options of a fitted Spec; both begin with what
	// follows the key.
	check, conflict func(s *Spec) string

	merge func(s *Spec, base *Spec)
	clear func(s *Spec)
	isSet func(s *Spec) bool
	value func(s *Spec) any
}

// Flag is the option's flag of `measure`, without the dashes.
func (o *Option) Flag() string { return strings.ReplaceAll(o.Key, "_", "-") }

// Help is Doc with the protocols and the default.
func (o *Option) Help() string {
	text := o.Doc
	if o.Protocols != nil {
		text = strings.Join(o.Protocols, ", ") + ": " + text
	}
	if o.Absent != "" {
		text += " (default: " + o.Absent + ")"
	}
	return text
}

// For reports whether the option means something to a protocol; empty: tcp.
func (o *Option) For(protocol string) bool {
	return o.Protocols == nil || slices.Contains(o.Protocols, Of(protocol).Name)
}

// IsNeutral reports whether the value in s means something to every protocol.
func (o *Option) IsNeutral(s *Spec) bool { return o.Neutral != "" && o.value(s) == any(o.Neutral) }

// Check returns what is wrong with the value in s, which was given; empty: nothing.
// The text follows the option's name.
func (o *Option) Check(s *Spec) string {
	v := o.value(s)
	if text, isText := v.(string); isText && o.Enum != nil && !slices.Contains(o.Enum, text) {
		return fmt.Sprintf(" %.40q: expected %s", text, source.Or(o.Enum))
	}
	if n, isNumber := number(v); isNumber && (o.Least != 0 && !(n >= o.Least) || o.Most != 0 && !(n <= o.Most)) {
		if o.Most == 0 {
			return fmt.Sprintf(" %v: expected at least %v", v, unit.Bytes(o.Least))
		}
		return strings.TrimRight(fmt.Sprintf(" %v: expected %.0f to %.0f %s", v, o.Least, o.Most, o.Unit), " ")
	}
	if o.check != nil {
		return o.check(s)
	}
	return ""
}

// Conflict returns what is wrong with the option beside the others of s, which is
// fitted; empty: nothing. The text follows the option's name.
func (o *Option) Conflict(s *Spec) string {
	if o.conflict == nil {
		return ""
	}
	return o.conflict(s)
}

// Check returns what is wrong with the options that are set: values out of bounds,
// options that mean nothing to the protocol, and options that contradict each other.
func (s Spec) Check() error {
	var errs []error
	for _, o := range Options {
		if !o.isSet(&s) {
			continue
		}
		wrong := cmp.Or(o.Check(&s), o.Conflict(&s))
		if wrong == "" && !o.For(s.Protocol) && !o.IsNeutral(&s) && !o.Imposed {
			wrong = fmt.Sprintf(": means nothing to %s flows, only to %s", Of(s.Protocol).Name, source.Or(o.Protocols))
		}
		if wrong != "" {
			errs = append(errs, errors.New(o.Key+wrong))
		}
	}
	return errors.Join(errs...)
}

// Find is the option of that key; nil: there is none.
func Find(key string) *Option {
	i := slices.IndexFunc(Options, func(o *Option) bool { return o.Key == key })
	if i < 0 {
		return nil
	}
	return Options[i]
}

// With returns the options of s with those replaced that over has.
func (s Spec) With(over Spec) Spec {
	for _, o := range Options {
		o.merge(&over, &s)
	}
	return over
}

// Fitted returns the options that mean something to their protocol, with its
// defaults: a workload's are for flows of several.
func (s Spec) Fitted() Spec {
	for _, o := range Options {
		if !o.For(s.Protocol) {
			o.clear(&s)
		} else if o.Default != 0 && o.Protocols != nil && !o.isSet(&s) {
			_ = o.Parse(&s, strconv.Itoa(o.Default))
		}
	}
	return s
}

// Describe returns the documentation and the accepted values of a key, for the reader of
// study files.
func (Spec) Describe(key string) (doc string, enum []string) {
	if o := Find(key); o != nil {
		return o.Help(), o.Enum
	}
	return "", nil
}

func number(v any) (float64, bool) {
	switch v := v.(type) {
	case int:
		return float64(v), true
	case float64:
		return v, true
	case unit.Bytes:
		return float64(v), true
	case unit.BitRate:
		return float64(v), true
	}
	return 0, false
}

// row is an option whose zero value is absence.
func row[T comparable](key string, field func(*Spec) *T, parse func(string) (T, error), o Option) *Option {
	var zero T
	o.Key = key
	o.value = func(s *Spec) any { return *field(s) }
	o.isSet = func(s *Spec) bool { return *field(s) != zero }
	if o.merge == nil {
		o.merge = func(s, base *Spec) {
			if *field(s) == zero {
				*field(s) = *field(base)
			}
		}
	}
	if o.clear == nil {
		o.clear = func(s *Spec) { *field(s) = zero }
	}
	if o.Wanted == nil {
		o.Wanted = func(s *Spec) bool {
			n, isNumber := number(*field(s))
			return *field(s) != zero && (!isNumber || n != float64(o.Default)) && !o.IsNeutral(s)
		}
	}
	o.Parse = func(s *Spec, text string) (err error) {
		*field(s), err = parse(text)
		return err
	}
	return &o
}

func text(key string, field func(*Spec) *string, o Option) *Option {
	return row(key, field, func(text string) (string, error) { return text, nil }, o)
}

func integer(key string, field func(*Spec) *int, o Option) *Option {
	return row(key, field, strconv.Atoi, o)
}

func size(key string, field func(*Spec) *unit.Bytes, o Option) *Option {
	return row(key, field, unit.ParseBytes, o)
}

func rate(key string, field func(*Spec) *unit.BitRate, o Option) *Option {
	o.check = func(s *Spec) string {
		if !(*field(s) > 0) {
			return fmt.Sprintf(" %v: expected a positive rate", *field(s))
		}
		return ""
	}
	return row(key, field, unit.ParseBitRate, o)
}

// boolean is an option of three states: nil is absent.
func boolean(key string, field func(*Spec) **bool, o Option) *Option {
	if o.Wanted == nil {
		o.Wanted = func(s *Spec) bool { return On(*field(s)) }
	}
	o.Type = "bool"
	return row(key, field, func(text string) (*bool, error) {
		b, err := strconv.ParseBool(text)
		return &b, err
	}, o)
}

// On reports whether an option of three states is true.
func On(b *bool) bool { return b != nil && *b }

var (
	every         = Names(func(Protocol) bool { return true })
	bulk          = Names(Protocol.Bulk)
	transactional = Names(Protocol.Transactional)
	overTCP       = Names(func(p Protocol) bool { return p.Transport == TCP })

	congestionControl = sync.OnceValue(func() *regexp.Regexp { return regexp.MustCompile(`^[a-z0-9_-]{1,15}$`) })
)

// Options is every option, in the order of the reference.
var Options = []*Option{
	text("protocol", func(s *Spec) *string { return &s.Protocol }, Option{
		Doc:  protocolDocs(),
		Enum: every, Type: "name", Absent: "tcp", Planned: true,
	}),
	text("direction", func(s *Spec) *string { return &s.Direction }, Option{
		Doc:       "write: the end that connects sends; read: the other end sends; both",
		Protocols: bulk, Enum: []string{Write, Read, Both}, Neutral: Write, Type: "name", Absent: "write", Planned: true,
		clear: func(s *Spec) { s.Direction = Write },
	}),
	integer("streams", func(s *Spec) *int { return &s.Streams }, Option{
		Doc: "connections per flow and direction", Absent: "1; measure: as many as there are addresses", Default: 1, Least: 1, Most: maxStreams, Type: "number",
	}),
	integer("copies", func(s *Spec) *int { return &s.Copies }, Option{
		Doc: "how often there is the flow, each with a process of its own where a tool makes it", Absent: "1", Default: 1, Least: 1, Most: maxStreams, Planned: true,
	}),
	text("destinations", func(s *Spec) *string { return &s.Destinations }, Option{
		Doc: "first: copies go to the flow's destination; all: to all addresses of the host to, in turn", Absent: "first", Enum: []string{"first", AllDestinations}, Planned: true,
	}),
	// The kernel's bounds of TCP_MAXSEG: net/ipv4/tcp.c, TCP_MIN_MSS and MAX_TCP_WINDOW.
	integer("mss", func(s *Spec) *int { return &s.MSS }, Option{
		Doc: "TCP maximum segment size (TCP_MAXSEG), in bytes", Absent: "as the MTU allows", Protocols: overTCP, Type: "number",
		check: func(s *Spec) string {
			if s.MSS < 88 || s.MSS > 32767 {
				return fmt.Sprintf(" %d: the kernel takes 88 to 32767 bytes", s.MSS)
			}
			return ""
		},
	}),
	boolean("nodelay", func(s *Spec) **bool { return &s.NoDelay }, Option{Doc: "set TCP_NODELAY", Protocols: overTCP}),
	text("congestion_control", func(s *Spec) *string { return &s.CongestionControl }, Option{
		Doc: "TCP_CONGESTION: cubic, reno, bbr, …", Absent: "cubic in studies, otherwise the host's own", Protocols: overTCP, Type: "name",
		check: func(s *Spec) string {
			if s.CongestionControl != "" && !congestionControl().MatchString(s.CongestionControl) {
				return fmt.Sprintf(" %.40q: expected the kernel's name of one, such as cubic, reno or bbr", s.CongestionControl)
			}
			return ""
		},
	}),
	size("window", func(s *Spec) *unit.Bytes { return &s.Window }, Option{
		Doc: "socket buffers at both ends (SO_SNDBUF, SO_RCVBUF), such as 256KiB", Absent: "the kernel's autotuning", Least: minWindow, Type: "size",
	}),
	size("send_buffer", func(s *Spec) *unit.Bytes { return &s.SendBuffer }, Option{
		Doc: "socket buffer of the end that sends (SO_SNDBUF), instead of window", Least: minWindow, Type: "size",
	}),
	size("receive_buffer", func(s *Spec) *unit.Bytes { return &s.ReceiveBuffer }, Option{
		Doc: "socket buffer of the end that receives (SO_RCVBUF), instead of window", Least: minWindow, Type: "size",
	}),
	boolean("bind_no_port", func(s *Spec) **bool { return &s.BindNoPort }, Option{
		Doc:    "with source: false: bind takes a port of that address for this connection alone; true: connect takes one that is free between the two ends (IP_BIND_ADDRESS_NO_PORT)",
		Absent: "true", Wanted: func(s *Spec) bool { return s.BindNoPort != nil },
	}),
	row("dscp", func(s *Spec) **DSCP { return &s.DSCP }, func(text string) (*DSCP, error) {
		d, err := ParseDSCP(text)
		return &d, err
	}, Option{
		Doc:    "differentiated services codepoint of all packets, both ways (IP_TOS, IPV6_TCLASS): 0 to 63, or CS0 to CS7, AF11 to AF43, EF, VA, LE",
		Absent: "0, the kernel's", Type: "class",
	}),
	rate("rate_cap", func(s *Spec) *unit.BitRate { return &s.RateCap }, Option{
		Doc: "pacing of each connection (SO_MAX_PACING_RATE), such as 100mbit", Absent: "as fast as it can", Protocols: bulk, Type: "rate", Imposed: true,
	}),
	text("mode", func(s *Spec) *string { return &s.Mode }, Option{
		Doc:    "how bytes are moved: auto tries what is cheapest, copy does as ordinary programs do; others are write, splice, zerocopy and sendfile, and with measure all: auto, then copy",
		Absent: "plain writes, received without a copy; measure: auto, which takes the first 300ms of the warm-up", Protocols: []string{TCP}, Enum: Modes, Type: "name",
	}),
	size("datagram", func(s *Spec) *unit.Bytes { return &s.Datagram }, Option{
		Doc: "payload of each datagram", Absent: "as large as the MTU allows", Protocols: []string{UDP}, Least: 16, Most: MaxDatagramBytes, Unit: "bytes", Type: "size",
	}),
	rate("write_cap", func(s *Spec) *unit.BitRate { return &s.WriteCap }, Option{
		Doc: "the most that the sending program writes, as one that has little to send", Protocols: []string{TCP}, Type: "rate",
	}),
	rate("read_cap", func(s *Spec) *unit.BitRate { return &s.ReadCap }, Option{
		Doc: "the most that the receiving program reads, as a slow one does", Protocols: []string{TCP}, Type: "rate",
	}),
	size("request", func(s *Spec) *unit.Bytes { return &s.Request }, Option{
		Doc: "size of a request", Absent: "1 byte", Protocols: transactional, Default: 1, Least: 1, Most: maxMessage, Unit: "bytes", Type: "size",
		conflict: func(s *Spec) string { return oneDatagram(s, s.Request) },
	}),
	size("response", func(s *Spec) *unit.Bytes { return &s.Response }, Option{
		Doc: "size of a response", Absent: "1 byte", Protocols: transactional, Default: 1, Least: 1, Most: maxMessage, Unit: "bytes", Type: "size",
		conflict: func(s *Spec) string { return oneDatagram(s, s.Response) },
	}),
	integer("connections", func(s *Spec) *int { return &s.Connections }, Option{
		Doc: "connections of a flow, each with one request at a time", Absent: "1", Protocols: transactional, Default: 1, Least: 1, Most: maxConnections, Type: "number",
	}),
	row("pace", func(s *Spec) *float64 { return &s.Pace }, func(text string) (float64, error) { return strconv.ParseFloat(text, 64) }, Option{
		Doc: "requests a flow begins in a second, on a schedule that waits for nothing", Absent: "the next when one is answered", Protocols: transactional, Type: "number",
		check: func(s *Spec) string {
			if !(s.Pace > 0 && s.Pace <= maxPace) {
				return fmt.Sprintf(" %g: expected more than 0 and at most %.0f requests per second", s.Pace, float64(maxPace))
			}
			return ""
		},
	}),
	boolean("poll", func(s *Spec) **bool { return &s.Poll }, Option{Doc: "true: both ends poll their sockets instead of sleeping", Protocols: transactional}),
	boolean("follow", func(s *Spec) **bool { return &s.Follow }, Option{
		Doc: "true: each end's thread sleeps on the CPU at which its packets come in, so that no other has to be woken; for one connection", Protocols: transactional,
		conflict: func(s *Spec) string {
			if On(s.Follow) && (s.Connections > 1 || On(s.Poll)) {
				return fmt.Sprintf(": a thread follows the packets of one connection, and does not poll; this flow has %s, poll: %t", unit.Plural(s.Connections, "connection"), On(s.Poll))
			}
			return ""
		},
	}),
	integer("threads", func(s *Spec) *int { return &s.Threads }, Option{
		Doc: "threads at each end", Absent: "1", Protocols: transactional, Default: 1, Least: 1, Most: 256, Type: "number",
		conflict: func(s *Spec) string {
			if s.Threads > s.Connections && !Of(s.Protocol).Bulk() {
				return fmt.Sprintf(" %d: a flow with %s has nothing for more than %d to do: say connections, too", s.Threads, unit.Plural(s.Connections, "connection"), s.Connections)
			}
			return ""
		},
	}),
	text("source_ports", func(s *Spec) *string { return &s.SourcePorts }, Option{
		Doc:    "ports to open connections from. kernel: as connect(2) chooses; drawn: free ones, by chance, so that the path of each flow can be predicted; even: free ones of which the kernels on the path say that the flows spread evenly over equal paths",
		Absent: "kernel", Protocols: bulk, Enum: []string{PortsKernel, PortsDrawn, PortsEven}, Neutral: PortsKernel,
	}),
	text("tool", func(s *Spec) *string { return &s.Tool }, Option{
		Doc:    "the program that makes the flow's traffic, one process for each flow and direction",
		Absent: "linerate", Enum: []string{"linerate", "iperf3", "iperf", "netperf", "nuttcp", "sockperf", "qperf"}, Planned: true,
		merge: func(s, base *Spec) {
			if s.ToolArgs == nil && (s.Tool == "" || base.Tool == "" || s.Tool == base.Tool) {
				s.ToolArgs = base.ToolArgs // one tool's words mean nothing to another
			}
			if s.Tool == "" {
				s.Tool = base.Tool
			}
		},
	}),
	toolArgs,
}

// toolArgs are merged with tool: the words are for one program.
var toolArgs = &Option{
	Key: "tool_args", Doc: "further words for the tool's client", Planned: true,
	value:  func(s *Spec) any { return nil },
	merge:  func(*Spec, *Spec) {},
	clear:  func(s *Spec) { s.ToolArgs = nil },
	isSet:  func(s *Spec) bool { return s.ToolArgs != nil },
	Wanted: func(s *Spec) bool { return s.ToolArgs != nil },
}

const (
	// maxStreams is below the ports that a host opens connections from
	// (net.ipv4.ip_local_port_range).
	maxStreams     = 20_000
	minWindow      = 4096
	maxMessage     = 16 << 20
	maxConnections = 64_000 // ports between two addresses
	maxPace        = 10_000_000
)

func protocolDocs() string {
	var docs []string
	for _, p := range Protocols {
		docs = append(docs, p.Name+": "+p.Doc)
	}
	return strings.Join(docs, "; ")
}

func oneDatagram(s *Spec, bytes unit.Bytes) string {
	if s.Protocol == UDPRR && bytes > MaxDatagramBytes {
		return fmt.Sprintf(" %s: of %s each is one datagram, which carries at most %d bytes", bytes, s.Protocol, MaxDatagramBytes)
	}
	return ""
}
