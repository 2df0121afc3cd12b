package flow

import (
	"time"

	"linerate/internal/model/source"
	"linerate/internal/model/unit"
)

// Spec has the options of a flow. A zero value selects the default of the kernel or of linerate;
// Options documents each field.
type Spec struct {
	Protocol          string        `yaml:"protocol" json:"protocol,omitempty"`
	Direction         string        `yaml:"direction" json:"direction,omitempty"`
	Streams           int           `yaml:"streams" json:"streams,omitempty"`
	Copies            int           `yaml:"copies" json:"copies,omitempty"`
	Destinations      string        `yaml:"destinations" json:"destinations,omitempty"`
	MSS               int           `yaml:"mss" json:"mss,omitempty"`
	NoDelay           *bool         `yaml:"nodelay" json:"nodelay,omitempty"`
	CongestionControl string        `yaml:"congestion_control" json:"congestion_control,omitempty"`
	Window            unit.Bytes    `yaml:"window" json:"window,omitempty"`
	SendBuffer        unit.Bytes    `yaml:"send_buffer" json:"send_buffer,omitempty"`
	ReceiveBuffer     unit.Bytes    `yaml:"receive_buffer" json:"receive_buffer,omitempty"`
	BindNoPort        *bool         `yaml:"bind_no_port" json:"bind_no_port,omitempty"`
	DSCP              *DSCP         `yaml:"dscp" json:"dscp,omitempty"`
	RateCap           unit.BitRate  `yaml:"rate_cap" json:"rate_cap,omitempty"`
	Mode              string        `yaml:"mode" json:"mode,omitempty"`
	Datagram          unit.Bytes    `yaml:"datagram" json:"datagram,omitempty"`
	WriteCap          unit.BitRate  `yaml:"write_cap" json:"write_cap,omitempty"`
	ReadCap           unit.BitRate  `yaml:"read_cap" json:"read_cap,omitempty"`
	Request           unit.Bytes    `yaml:"request" json:"request,omitempty"`
	Response          unit.Bytes    `yaml:"response" json:"response,omitempty"`
	Connections       int           `yaml:"connections" json:"connections,omitempty"`
	Pace              float64       `yaml:"pace" json:"pace_per_s,omitempty"`
	Poll              *bool         `yaml:"poll" json:"poll,omitempty"`
	Follow            *bool         `yaml:"follow" json:"follow,omitempty"`
	Threads           int           `yaml:"threads" json:"threads,omitempty"`
	SourcePorts       string        `yaml:"source_ports" json:"source_ports,omitempty"`
	Tool              Tool          `yaml:"tool" json:"tool,omitzero"`
	ToolArgs          []string      `yaml:"tool_args" json:"tool_args,omitempty"`
	Arrivals          string        `yaml:"arrivals" json:"arrivals,omitempty"`
	Pipeline          int           `yaml:"pipeline" json:"pipeline,omitempty"`
	PerConnection     int           `yaml:"per_connection" json:"per_connection,omitempty"`
	TLS               string        `yaml:"tls" json:"tls,omitempty"`
	Insecure          *bool         `yaml:"insecure" json:"insecure,omitempty"`
	Think             unit.Duration `yaml:"think,zero" json:"think,omitempty"`
	Timeout           unit.Duration `yaml:"timeout" json:"timeout,omitempty"`
	Names             []string      `yaml:"names" json:"names,omitempty"`
	Query             string        `yaml:"query" json:"query,omitempty"`
	Path              string        `yaml:"path" json:"path,omitempty"`
	Service           string        `yaml:"service" json:"service,omitempty"`
	Frame             string        `yaml:"frame" json:"frame,omitempty"`
	Tuples            int           `yaml:"tuples" json:"tuples,omitempty"`
	// Zeros has the keys that the file gives the value zero. They replace what a flow would inherit.
	Zeros source.Zeros `yaml:"-" json:"-"`
}

// MaxLate is the delay after which a sender of paced datagrams skips those that it should have
// sent, instead of sending them in a burst.
const MaxLate = 10 * time.Millisecond

// OwnService is the Service of a flow whose server is linerate's own. It is also the default.
const OwnService = "linerate"

// Served reports whether the other end of the flow is a service of the host.
func (o Spec) Served() bool { return o.Service != "" && o.Service != OwnService }

// AllDestinations distributes the copies of a flow over all addresses of the destination host.
const AllDestinations = "all"

// Cap returns the maximum rate of one connection by its own options: the lowest of its caps. 0:
// none.
func (o Spec) Cap() unit.BitRate { return unit.LeastSet(o.Pacing(false), o.WriteCap, o.ReadCap) }

// Pacing returns the rate at which the sender sends payload: the rate cap or, for a flow of
// datagrams, the rate that follows from Pace if that is lower. 0: as fast as possible.
func (o Spec) Pacing(ipv6 bool) unit.BitRate {
	if o.Protocol != UDP {
		return o.RateCap
	}
	return unit.LeastSet(o.RateCap, unit.BitRate(o.Pace*8*float64(o.DatagramBytes(ipv6))))
}

// Values of the option source_ports.
const (
	PortsKernel = "kernel" // connect(2) chooses
	PortsDrawn  = "drawn"  // free ones, drawn at random
	PortsEven   = "even"   // free ones that spread the flows evenly over equal-cost paths
)

// Directions of a flow, seen from the host that opens the connections.
const (
	Write = "write" // the host in From sends
	Read  = "read"  // the host in To sends
	Both  = "both"  // one connection in each direction
)
