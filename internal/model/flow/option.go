package flow

import (
	"cmp"
	"encoding"
	"errors"
	"fmt"
	"reflect"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"sync"

	"linerate/internal/model/source"
	"linerate/internal/model/unit"
)

// Option describes one field of a Spec: study files, the JSON Schema,
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
	// Names are values that a value which may also be a mapping can be instead.
	Names []string
	// Least and Most bound a number that is given; both 0: any.
	Least, Most float64
	// Unit of the bounds, for messages.
	Unit string
	// Default is what a flow of one of Protocols has without the option; 0: nothing.
	// Those of applications have what Absent says instead if OwnDefaults.
	Default     int
	OwnDefaults bool
	// Neutral is a value that flows of every protocol accept, where it changes nothing.
	Neutral string
	// Type is the placeholder of the value of --key; empty: `measure` has no such flag.
	Type string
	// Planned options are carried out by the plan, whichever program makes the flow.
	Planned bool
	// Imposed options are limits that a server sets on flows of any protocol.
	Imposed bool

	// check returns what is wrong with a value that is given, and conflict what is
	// wrong with it beside the other options of a fitted Spec; both begin with what
	// follows the key.
	check, conflict func(s *Spec) string
	// merge sets what s inherits from base; nil: the value that s lacks.
	merge func(s, base *Spec)

	otherwise string // what a flow of any other protocol has
	field     int    // of Spec
}

// in is the option's field of s.
func (o *Option) in(s *Spec) reflect.Value { return reflect.ValueOf(s).Elem().Field(o.field) }

// Parse sets the option in s from a flag's text.
func (o *Option) Parse(s *Spec, text string) (err error) {
	switch v := o.in(s).Addr().Interface().(type) {
	case *string:
		*v = text
	case *int:
		if *v, err = strconv.Atoi(text); err != nil {
			err = fmt.Errorf("%.40q: expected a whole number", text)
		}
	case *float64:
		if *v, err = strconv.ParseFloat(text, 64); err != nil {
			err = fmt.Errorf("%.40q: expected a number", text)
		}
	case **bool:
		*v = new(bool)
		if **v, err = strconv.ParseBool(text); err != nil {
			err = fmt.Errorf("%.40q: expected true or false", text)
		}
	case **DSCP:
		*v = new(DSCP)
		err = (*v).UnmarshalText([]byte(text))
	case *Tool:
		v.Name = text
	case *[]string:
		*v = strings.Split(text, ",")
	case encoding.TextUnmarshaler:
		err = v.UnmarshalText([]byte(text))
	default:
		err = fmt.Errorf("%s is not given as text", o.Key)
	}
	return err
}

