// Package tool describes third-party load generators: the package that contains each, the options
// of flows that it supports and their spelling, and how to parse its output. A study can also
// describe a program. The package starts nothing; internal/host/foreign executes the commands that
// are composed here.
//
// References: the manual pages iperf3(1), iperf(1), nuttcp(8), netperf(1), qperf(1) and
// sockperf(1).
package tool

import (
	"fmt"
	"net/netip"
	"slices"
	"strconv"
	"strings"
	"sync"

	"linerate/internal/model/flow"
	"linerate/internal/model/source"
	"linerate/internal/model/unit"
)

// Tool is a program, or a client and a server program.
type Tool struct {
	Name string
	// Package is the Debian package. Client and Server are the programs in it. Without a Server
	// something else listens, or linerate serves the application protocol of the flow.
	Package, Client, Server string
	// Protocols are the protocols of flow.Protocols that it supports.
	Protocols []string
	// Options are the keys of flow options that it supports, besides protocol and direction: those
	// that occur in its words.
	Options []string
	// Port is the port that its client connects to. 0: a free one.
	Port uint16
	// All reports whether all connections of a client belong to its flow, however many it opens.
	// False: each stream is one connection.
	All bool
	// NoSource reports whether its client has no option for the source address.
	NoSource bool
	// WriteOnly reports whether its client always sends.
	WriteOnly bool
	// Forks reports whether its server starts a process for each client.
	Forks bool
	// Described reports whether a study describes the tool. What its programs start is then
	// unknown.
	Described bool
	// Waits reports whether a client that sends stops its clock when all data has arrived. False:
	// it stops with its last write.
	Waits bool
	// TwoPorts reports whether it uses one port for control and the next one for data.
	TwoPorts bool
	// Decided has the flags that a study may not pass, because linerate sets them or they would
	// change what is measured. The key says what decides them, such as an option of the flow; the
	// value lists the flags, separated by blanks.
	Decided map[string]string
	// Args are the options of its client that tool_args may contain.
	Args []Arg

	// server and client are the words after the program.
	server, client []group
	// input returns lines for the client's standard input. Nil: it has none.
	input func(Job) []string
	// parse parses the output of client and server. Nil: there is no result.
	parse func(client, server string) (Report, error)
	// control reports whether a connection carries no data but the control messages of the tool.
	// opener and acceptor are the bytes that each end has sent. It is for tools that use one port
	// for both. Nil: every connection to the data port carries data.
	control func(opener, acceptor uint64) bool
	// leastMessage is the minimum size of a request in bytes. 0: one byte.
	leastMessage unit.Bytes
}

// Job is the task of one client and its server. Spec has the options of their flows; Streams is the
// number of flows.
type Job struct {
	flow.Spec
	// Reads reports whether the server sends.
	Reads       bool
	Source      netip.Addr // invalid: the kernel's choice
	Destination netip.AddrPort
	Seconds     float64
}

// Report has the results that a tool printed. A value that it does not print is zero.
type Report struct {
	// SenderBps and ReceiverBps are the rates, and SenderBytes and ReceiverBytes the amounts, that
	// were counted at that end of the flow, whichever program printed them. Seconds is the duration
	// that the tool reports.
	SenderBps     float64 `json:"sender_bps,omitempty"`
	ReceiverBps   float64 `json:"receiver_bps,omitempty"`
	SenderBytes   int64   `json:"sender_bytes,omitempty"`
	ReceiverBytes int64   `json:"receiver_bytes,omitempty"`
	Seconds       float64 `json:"seconds,omitempty"`
	// TransactionsPerS and LatencyUs are those of requests and responses.
	TransactionsPerS float64 `json:"transactions_per_s,omitempty"`
	LatencyUs        float64 `json:"latency_us,omitempty"`
	// FromServer reports whether the receiver's value is from the output of the server, which
	// someone who only looks at the client does not see.
	FromServer bool `json:"from_server,omitempty"`

	clientBps float64 // counted by the client, whichever end of the flow that is
}

// All lists the tools that are known by name, in the order of presentation.
var All = sync.OnceValue(func() []*Tool {
	return withOptions(&iperf3, &iperf, &netperf, &nuttcp, &sockperf, &qperf, &wrk, &ab, &h2load, &dnsperf, &smtpSource)
})

// Find returns the tool that a flow names or describes. It returns false for linerate's own traffic
// and for unknown names.
func Find(which flow.Tool) (*Tool, bool) {
	if which.Described() {
		return describe(which), true
	}
	i := slices.IndexFunc(All(), func(t *Tool) bool { return t.Name == which.Name })
	if i < 0 {
		return nil, false
	}
	return All()[i], true
}

// ServerWords and ClientWords return the commands, program first. Nil: there is no server.
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

// Input returns lines for the client's standard input, to be repeated for as long as it reads.
// Empty: it has no input.
func (t *Tool) Input(j Job) []string {
	if t.input == nil {
		return nil
	}
	return t.input(j)
}

// fit sets the sizes of a job's messages to those that the tool supports.
func (t *Tool) fit(j Job) Job {
	if j.Protocol == flow.RR {
		j.Request, j.Response = t.Messages(j)
	}
	return j
}

// Shown returns the commands of server and client for display before the port is known. The port
// appears as PORT, and the next one as PORT+1.
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

// Parse parses the output of a client and its server. Reads reports whether the client receives the
// data. For a tool without results the report is empty.
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

// DataPort returns the port to which data connections are opened.
func (t *Tool) DataPort(port uint16) uint16 {
	if t.TwoPorts {
		return port + 1
	}
	return port
}

// Connections returns the number of connections to the data port that a process with this number of
// streams opens.
func (t *Tool) Connections(streams int) int {
	if t.control != nil {
		return streams + 1
	}
	return streams
}

// Control reports whether a connection to the data port carries no data, by the bytes that its
// opener and its acceptor have sent.
func (t *Tool) Control(opener, acceptor uint64) bool {
	return t.control != nil && t.control(opener, acceptor)
}

// Messages returns the sizes of requests and responses in bytes, for tools that make transactions.
// Tools with one size for both use that of the request.
func (t *Tool) Messages(j Job) (request, response unit.Bytes) {
	request, response = max(j.Request, t.leastMessage, 1), max(j.Response, 1)
	if !t.Can("response") {
		response = request
	}
	return request, response
}

// Can reports whether the tool supports an option of a flow.
func (t *Tool) Can(option string) bool { return slices.Contains(t.Options, option) }

// NotInstalled says how to install a program that is missing.
func (t *Tool) NotInstalled(program string) string {
	text := program + " is not installed"
	if t.Package != "" {
		text += ": apt-get install " + t.Package
	}
	return text
}

// Or lists the tools that support an option, for messages.
func Or(option string) string {
	var can []string
	for _, t := range All() {
		if t.Can(option) {
			can = append(can, t.Name)
		}
	}
	return source.Or(can)
}
