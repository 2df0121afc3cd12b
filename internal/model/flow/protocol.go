// Package flow is the home of a flow: the protocols, the options and what they
// mean to each protocol.
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

// Protocol describes one protocol of flows. A new one is a row in a file of its own, which is added to Protocols, and
// an engine. Options, metrics, schemes of URLs, help and the tables in the documents follow from the row.
type Protocol struct {
	Name, Doc string
	// Transport of the packets, TCP or UDP.
	Transport string
	// Transaction says what one is, of a protocol that is judged by how many there are
	// and how long they take; empty: it is bulk, judged by the data that it carries.
	Transaction string
	// Connects: each transaction has a connection of its own.
	Connects bool
	// Application: of an application, whose server may be another program.
	Application bool
	// Requests and Answers have a size that a flow can choose.
	Requests, Answers bool
	// Pipelines: a connection can have several requests without an answer.
	Pipelines bool
	// Reconnects: a connection can be closed after some requests, and another opened.
	Reconnects bool
	// Encrypts: connections can be encrypted with TLS; Encrypted: they always are.
	Encrypts, Encrypted bool
	// URLs are the schemes of the addresses of servers that are not linerate's.
	URLs []URL
	// Responses are the metrics that a study is judged by unless it names others.
	Responses []string
}

// URL is a scheme of the URLs of a protocol's servers. Of several protocols with one scheme the first has it unless the
// user names another.
type URL struct {
	Scheme string
	Port   int  // unless the URL has one
	TLS    bool // connections are encrypted
}

// Bulk reports whether a protocol is judged by the data that it carries.
func (p Protocol) Bulk() bool { return p.Transaction == "" }

// Transactional reports whether a protocol is of requests and responses.
func (p Protocol) Transactional() bool { return !p.Bulk() }

// Protocols is every protocol, in the order of the reference.
var Protocols = slices.Concat([]Protocol{
	{Name: TCP, Transport: TCP, Doc: "bulk data", Responses: byData},
	{Name: UDP, Transport: UDP, Doc: "datagrams", Responses: byData},
	{
		Name: RR, Transport: TCP, Doc: "request and response over connections that stay", Responses: byTransactions,
		Transaction: "requests with responses, on open connections", Requests: true, Answers: true,
	},
	{
		Name: UDPRR, Transport: UDP, Doc: "a datagram each way", Responses: byTransactions,
		Transaction: "requests and responses of one datagram each", Requests: true, Answers: true,
	},
	{
		Name: CRR, Transport: TCP, Connects: true, Doc: "a connection for each request", Responses: byTransactions,
		Transaction: "connections, each with one request and response", Requests: true, Answers: true,
	},
}, dnsProtocols, httpProtocols, smtpProtocols)

// Names of metrics: see internal/model/metric.
var (
	byData         = []string{"goodput"}
	byTransactions = []string{"transactions", "latency_p99"}
)

// Names lists the protocols that fit, in the order of the reference.
func Names(fit func(Protocol) bool) (names []string) {
	for _, p := range Protocols {
		if fit(p) {
			names = append(names, p.Name)
		}
	}
	return names
}

// Of is the protocol of that name; empty: tcp. One that is not known is only a name.
func Of(name string) Protocol {
	if name == "" {
		name = TCP
	}
	if i := slices.IndexFunc(Protocols, func(p Protocol) bool { return p.Name == name }); i >= 0 {
		return Protocols[i]
	}
	return Protocol{Name: name}
}

// MaxDatagramBytes is the most that one datagram can carry over IPv4, as UDP payload.
const MaxDatagramBytes = 65535 - 20 - 8
