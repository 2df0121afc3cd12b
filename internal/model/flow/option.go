package flow

import (
	"cmp"
	"encoding"
	"errors"
	"fmt"
	"reflect"
	"slices"
	"strconv"
	"strings"

	"linerate/internal/model/lists"
	"linerate/internal/model/pattern"
	"linerate/internal/model/source"
	"linerate/internal/model/unit"
)

// Option describes a field of Spec. Study files, the JSON Schema, `measure`, --help, the reference
// in docs and the checks of foreign tools are derived from it. A new option is a field of Spec and
// a row of Options.
type Option struct {
	Key string
	Doc string
	// Absent describes what happens without the option. Empty: nothing is set.
	Absent string
	// Protocols are those that the option applies to. Nil: all.
	Protocols []string
	Enum      []string
	// Names are the accepted names if the value may be a name or a mapping.
	Names []string
	// Least and Most are the bounds of a number. If both are 0, every number is accepted.
	Least, Most float64
	// Unit is the unit of the bounds in messages.
	Unit string
	// Default is the value that flows of Protocols get without the option. 0: none. With
	// OwnDefaults, application protocols have other defaults, which Absent describes.
	Default     int
	OwnDefaults bool
	// Neutral is a value that flows of every protocol accept and that has no effect. Empty: the
	// option has no such value.
	Neutral string
	// Type is the placeholder of the value of the flag in help texts. Empty: `measure` has no such
	// flag.
	Type string
	// Planned reports whether the option is applied when trials are planned, regardless of the
	// program that sends the traffic.
	Planned bool
	// Imposed reports whether the option is a limit that a server can set on flows of any protocol.
	Imposed bool

	// check returns what is wrong with a given value. conflict returns what is wrong with it in
	// combination with the other options of a fitted Spec. Both texts follow the key in a message.
	check, conflict func(s *Spec) string
	// merge sets what s inherits from base. Nil: s inherits the value if its own is zero.
	merge func(s, base *Spec)

	otherwise string // value for flows of protocols that the option does not apply to
	field     int    // index of the field in Spec
}

// in returns the option's field in s.
func (o *Option) in(s *Spec) reflect.Value { return reflect.ValueOf(s).Elem().Field(o.field) }

// Parse sets the option in s from the text of a flag.
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

// Wanted reports whether s requests something that differs from a flow without the option.
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

// Flag returns the name of the option's flag of `measure`, without dashes.
func (o *Option) Flag() string { return strings.ReplaceAll(o.Key, "_", "-") }

// Help returns Doc with the protocols and the default.
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

// For reports whether the option applies to a protocol. The empty protocol is tcp.
func (o *Option) For(protocol string) bool {
	return o.Protocols == nil || slices.Contains(o.Protocols, Of(protocol).Name)
}

// Text returns the option's value in s in the spelling of study files.
func (o *Option) Text(s *Spec) string {
	v := o.in(s)
	if v.Kind() == reflect.Pointer && !v.IsNil() {
		v = v.Elem()
	}
	return fmt.Sprint(v.Interface())
}

// Plain returns a numeric value as a number without a unit, in bytes or bit/s. For other values it
// returns Text.
func (o *Option) Plain(s *Spec) string {
	if n, is := number(o.in(s)); is {
		return strconv.FormatFloat(n, 'f', -1, 64)
	}
	return o.Text(s)
}

// IsNeutral reports whether the value in s is Neutral.
func (o *Option) IsNeutral(s *Spec) bool { return o.Neutral != "" && o.in(s).String() == o.Neutral }

// Check returns what is wrong with the given value in s, as a text that follows the option's name.
// Empty: nothing.
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

// Conflict returns what is wrong with the option in combination with the other options of s, as a
// text that follows the option's name. Empty: nothing is wrong. s is a Spec from Fitted.
func (o *Option) Conflict(s *Spec) string {
	if o.conflict == nil {
		return ""
	}
	return o.conflict(s)
}

// Check returns an error for values out of bounds, options that do not apply to the protocol, and
// options that contradict each other.
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

// Find returns the option with the given key. Nil: there is none.
func Find(key string) *Option {
	i := slices.IndexFunc(Options, func(o *Option) bool { return o.Key == key })
	if i < 0 {
		return nil
	}
	return Options[i]
}

// With returns s with the options that over sets replaced by their values in over.
func (s Spec) With(over Spec) Spec {
	for _, o := range Options {
		if o.merge != nil {
			o.merge(&over, &s)
		} else if v := o.in(&over); v.IsZero() && !over.Zeros.Has(o.Key) {
			v.Set(o.in(&s))
		}
	}
	return over
}

// Paced returns the number of connections that rate_cap paces independently.
func (s Spec) Paced() int {
	if Of(s.Protocol).Transactional() {
		return max(1, s.Connections)
	}
	return 1
}

// Fitted returns the options that apply to the protocol, with its defaults. The options of a
// workload may be for flows of several protocols.
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

// Describe returns the documentation and the accepted values of a key of a study file.
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

// On reports whether an optional bool is set and true.
func On(b *bool) bool { return b != nil && *b }

