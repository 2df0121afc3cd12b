// Package tool knows other people's load generators: which package has them,
// which of a flow's options they have and how they spell them, and how to read
// the figures they print; or it has that from a study's description of a program.
// It starts nothing; internal/host/foreign does, on the words that are put together here.
//
// References: the manual pages iperf3(1), iperf(1), nuttcp(8), netperf(1),
// qperf(1) and sockperf(1).
package tool

import (
	"fmt"
	"net/netip"
	"slices"
	"strconv"
	"strings"

	"linerate/internal/model/flow"
	"linerate/internal/model/source"
	"linerate/internal/model/unit"
)

// A Tool is one program, or a pair of them.
type Tool struct {
	Name string
	// Package is Debian's; Client and Server are the programs in it.
	// Without a server something else listens, or linerate serves the flow's application.
	Package, Client, Server string
	// Protocols that it makes flows of, of flow.Protocols.
	Protocols []string
	// Options are the keys of a flow's options that it can do something with,
	// besides protocol and direction: those of its words.
	Options []string
	// Port is what its client connects to; 0: one that is free.
	Port uint16
	// All: all connections of a client count as its flow's, however many it opens.
	// Otherwise each stream is one connection of its.
	All bool
	// NoSource: its client has no option for the source address.
	NoSource bool
	// WriteOnly: its client always sends.
	WriteOnly bool
	// Forks: its server starts a process for each client.
	Forks bool
	// Described: by a study, so that what its programs start is not known.
	Described bool
	// Waits: a client that sends stops its clock when what it has written has
	// arrived, not with its last write.
	Waits bool
	// TwoPorts: it talks on one port and sends data on the next one.
	TwoPorts bool
	// Decided are the flags that linerate gives, or that would change what is
	// measured, by what decides them.
	Decided map[string]string
	// Args are the options of its client that tool_args may have.
	Args []Arg

	// server and client are the words behind the program.
	server, client []group
	// input are lines for the client's standard input; nil: it has none.
	input func(Job) []string
	// parse reads what the client and the server have printed; nil: there is no figure.
	parse func(client, server string) (Report, error)
	// control reports, for tools that use one port for both, whether a connection
	// carries no data, by the bytes that its opener and its acceptor have sent.
	control func(opener, acceptor uint64) bool
	// leastMessage is the smallest request in bytes; 0: one.
	leastMessage unit.Bytes
}

// Job is what one client does with its server: the options of its flows, of which
// Streams is how many there are.
type Job struct {
	flow.Spec
	// Reads: the server sends.
	Reads       bool
	Source      netip.Addr // invalid: the kernel's choice
	Destination netip.AddrPort
	Seconds     float64
}

// Report is what a tool says of itself. A figure that it does not print is zero.
type Report struct {
	// SenderBps and ReceiverBps are as counted at that end, by whichever printed it;
	// Bytes with them. Seconds is the time that the tool says it took.
	SenderBps     float64 `json:"sender_bps,omitempty"`
	ReceiverBps   float64 `json:"receiver_bps,omitempty"`
	SenderBytes   int64   `json:"sender_bytes,omitempty"`
	ReceiverBytes int64   `json:"receiver_bytes,omitempty"`
	Seconds       float64 `json:"seconds,omitempty"`
	// TransactionsPerS and LatencyUs are of request and response.
	TransactionsPerS float64 `json:"transactions_per_s,omitempty"`
	LatencyUs        float64 `json:"latency_us,omitempty"`
	// FromServer says that the receiver's figure was read off the server's own
	// output: who looks at the client does not see it.
	FromServer bool `json:"from_server,omitempty"`

	clientBps float64 // as counted at the client's end, whichever that is
}

// All is every tool that is known by its name, in the order in which they are listed to
// people.
var All = withOptions(&iperf3, &iperf, &netperf, &nuttcp, &sockperf, &qperf, &wrk, &ab, &h2load, &dnsperf, &smtpSource)

