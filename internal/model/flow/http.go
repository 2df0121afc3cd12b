package flow

import (
	"fmt"
	"strings"
)

// Protocols of HTTP.
const (
	HTTP  = "http"
	HTTP2 = "h2"
	HTTP3 = "h3"
)

const httpTransaction = "HTTP requests"

var httpProtocols = []Protocol{
	{
		Name: HTTP, Transport: TCP, Application: true, Doc: "HTTP/1.1", Responses: byTransactions,
		Transaction: httpTransaction, Requests: true, Answers: true, Pipelines: true, Threads: true, Reconnects: true,
		Encrypts: true, URLs: httpURLs,
	},
	{
		Name: HTTP2, Transport: TCP, Application: true, Doc: "HTTP/2", Responses: byTransactions,
		Transaction: httpTransaction, Requests: true, Answers: true, Pipelines: true, Reconnects: true, Encrypts: true,
		URLs: httpURLs,
	},
	{
		Name: HTTP3, Transport: UDP, Application: true, Doc: "HTTP/3", Responses: byTransactions,
		Transaction: httpTransaction, Requests: true, Answers: true, Pipelines: true, Reconnects: true, Encrypts: true,
		Encrypted: true, URLs: httpURLs[1:],
	},
}

var httpURLs = []URL{{Scheme: "http", Port: 80}, {Scheme: "https", Port: 443, TLS: true}}

// httpOptions are the rows of Options for HTTP.
var httpOptions = []*Option{
	{
		Key: "path", Doc: "path of requests, of a server that is not linerate's; redis, memcached: / and the key",
		Protocols: []string{HTTP, HTTP2, HTTP3, Redis, Memcached}, Type: "path",
		Absent: "/; redis: PING instead of GET; memcached: the key linerate",
		check: func(s *Spec) string {
			if !strings.HasPrefix(s.Path, "/") || len(s.Path) > 1024 || strings.ContainsFunc(s.Path, func(r rune) bool {
				return r <= ' ' || r >= 0x7f
			}) {
				return fmt.Sprintf(" %.60q: expected a path of printable ASCII characters that begins with /", s.Path)
			}
			return ""
		},
	},
}