// Wanted reports whether s asks for something that a flow without the option does not
// have.
func (o *Option) Wanted(s *Spec) bool {
	v := o.in(s)
	if v.IsZero() || o.IsNeutral(s) {
		return false
	}
	if b, isBool := v.Interface().(*bool); isBool {
		return *b || o.Absent != ""
	}
	n, isNumber := number(v)
	return !isNumber || n != float64(o.Default)
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

// Text is the option's value in s, as a study file has it.
func (o *Option) Text(s *Spec) string {
	v := o.in(s)
	if v.Kind() == reflect.Pointer && !v.IsNil() {
		v = v.Elem()
	}
	return fmt.Sprint(v.Interface())
}

// Plain is the option's value in s as a number without a unit, in bytes or bit/s, where it
// is one; otherwise Text.
func (o *Option) Plain(s *Spec) string {
	if n, is := number(o.in(s)); is {
		return strconv.FormatFloat(n, 'f', -1, 64)
	}
	return o.Text(s)
}

// IsNeutral reports whether the value in s means something to every protocol.
func (o *Option) IsNeutral(s *Spec) bool { return o.Neutral != "" && o.in(s).String() == o.Neutral }

// Check returns what is wrong with the value in s, which was given; empty: nothing.
// The text follows the option's name.
func (o *Option) Check(s *Spec) string {
	v := o.in(s)
	if o.Enum != nil && !slices.Contains(o.Enum, v.String()) {
		return fmt.Sprintf(" %.40q: expected %s", v.String(), source.Or(o.Enum))
	}
	if n, isNumber := number(v); isNumber && (o.Least != 0 && !(n >= o.Least) || o.Most != 0 && !(n <= o.Most)) {
		if o.Most == 0 {
			return fmt.Sprintf(" %v: expected at least %v", v, unit.Bytes(o.Least))
		}
		return strings.TrimRight(fmt.Sprintf(" %v: expected %.0f to %.0f %s", v, o.Least, o.Most, o.Unit), " ")
	}
	if rate, isRate := v.Interface().(unit.BitRate); isRate && !(rate > 0) {
		return fmt.Sprintf(" %v: expected a positive rate", rate)
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
		if o.in(&s).IsZero() {
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
		if o.merge != nil {
			o.merge(&over, &s)
		} else if v := o.in(&over); v.IsZero() {
			v.Set(o.in(&s))
		}
	}
	return over
}

// Paced is how many connections of the flow rate_cap paces, each by itself.
func (s Spec) Paced() int {
	if Of(s.Protocol).Transactional() {
		return max(1, s.Connections)
	}
	return 1
}

// Fitted returns the options that mean something to their protocol, with its
// defaults: a workload's are for flows of several.
func (s Spec) Fitted() Spec {
	for _, o := range Options {
		if v := o.in(&s); !o.For(s.Protocol) {
			v.SetZero()
			if o.otherwise != "" {
				v.SetString(o.otherwise)
			}
		} else if o.Default != 0 && o.Protocols != nil && v.IsZero() && !(o.OwnDefaults && Of(s.Protocol).Application) {
			v.SetInt(int64(o.Default))
		}
	}
	return s
}

// Describe returns the documentation and the accepted values of a key, for the reader of
// study files.
func (Spec) Describe(key string) (doc string, enum []string) {
	if o := Find(key); o != nil {
		return o.Help(), append(slices.Clone(o.Enum), o.Names...)
	}
	return "", nil
}

func number(v reflect.Value) (float64, bool) {
	switch {
	case v.CanInt():
		return float64(v.Int()), true
	case v.CanFloat():
		return v.Float(), true
	}
	return 0, false
}

// On reports whether an option of three states is true.
func On(b *bool) bool { return b != nil && *b }

var (
	every         = Names(func(Protocol) bool { return true })
	bulk          = Names(Protocol.Bulk)
	transactional = Names(Protocol.Transactional)
	paced         = append(Names(Protocol.Transactional), UDP)
	overTCP       = Names(func(p Protocol) bool { return p.Transport == TCP })

	congestionControl = sync.OnceValue(func() *regexp.Regexp { return regexp.MustCompile(`^[a-z0-9_-]{1,15}$`) })
)

// Options is every option, in the order of the reference.
var Options = fieldsOf(slices.Concat([]*Option{
	{
		Key: "protocol", Doc: protocolDocs(),
		Enum: every, Type: "name", Absent: "tcp", Planned: true,
	},
	{
		Key: "direction", Doc: "write: the end that connects sends; read: the other end sends; both",
		Protocols: bulk, Enum: []string{Write, Read, Both}, Neutral: Write, otherwise: Write, Type: "name",
		Absent: "write", Planned: true,
	},
	{
		Key: "streams",
		Doc: "connections of a flow per direction; measure: flows", Absent: "1; of measure: one for each address",
		Default: 1, Least: 1, Most: maxStreams, Type: "number",
	},
	{
		Key: "copies",
		Doc: "number of copies of the flow; with a tool, each is a process", Absent: "1", Default: 1, Least: 1,
		Most: maxStreams, Planned: true,
	},
	{
		Key:    "destinations",
		Doc:    "first: all copies go to the flow's destination; all: to each address of that host in turn, which takes copies of 2 or more in some treatment",
		Absent: "first", Enum: []string{"first", AllDestinations}, Planned: true,
	},
	// The kernel's bounds of TCP_MAXSEG: net/ipv4/tcp.c, TCP_MIN_MSS and MAX_TCP_WINDOW.
	{
		Key: "mss", Doc: "TCP maximum segment size (TCP_MAXSEG), in bytes", Absent: "as the MTU allows",
		Protocols: overTCP, Least: 88, Most: 32767, Unit: "bytes", Type: "number",
	},
	{Key: "nodelay", Doc: "set TCP_NODELAY", Protocols: overTCP, Type: "bool"},
	{
		Key: "congestion_control", Doc: "TCP_CONGESTION: cubic, reno, bbr, …",
		Absent: "cubic in studies, otherwise the host's own", Protocols: overTCP, Type: "name",
		check: func(s *Spec) string {
			if s.CongestionControl != "" && !congestionControl().MatchString(s.CongestionControl) {
				return fmt.Sprintf(" %.40q: expected the kernel's name of one, such as cubic, reno or bbr",
					s.CongestionControl)
			}
			return ""
		},
	},
	{
		Key: "window", Doc: "socket buffers at both ends (SO_SNDBUF, SO_RCVBUF), such as 256KiB",
		Absent: "the kernel's autotuning", Least: minWindow, Type: "size",
	},
	{
		Key: "send_buffer", Doc: "socket buffer of the end that sends (SO_SNDBUF), instead of window", Least: minWindow,
		Type: "size",
	},
	{
		Key: "receive_buffer", Doc: "socket buffer of the end that receives (SO_RCVBUF), instead of window",
		Least: minWindow, Type: "size",
	},
	{
		Key: "bind_no_port", Type: "bool",
		Doc:    "with source: true: connect(2) chooses a port that is free for this pair of addresses (IP_BIND_ADDRESS_NO_PORT); false: bind(2) reserves a port of the source address, whatever the destination",
		Absent: "true",
	},
	{
		Key:    "dscp",
		Doc:    "differentiated services codepoint of all packets, both ways (IP_TOS, IPV6_TCLASS): 0 to 63, or CS0 to CS7, AF11 to AF43, EF, VA, LE",
		Absent: "0, the kernel's", Type: "class",
	},
	{
		Key: "rate_cap", Doc: "pacing of each connection (SO_MAX_PACING_RATE), such as 100mbit",
		Absent: "as fast as it can", Protocols: bulk, Type: "rate", Imposed: true,
	},
	{
		Key:       "mode",
		Doc:       "how bytes are moved: auto tries several ways and keeps the cheapest; copy writes and reads as ordinary programs do; write, splice, zerocopy and sendfile select one way; measure also has all: auto, then copy",
		Absent:    "plain writes, received without a copy; measure: auto, which takes the first 300ms of the warm-up",
		Protocols: []string{TCP}, Enum: Modes, Type: "name",
	},
	{
		Key: "datagram",
		Doc: "payload of each datagram", Absent: "as large as the MTU allows", Protocols: []string{UDP}, Least: 16,
		Most: MaxDatagramBytes, Unit: "bytes", Type: "size",
	},
	{
		Key: "write_cap", Doc: "rate at which the sending program writes at most, like a program with little to send",
		Protocols: []string{TCP}, Type: "rate",
	},
	{
		Key: "read_cap", Doc: "rate at which the receiving program reads at most, like a slow program",
		Protocols: []string{TCP}, Type: "rate",
	},
	{
		Key: "request", Doc: "size of a request; http, h2, h3: of its body; smtp: of a mail",
		Absent: "1 byte; http, h2, h3: none (GET); smtp: 1000 bytes", Protocols: bodies, Default: 1, OwnDefaults: true,
		Least: 1, Most: maxMessage, Unit: "bytes", Type: "size",
		conflict: func(s *Spec) string { return oneDatagram(s, s.Request) },
	},
	{
		Key: "response", Doc: "size of a response; http, h2, h3: of its body",
		Absent: "1 byte; http, h2, h3: 1000 bytes", Protocols: answers, Default: 1, OwnDefaults: true, Least: 1,
		Most: maxMessage, Unit: "bytes", Type: "size",
		conflict: func(s *Spec) string { return oneDatagram(s, s.Response) },
	},
	{
		Key: "connections",
		Doc: "connections of a flow, each with one request at a time", Absent: "1", Protocols: transactional,
		Default: 1, Least: 1, Most: maxConnections, Type: "number",
	},
	{
		Key:    "pace",
		Doc:    "requests per second of a flow, on a fixed schedule that does not wait for responses; udp: datagrams per second",
		Absent: "each request follows the response before it; udp: as fast as it can", Protocols: paced, Type: "number",
		check: func(s *Spec) string {
			if !(s.Pace > 0 && s.Pace <= MaxPace) {
				return fmt.Sprintf(" %g: expected more than 0 and at most %.0f per second", s.Pace, float64(MaxPace))
			}
			return ""
		},
		conflict: func(s *Spec) string {
			if s.Pace != 0 && s.Protocol == UDP && s.DatagramBytes(false) == 0 {
				return fmt.Sprintf(" %g: of udp flows it needs datagram or frame, by which it is a rate", s.Pace)
			}
			return ""
		},
	},
	{Key: "poll", Doc: "true: both ends poll their sockets instead of sleeping", Protocols: requests, Type: "bool"},
	{
		Key: "follow", Type: "bool",
		Doc: "true: each end's thread sleeps on the CPU that receives its packets, so that no other CPU has to be woken; only with one connection", Protocols: requests,
		conflict: func(s *Spec) string {
			if On(s.Follow) && (s.Connections > 1 || On(s.Poll)) {
				return fmt.Sprintf(
					": a thread follows the packets of one connection, and does not poll; this flow has %s, poll: %t",
					unit.Plural(s.Connections, "connection"), On(s.Poll))
			}
			return ""
		},
	},
	{
		Key: "threads", Doc: "threads at each end", Absent: "1", Protocols: requests, Default: 1, Least: 1, Most: 256,
		Type: "number",
		conflict: func(s *Spec) string {
			if s.Threads > s.Connections && !Of(s.Protocol).Bulk() {
				return fmt.Sprintf(" %d: a flow with %s has nothing for more than %d to do: say connections, too",
					s.Threads, unit.Plural(s.Connections, "connection"), s.Connections)
			}
			return ""
		},
	},
	{
		Key:    "source_ports",
		Doc:    "source ports of connections. kernel: chosen by connect(2); drawn: free ones drawn at random before connecting, so that each flow's path can be predicted; even: free ones that spread the flows evenly over the equal-cost paths, by the route lookups of the kernels on the path",
		Absent: "kernel", Protocols: bulk, Enum: []string{PortsKernel, PortsDrawn, PortsEven}, Neutral: PortsKernel,
	},
	{
		Key:    "tool",
		Doc:    "the program that makes the flow's traffic, one process for each flow and direction: a name, or {client: […], server: […], figure: …, unit: …}",
		Absent: OwnTool, Names: Tools, Planned: true,
		check: func(s *Spec) string { return s.Tool.check() },
		merge: func(s, base *Spec) {
			if s.ToolArgs == nil && (s.Tool.Name == "" || base.Tool.Name == "" || s.Tool.Name == base.Tool.Name) &&
				!s.Tool.Described() {
				s.ToolArgs = base.ToolArgs // one tool's words mean nothing to another
			}
			if reflect.ValueOf(s.Tool).IsZero() {
				s.Tool = base.Tool
			}
		},
	},
	{
		Key: "tool_args", Doc: "further arguments of the tool's client", Planned: true,
		merge: func(s, base *Spec) {}, // with tool
	},
}, applicationOptions, dnsOptions, httpOptions, serviceOption, frameOptions))

// fieldsOf sets the field of each row, which has its key.
func fieldsOf(rows []*Option) []*Option {
	spec := reflect.TypeFor[Spec]()
	for _, o := range rows {
		for o.field = 0; spec.Field(o.field).Tag.Get("yaml") != o.Key; {
			o.field++
		}
	}
	return rows
}

const (
	// maxStreams is below the ports that a host opens connections from
	// (net.ipv4.ip_local_port_range).
	maxStreams     = 20_000
	minWindow      = 4096
	maxMessage     = 16 << 20
	maxConnections = 1_000_000 // several for each port that a pair of addresses has

	// MaxPace bounds a flow's Pace.
	MaxPace = 10_000_000
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
		return fmt.Sprintf(" %s: of %s each is one datagram, which carries at most %d bytes", bytes, s.Protocol,
			MaxDatagramBytes)
	}
	return ""
}
