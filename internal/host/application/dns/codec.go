package dns

import (
	"bytes"
	"encoding/binary"
	"encoding/hex"
	"errors"
	"fmt"
	"strings"

	"golang.org/x/net/dns/dnsmessage"

	"linerate/internal/host/application"
	"linerate/internal/model/flow"
)

// Positions in a message (RFC 1035, section 4.1.1), and the size of its header.
const (
	atFlags     = 2
	atCode      = 3
	atQuestions = 4
	headerBytes = 12
)

// labelBytes is the length of the random label of a name that begins with "*.".
const labelBytes = 16

// codec is the client's end of DNS.
type codec struct {
	framed  bool // a length precedes each message
	queries []query
}

// query is an encoded query for one of the flow's names, with an ID of 0.
type query struct {
	message  []byte // without its length
	question int    // where its question section ends
	random   bool   // its first label is a random one
}

func newCodec(spec flow.Spec) (*codec, error) {
	c := &codec{framed: spec.Protocol != flow.DNS}
	names, kind := spec.Names, dnsmessage.TypeA
	if len(names) == 0 {
		names = anyName
	}
	if named, is := types[spec.Query]; is {
		kind = named
	}
	for _, name := range names {
		q, err := newQuery(name, kind)
		if err != nil {
			return nil, fmt.Errorf("the name %q: %w", name, err)
		}
		c.queries = append(c.queries, q)
	}
	return c, nil
}

// newQuery encodes a query: recursion desired, answers of up to longest bytes accepted (EDNS(0), RFC 6891).
func newQuery(name string, kind dnsmessage.Type) (q query, err error) {
	rest, random := strings.CutPrefix(name, "*.")
	if q.random = random; random {
		name = strings.Repeat("0", labelBytes) + "." + rest
	}
	if !strings.HasSuffix(name, ".") {
		name += "."
	}
	to, err := dnsmessage.NewName(name)
	if err != nil {
		return q, err
	}
	b := dnsmessage.NewBuilder(nil, dnsmessage.Header{RecursionDesired: true})
	var edns dnsmessage.ResourceHeader
	err = errors.Join(b.StartQuestions(), b.Question(dnsmessage.Question{Name: to, Type: kind,
		Class: dnsmessage.ClassINET}), b.StartAdditionals(), edns.SetEDNS0(longest, dnsmessage.RCodeSuccess, false),
		b.OPTResource(edns, dnsmessage.OPTResource{}))
	if err != nil {
		return q, err
	}
	q.message, err = b.Finish()
	const optBytes = 11 // with an empty name and no options
	q.question = len(q.message) - optBytes
	return q, err
}

// query returns the query with a number, and its random label.
func (c *codec) query(number uint64) (q *query, label [labelBytes]byte) {
	q = &c.queries[number%uint64(len(c.queries))]
	if q.random {
		var mixed [labelBytes / 2]byte
		binary.BigEndian.PutUint64(mixed[:], mix(number))
		hex.Encode(label[:], mixed[:])
	}
	return q, label
}

// mix returns a number that looks random, another one for each n (splitmix64).
func mix(n uint64) uint64 {
	n += 0x9e3779b97f4a7c15
	n = (n ^ n>>30) * 0xbf58476d1ce4e5b9
	n = (n ^ n>>27) * 0x94d049bb133111eb
	return n ^ n>>31
}

func (c *codec) Append(b []byte, r application.Request) []byte {
	q, label := c.query(r.Number)
	if c.framed {
		b = binary.BigEndian.AppendUint16(b, uint16(len(q.message)))
	}
	begin := len(b)
	b = append(b, q.message...)
	binary.BigEndian.PutUint16(b[begin:], r.ID)
	if q.random {
		copy(b[begin+headerBytes+1:], label[:])
	}
	return b
}

func (c *codec) Payload() int64 { return 0 }

func (c *codec) Ordered() bool { return false }

func (c *codec) Parser() application.Parser { return &parser{codec: c} }

