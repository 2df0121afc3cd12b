// Package flow defines flows: the protocols, the options, and which options apply to which
// protocol.
package flow

import "slices"

// Protocols of a flow.
const (
	TCP   = "tcp"
	UDP   = "udp"
	RR    = "rr"
	UDPRR = "udp-rr"
	CRR   = "crr"
)

// Protocol describes a protocol of flows. A new one is a row in its own file, which is added to
// Protocols, and an engine. Options, metrics, URL schemes, help and the tables in the documents
// follow from the row.
type Protocol struct {
	Name, Doc string
	// Transport is the protocol of the packets, TCP or UDP.
	Transport string
	// Transaction describes a transaction of a protocol that is judged by their rate and latency.
	// Empty: a bulk protocol, judged by the data that it carries.
	Transaction string
	// Connects reports whether each transaction opens its own connection.
	Connects bool
	// Application reports whether it is an application protocol, whose server may be another
	// program.
	Application bool
	// Requests and Answers report whether flows can choose the size of requests and responses.
	Requests, Answers bool
	// Pipelines reports whether a connection can have several unanswered requests.
	Pipelines bool
	// Threads reports whether connections can be distributed over several threads.
	Threads bool
	// Reconnects reports whether a connection can be closed after some requests and replaced by a
	// new one.
	Reconnects bool
	// Encrypts reports whether connections can be encrypted with TLS, Encrypted whether they always
	// are.
	Encrypts, Encrypted bool
	// URLs are the URL schemes of servers other than linerate's.
	URLs []URL
	// Responses are the default metrics that a study is judged by.
	Responses []string
}

// URL is a scheme in URLs of a protocol's servers. If several protocols have the same scheme, the
// first one is used unless the user names another.
type URL struct {
	Scheme string
	Port   int  // default port
	TLS    bool // connections are encrypted
}

// Bulk reports whether the protocol is judged by the data that it carries.
func (p Protocol) Bulk() bool { return p.Transaction == "" }

// Transactional reports whether the protocol consists of requests and responses.
func (p Protocol) Transactional() bool { return !p.Bulk() }

// Protocols lists every protocol in the order of the reference.
var Protocols = slices.Concat([]Protocol{
	{Name: TCP, Transport: TCP, Doc: "bulk data", Responses: byData},
	{Name: UDP, Transport: UDP, Doc: "datagrams", Responses: byData},
	{
		Name: RR, Transport: TCP, Doc: "requests over connections that stay", Responses: byTransactions,
		Transaction: "requests with responses, on open connections", Requests: true, Answers: true, Threads: true,
	},
	{
		Name: UDPRR, Transport: UDP, Doc: "a datagram each way", Responses: byTransactions,
		Transaction: "requests and responses of one datagram each", Requests: true, Answers: true, Threads: true,
	},
	{
		Name: CRR, Transport: TCP, Connects: true, Doc: "a connection for each request", Responses: byTransactions,
		Transaction: "connections, each with one request and response", Requests: true, Answers: true, Threads: true,
	},
}, dnsProtocols, httpProtocols, smtpProtocols, cacheProtocols)

// Names of metrics: see internal/model/metric.
var (
	byData         = []string{"goodput"}
	byTransactions = []string{"transactions", "latency_p99"}
)

// Names returns the names of the protocols for which fit is true, in the order of the reference.
func Names(fit func(Protocol) bool) (names []string) {
	for _, p := range Protocols {
		if fit(p) {
			names = append(names, p.Name)
		}
	}
	return names
}

// Of returns the protocol with the given name; the empty name is tcp. For an unknown name only Name
// is set.
func Of(name string) Protocol {
	if name == "" {
		name = TCP
	}
	if i := slices.IndexFunc(Protocols, func(p Protocol) bool { return p.Name == name }); i >= 0 {
		return Protocols[i]
	}
	return Protocol{Name: name}
}

// MaxDatagramBytes is the maximum UDP payload of a datagram over IPv4.
const MaxDatagramBytes = 65535 - 20 - 8
