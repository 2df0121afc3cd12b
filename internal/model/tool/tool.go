// Package tool knows other people's load generators: which package has them,
// which of a flow's options they have and how they spell them, and how to read
// the figures they print. It starts nothing; internal/host/foreign does, on the
// words that are put together here.
//
// References: the manual pages iperf3(1), iperf(1), nuttcp(8), netperf(1),
// qperf(1) and sockperf(1).
package tool

import (
	"fmt"
	"math"
	"net/netip"
	"slices"
	"strconv"
	"strings"

	"linerate/internal/model/flow"
	"linerate/internal/model/source"
	"linerate/internal/model/unit"
)

// Own is the name of linerate's own traffic among the tools.
const Own = "linerate"

// A Tool is one program, or a pair of them.
type Tool struct {
	Name string
	// Package is Debian's; Client and Server are the programs in it.
	Package, Client, Server string
	// Protocols that it makes flows of, of flow.Protocols.
	Protocols []string
	// Options are the keys of a flow's options that it can do something with,
	// besides protocol and direction.
	Options []string
	// NoSource: its client has no option for the source address.
	NoSource bool
	// WriteOnly: its client always sends.
	WriteOnly bool
	// Forks: its server starts a process for each client.
	Forks bool
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

	// server and client put the words together, the job's further ones included.
	server func(Job) []string
	client func(Job) []string
	// parse reads what the client and the server have printed.
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
}

// All is every tool, in the order in which they are listed to people.
var All = []*Tool{&iperf3, &iperf, &netperf, &nuttcp, &sockperf, &qperf}

// Find is the tool of that name. False: linerate's own traffic, or no tool.
func Find(name string) (*Tool, bool) {
	i := slices.IndexFunc(All, func(t *Tool) bool { return t.Name == name })
	if i < 0 {
		return nil, false
	}
	return All[i], true
}

// ServerWords and ClientWords are the commands, program first.
func (t *Tool) ServerWords(j Job) []string { return append([]string{t.Server}, t.server(j)...) }
func (t *Tool) ClientWords(j Job) []string { return append([]string{t.Client}, t.client(j)...) }

// Shown are the commands of server and client as people read them before the port is
// known: it is spelled PORT, and the next one PORT+1.
func (t *Tool) Shown(j Job) (server, client []string) {
	return shown(t.ServerWords, j), shown(t.ClientWords, j)
}

func shown(words func(Job) []string, j Job) []string {
	const port, other = 40000, 50000
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

// Parse reads what both ends of one client and its server have printed.
func (t *Tool) Parse(client, server string) (Report, error) {
	r, err := t.parse(client, server)
	if err != nil {
		return r, fmt.Errorf("cannot read what %s has printed: %w", t.Name, err)
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
func (t *Tool) NotInstalled(host, program string) string {
	return fmt.Sprintf("%s: %s is not installed: apt-get install %s", host, program, t.Package)
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

// when appends words if a condition holds.
func when(words []string, holds bool, more ...string) []string {
	if holds {
		return append(words, more...)
	}
	return words
}

// seconds spells a time that has to be whole, never shorter than it is.
func seconds(s float64) string {
	whole := int(s)
	if float64(whole) < s {
		whole++
	}
	return strconv.Itoa(max(whole, 1))
}

// fraction spells a time to the millisecond.
func fraction(s float64) string {
	return strconv.FormatFloat(math.Round(s*1e3)/1e3, 'f', -1, 64)
}

func number[T ~int | ~int64 | ~uint16](n T) string { return strconv.FormatInt(int64(n), 10) }

// rate spells bit/s without a suffix, which means a thousand to one tool and
// 1024 to another.
func rate(r unit.BitRate) string { return strconv.FormatFloat(float64(r), 'f', 0, 64) }