// asks reports whether a message that answers the query with this number repeats its question; names ignore case
// (RFC 4343).
func (c *codec) asks(message []byte, number uint64) bool {
	q, label := c.query(number)
	if len(message) < q.question || binary.BigEndian.Uint16(message[atQuestions:]) != 1 {
		return false
	}
	from := headerBytes
	if q.random {
		from += 1 + labelBytes
		if message[headerBytes] != labelBytes || !bytes.EqualFold(message[headerBytes+1:from], label[:]) {
			return false
		}
	}
	return sameFold(message[from:q.question], q.message[from:q.question])
}

// sameFold reports whether two encoded questions of the same length are equal but for the case of ASCII letters. The
// length of a label is none.
func sameFold(a, b []byte) bool {
	for i := range a {
		if a[i] != b[i] && (a[i]^b[i] != 0x20 || a[i]|0x20 < 'a' || a[i]|0x20 > 'z') {
			return false
		}
	}
	return true
}

// parser finds answers in datagrams, or in a stream of messages with their lengths.
type parser struct {
	application.Whole
	codec *codec
	part  []byte // of a stream: the beginning of a message whose end has not arrived
}

func (p *parser) Next(b []byte, pending *application.Pending) (int, application.Event, error) {
	if !p.codec.framed {
		return len(b), p.codec.answer(b, pending), nil
	}
	if len(p.part) > 0 || len(b) < 2 || len(b) < 2+int(binary.BigEndian.Uint16(b)) {
		return p.collect(b, pending)
	}
	n := 2 + int(binary.BigEndian.Uint16(b))
	return n, p.codec.answer(b[2:n], pending), nil
}

// collect adds to the part of a message.
func (p *parser) collect(b []byte, pending *application.Pending) (n int, e application.Event, err error) {
	want := 2
	for {
		if len(p.part) >= 2 {
			want = 2 + int(binary.BigEndian.Uint16(p.part))
		}
		if len(p.part) >= want {
			break
		}
		if n == len(b) {
			return n, e, nil
		}
		take := min(want-len(p.part), len(b)-n)
		p.part = append(p.part, b[n:n+take]...)
		n += take
	}
	e = p.codec.answer(p.part[2:], pending)
	p.part = p.part[:0]
	return n, e, nil
}

// answer returns whose answer a message is: that of the query with its ID and question. Any other is late or forged.
func (c *codec) answer(message []byte, pending *application.Pending) application.Event {
	late := application.Event{Late: true}
	if len(message) < headerBytes || message[atFlags]&0x80 == 0 {
		return late
	}
	call := pending.WithID(binary.BigEndian.Uint16(message))
	if call == nil {
		return late
	}
	code := dnsmessage.RCode(message[atCode] & 0x0f)
	// A server that refuses a query may omit its question, as one without EDNS(0) does.
	bare := binary.BigEndian.Uint16(message[atQuestions:]) == 0 && refusals[code]
	if !bare && !c.asks(message, call.Number) {
		return late
	}
	e := application.Event{Call: call, Done: true, Outcome: rcode(code)}
	e.Failed = code != dnsmessage.RCodeSuccess && code != dnsmessage.RCodeNameError
	if message[atFlags]&0x02 != 0 {
		e.Outcome, e.Failed = "truncated", true
	}
	return e
}

// refusals are the response codes for queries that a server does not parse completely.
var refusals = map[dnsmessage.RCode]bool{dnsmessage.RCodeFormatError: true, dnsmessage.RCodeNotImplemented: true,
	dnsmessage.RCodeRefused: true}

// rcodes are the names of the response codes (RFC 1035, RFC 2136).
var rcodes = []string{"NOERROR", "FORMERR", "SERVFAIL", "NXDOMAIN", "NOTIMP", "REFUSED", "YXDOMAIN", "YXRRSET",
	"NXRRSET", "NOTAUTH", "NOTZONE"}

func rcode(code dnsmessage.RCode) string {
	if int(code) < len(rcodes) {
		return rcodes[code]
	}
	return fmt.Sprintf("RCODE%d", code)
}