// Find is the tool that a flow names or describes. False: linerate's own traffic, or no
// tool.
func Find(which flow.Tool) (*Tool, bool) {
	if which.Described() {
		return describe(which), true
	}
	i := slices.IndexFunc(All, func(t *Tool) bool { return t.Name == which.Name })
	if i < 0 {
		return nil, false
	}
	return All[i], true
}

// ServerWords and ClientWords are the commands, program first; nil: there is no server.
func (t *Tool) ServerWords(j Job) []string {
	if t.Server == "" {
		return nil
	}
	j.ToolArgs = nil
	return append([]string{t.Server}, command(t.server, t.fit(j))...)
}

func (t *Tool) ClientWords(j Job) []string {
	return append([]string{t.Client}, command(t.client, t.fit(j))...)
}

// Input are the lines of the client's standard input, to be repeated for as long as it
// reads; none: it has no input.
func (t *Tool) Input(j Job) []string {
	if t.input == nil {
		return nil
	}
	return t.input(j)
}

// fit has a job's messages in the sizes that the tool makes.
func (t *Tool) fit(j Job) Job {
	if j.Protocol == flow.RR {
		j.Request, j.Response = t.Messages(j)
	}
	return j
}

// Shown are the commands of server and client as people read them before the port is
// known: it is spelled PORT, and the next one PORT+1.
func (t *Tool) Shown(j Job) (server, client []string) {
	return shown(t.ServerWords, j), shown(t.ClientWords, j)
}

func shown(words func(Job) []string, j Job) []string {
	const port, other = 40000, 50000
	if words(j) == nil {
		return nil
	}
	j.Destination = netip.AddrPortFrom(j.Destination.Addr(), port)
	made := words(j)
	j.Destination = netip.AddrPortFrom(j.Destination.Addr(), other)
	for i, word := range words(j) {
		if word != made[i] {
			made[i] = strings.NewReplacer(strconv.Itoa(port+1), "PORT+1", strconv.Itoa(port), "PORT").Replace(made[i])
		}
	}
	return made
}

// Parse reads what both ends of one client and its server have printed; the client
// receives the data if reads. Of a tool without a figure the report is empty.
func (t *Tool) Parse(client, server string, reads bool) (r Report, err error) {
	if t.parse == nil {
		return r, nil
	}
	if r, err = t.parse(client, server); err != nil {
		return r, fmt.Errorf("cannot read what %s has printed: %w", t.Name, err)
	}
	if reads {
		r.ReceiverBps = max(r.ReceiverBps, r.clientBps)
	} else {
		r.SenderBps = max(r.SenderBps, r.clientBps)
	}
	return r, nil
}

// DataPort is the port to which data connections come.
func (t *Tool) DataPort(port uint16) uint16 {
	if t.TwoPorts {
		return port + 1
	}
	return port
}

// Connections is how many a process with so many streams has to the data port.
func (t *Tool) Connections(streams int) int {
	if t.control != nil {
		return streams + 1
	}
	return streams
}

// Control reports whether a connection to the data port carries no data, by how
// much its opener and its acceptor have sent.
func (t *Tool) Control(opener, acceptor uint64) bool {
	return t.control != nil && t.control(opener, acceptor)
}

// Messages are how many bytes a request and its response have, of tools that make
// flows of them. Those with one size for both have the request's.
func (t *Tool) Messages(j Job) (request, response unit.Bytes) {
	request, response = max(j.Request, t.leastMessage, 1), max(j.Response, 1)
	if !t.Can("response") {
		response = request
	}
	return request, response
}

// Can reports whether the tool does something with an option of a flow.
func (t *Tool) Can(option string) bool { return slices.Contains(t.Options, option) }

// NotInstalled says what to do about a program that is not there.
func (t *Tool) NotInstalled(program string) string {
	text := program + " is not installed"
	if t.Package != "" {
		text += ": apt-get install " + t.Package
	}
	return text
}

// Or lists the tools that can do something with an option, for messages.
func Or(option string) string {
	var can []string
	for _, t := range All {
		if t.Can(option) {
			can = append(can, t.Name)
		}
	}
	return source.Or(can)
}
