package flow

import (
	"fmt"

	"linerate/internal/model/pattern"
)

// Protocols of DNS.
const (
	DNS    = "dns"
	DNSTCP = "dns-tcp"
	DoT    = "dot"
)

const dnsTransaction = "DNS queries with answers"

var dnsProtocols = []Protocol{
	{
		Name: DNS, Transport: UDP, Application: true, Doc: "DNS over UDP", Responses: byTransactions,
		Transaction: dnsTransaction, Pipelines: true, Threads: true, URLs: []URL{{Scheme: "dns", Port: 53}},
	},
	{
		Name: DNSTCP, Transport: TCP, Application: true, Doc: "DNS over TCP", Responses: byTransactions,
		Transaction: dnsTransaction, Pipelines: true, Threads: true, Reconnects: true,
		URLs: []URL{{Scheme: "dns", Port: 53}, {Scheme: "dns+tcp", Port: 53}},
	},
	{
		Name: DoT, Transport: TCP, Application: true, Doc: "DNS over TLS", Responses: byTransactions,
		Transaction: dnsTransaction, Pipelines: true, Threads: true, Reconnects: true, Encrypts: true,
		Encrypted: true,
		URLs:      []URL{{Scheme: "dot", Port: 853, TLS: true}},
	},
}

// QueryTypes are the record types that DNS flows can query.
var QueryTypes = []string{"A", "AAAA", "MX", "NS", "SOA", "TXT"}

const maxNames = 10_000

var dnsName = pattern.MustCompile(
	`^(\*\.)?([A-Za-z0-9_]([A-Za-z0-9_-]{0,61}[A-Za-z0-9_])?\.)*[A-Za-z0-9_]([A-Za-z0-9_-]{0,61}[A-Za-z0-9_])?\.?$`)

// dnsOptions are the rows of Options for DNS.
var dnsOptions = []*Option{
	{
		Key: "names",
		Doc: "names that queries ask for, in turn; of one that begins with *. the first label is random in " +
			"each query",
		Protocols: []string{DNS, DNSTCP, DoT}, Absent: "*.linerate.test", Type: "names", check: func(s *Spec) string {
			if len(s.Names) > maxNames {
				return fmt.Sprintf(": %d names, expected at most %d", len(s.Names), maxNames)
			}
			for _, name := range s.Names {
				if len(name) > 240 || !dnsName.MatchString(name) {
					return fmt.Sprintf(
						" %.60q: expected a domain name (RFC 1035, section 2.3.1), such as www.example.com or "+
							"*.example.com", name)
				}
			}
			return ""
		},
	},
	{
		Key: "query", Doc: "record type that queries ask for", Protocols: []string{DNS, DNSTCP, DoT}, Enum: QueryTypes,
		Absent: "A", Type: "type",
	},
}