var (
	every         = Names(func(Protocol) bool { return true })
	bulk          = Names(Protocol.Bulk)
	transactional = Names(Protocol.Transactional)
	paced         = append(Names(Protocol.Transactional), UDP)
	overTCP       = Names(func(p Protocol) bool { return p.Transport == TCP })

	congestionControl = pattern.MustCompile(`^[a-z0-9_-]{1,15}$`)
)

// Options lists every option in the order of the reference.
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
		Key: "destinations",
		Doc: "first: all copies go to the flow's destination; all: to each address of that host in turn, which " +
			"takes copies of 2 or more in some treatment",
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
			if s.CongestionControl != "" && !congestionControl.MatchString(s.CongestionControl) {
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
		Doc: "with source: true: connect(2) chooses a port that is free for this pair of addresses " +
			"(IP_BIND_ADDRESS_NO_PORT); false: bind(2) reserves a port of the source address, whatever the destination",
		Absent: "true",
	},
	{
		Key: "dscp",
		Doc: "differentiated services codepoint of all packets, both ways (IP_TOS, IPV6_TCLASS): 0 to 63, or " +
			"CS0 to CS7, AF11 to AF43, EF, VA, LE",
		Absent: "0, the kernel's", Type: "class",
	},
	{
		Key: "rate_cap", Doc: "pacing of each connection (SO_MAX_PACING_RATE), such as 100mbit",
		Absent: "as fast as it can", Protocols: bulk, Type: "rate", Imposed: true,
	},
	{
		Key: "mode",
		Doc: "how bytes are moved: auto tries several ways and keeps the cheapest; copy writes and reads as " +
			"ordinary programs do; write, splice, zerocopy and sendfile select one way; measure also has all: " +
			"auto, then copy",
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
		Key: "response", Doc: "size of a response; http, h2, h3: of its body; redis, memcached: of a value",
		Absent: "1 byte; http, h2, h3, redis, memcached: 1000 bytes", Protocols: answers, Default: 1, OwnDefaults: true,
		Least: 1, Most: maxMessage, Unit: "bytes", Type: "size",
		conflict: func(s *Spec) string { return oneDatagram(s, s.Response) },
	},
	{
		Key: "connections",
		Doc: "connections of a flow, each with one request at a time", Absent: "1", Protocols: transactional,
		Default: 1, Least: 1, Most: maxConnections, Type: "number",
	},
	{
		Key: "pace",
		Doc: "requests per second of a flow, on a fixed schedule that does not wait for responses; udp: " +
			"datagrams per second",
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
	{
		Key: "poll", Protocols: threaded, Type: "bool",
		Doc: "true: threads poll their sockets instead of sleeping, of applications those of the client; false: " +
			"they sleep at once",
		Absent: "they sleep; of measure, one request at a time spins before that where it is faster",
	},
	{
		Key: "follow", Type: "bool",
		Doc: "true: each end's thread sleeps on the CPU that receives its packets, so that no other CPU has to be " +
			"woken; only with one connection", Protocols: requests,
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
		Key: "threads", Doc: "threads at each end; of applications: of the client", Absent: "1",
		Protocols: threaded, Default: 1, Least: 1, Most: 256, Type: "number", conflict: threadsConflict,
	},
	{
		Key: "source_ports",
		Doc: "source ports of connections. kernel: chosen by connect(2); drawn: free ones drawn at random " +
			"before connecting, so that each flow's path can be predicted; even: free ones that spread the flows " +
			"evenly over the equal-cost paths, by the route lookups of the kernels on the path",
		Absent: "kernel", Protocols: bulk, Enum: []string{PortsKernel, PortsDrawn, PortsEven}, Neutral: PortsKernel,
	},
	{
		Key: "tool",
		Doc: "the program that makes the flow's traffic, one process for each flow and direction: a name, or " +
			"{client: […], server: […], figure: …, unit: …}",
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

// fieldsOf sets field of each row to the field of Spec that has its key.
func fieldsOf(rows []*Option) []*Option {
	spec := reflect.TypeFor[Spec]()
	for _, o := range rows {
		for o.field = 0; ; o.field++ {
			if key, _, _ := strings.Cut(spec.Field(o.field).Tag.Get("yaml"), ","); key == o.Key {
				break
			}
		}
	}
	return rows
}

const (
	// maxStreams is smaller than the number of ports from which a host opens connections
	// (net.ipv4.ip_local_port_range).
	maxStreams     = 20_000
	minWindow      = 4096
	maxMessage     = 16 << 20
	maxConnections = 1_000_000 // more than one for each port of a pair of addresses

	// MaxPace is the maximum of Spec.Pace.
	MaxPace = 10_000_000
)

func protocolDocs() string {
	docs := lists.Map(Protocols, func(p Protocol) string { return p.Name + ": " + p.Doc })
	return strings.Join(docs, "; ")
}

func oneDatagram(s *Spec, bytes unit.Bytes) string {
	if s.Protocol == UDPRR && bytes > MaxDatagramBytes {
		return fmt.Sprintf(" %s: of %s each is one datagram, which carries at most %d bytes", bytes, s.Protocol,
			MaxDatagramBytes)
	}
	return ""
}
