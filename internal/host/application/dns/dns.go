// Package dns is DNS as an application of flows: queries over UDP, TCP (RFC 7766) and
// TLS (RFC 7858), and a server that answers every name.
package dns

import (
	"context"
	"encoding/binary"
	"errors"
	"fmt"
	"io"
	"math/rand/v2"
	"net"
	"slices"
	"strings"
	"sync"
	"sync/atomic"

	"golang.org/x/net/dns/dnsmessage"

	"linerate/internal/host/application"
	"linerate/internal/kernel/sched"
	"linerate/internal/model/flow"
	"linerate/internal/model/record"
)

const (
	// longest is the maximum size of a UDP message at either end (RFC 9715), longestTCP that of a TCP message
	// (RFC 1035, section 4.2.2).
	longest    = 1232
	longestTCP = 65535
	// attempts to find an ID that no pending query uses
	attempts = 16
)

// anyName is queried if the flow gives no names.
var anyName = []string{"*.linerate.test"}

// types maps the names in flow.QueryTypes to record types.
var types = map[string]dnsmessage.Type{
	"A": dnsmessage.TypeA, "AAAA": dnsmessage.TypeAAAA, "MX": dnsmessage.TypeMX, "NS": dnsmessage.TypeNS,
	"SOA": dnsmessage.TypeSOA, "TXT": dnsmessage.TypeTXT,
}

func init() { application.Register(Protocol{}, flow.DNS, flow.DNSTCP, flow.DoT) }

// Protocol is DNS over UDP, TCP or TLS.
type Protocol struct{}

// Session returns a client's session.
func (Protocol) Session(d *application.Dialer) application.Session {
	spec := d.Spec()
	s := &session{d: d, names: spec.Names, kind: dnsmessage.TypeA, shared: application.NewShared[*conn](d)}
	if len(s.names) == 0 {
		s.names = anyName
	}
	if kind, named := types[spec.Query]; named {
		s.kind = kind
	}
	s.next.Store(rand.Uint64()) // sessions start at different names
	return s
}

// session sends queries over one connection at a time.
type session struct {
	d      *application.Dialer
	names  []string
	kind   dnsmessage.Type
	next   atomic.Uint64 // index of the next name
	shared *application.Shared[*conn]
}

// conn is a connection and its pending queries.
type conn struct {
	under  *application.Conn
	stream net.Conn      // the connection itself, or TLS on it
	framed bool          // a length precedes each message
	ended  chan struct{} // closed when reading has ended

	writing sync.Mutex // one query is written at a time
	mu      sync.Mutex // held for assignments only
	pending map[uint16]*pending
	failure error // why reading ended
}

// pending is a query that awaits its answer.
type pending struct {
	question dnsmessage.Question
	answer   chan answer
}

type answer struct {
	outcome string
	failed  bool
	at      int64
}

// Do sends a query and waits for its answer.
func (s *session) Do(ctx context.Context, x *application.Exchange) error {
	question, err := s.question()
	if err != nil {
		return err
	}
	return s.shared.Do(ctx, func() (*conn, error) { return s.open(ctx, x) }, func(c *conn) (bool, error) {
		defer c.under.Ended(x)
		return false, c.exchange(ctx, x, question)
	})
}

// Close closes the connection.
func (s *session) Close() { s.shared.Close() }

// question returns the next question.
func (s *session) question() (q dnsmessage.Question, err error) {
	name := s.names[s.next.Add(1)%uint64(len(s.names))]
	if rest, random := strings.CutPrefix(name, "*."); random {
		name = fmt.Sprintf("%016x.%s", rand.Uint64(), rest)
	}
	if !strings.HasSuffix(name, ".") {
		name += "."
	}
	q.Name, err = dnsmessage.NewName(name)
	q.Type, q.Class = s.kind, dnsmessage.ClassINET
	return q, err
}

// open opens a connection and starts reading answers.
func (s *session) open(ctx context.Context, x *application.Exchange) (*conn, error) {
	spec := s.d.Spec()
	c := &conn{framed: spec.Protocol != flow.DNS, ended: make(chan struct{}), pending: map[uint16]*pending{}}
	var err error
	if c.framed {
		c.under, err = s.d.TCP(ctx, x)
	} else {
		c.under, err = s.d.UDP(ctx, x)
	}
	if err != nil {
		return nil, err
	}
	c.stream = c.under
	if spec.Protocol == flow.DoT {
		if c.stream, err = s.d.TLS(ctx, x, c.under, "dot"); err != nil {
			c.under.Close()
			return nil, err
		}
	}
	go c.readAll(s.d.Late)
	return c, nil
}

// exchange sends a query and waits for its answer.
func (c *conn) exchange(ctx context.Context, x *application.Exchange, q dnsmessage.Question) error {
	p := &pending{q, make(chan answer, 1)}
	sent := sched.Now()
	id, err := c.ask(ctx, p)
	defer c.forget(id, p)
	if err != nil {
		return err
	}
	select {
	case a := <-p.answer:
		x.Took(record.PhaseFirstByte, a.at-sent)
		x.At(a.at)
		x.Answer(a.outcome, a.failed)
		return nil
	case <-c.ended:
		return c.reason()
	case <-ctx.Done():
		return ctx.Err()
	}
}

// ask sends a query with an unused ID.
func (c *conn) ask(ctx context.Context, p *pending) (id uint16, err error) {
	c.mu.Lock()
	err = c.failure
	for i := 0; err == nil; i++ {
		if i == attempts {
			err = errors.New("no number is free for another query")
			break
		}
		id = uint16(rand.Uint32())
		if _, taken := c.pending[id]; !taken {
			c.pending[id] = p
			break
		}
	}
	c.mu.Unlock()
	if err != nil {
		return id, err
	}
	at, _ := ctx.Deadline()
	c.writing.Lock()
	defer c.writing.Unlock()
	if err := c.stream.SetWriteDeadline(at); err != nil {
		return id, err
	}
	message, err := query(id, p.question, c.framed)
	if err != nil {
		return id, err
	}
	_, err = c.stream.Write(message)
	return id, err
}

// query encodes a query: recursion desired, answers of up to longest bytes accepted (EDNS(0), RFC 6891).
func query(id uint16, q dnsmessage.Question, framed bool) ([]byte, error) {
	begin := 0
	if framed {
		begin = 2
	}
	b := dnsmessage.NewBuilder(make([]byte, begin, 128), dnsmessage.Header{ID: id, RecursionDesired: true})
	var edns dnsmessage.ResourceHeader
	err := errors.Join(b.StartQuestions(), b.Question(q), b.StartAdditionals(),
		edns.SetEDNS0(longest, dnsmessage.RCodeSuccess, false), b.OPTResource(edns, dnsmessage.OPTResource{}))
	if err != nil {
		return nil, err
	}
	message, err := b.Finish()
	if framed && err == nil {
		binary.BigEndian.PutUint16(message, uint16(len(message)-begin))
	}
	return message, err
}

// reason returns why reading ended.
func (c *conn) reason() error {
	c.mu.Lock()
	defer c.mu.Unlock()
	return c.failure
}

// forget frees a query's ID, unless another query already has it.
func (c *conn) forget(id uint16, p *pending) {
	c.mu.Lock()
	defer c.mu.Unlock()
	if c.pending[id] == p {
		delete(c.pending, id)
	}
}

// Usable reports whether answers are still being read.
func (c *conn) Usable() bool {
	select {
	case <-c.ended:
		return false
	default:
		return true
	}
}

func (c *conn) Received() uint64 { return c.under.Received() }

// Close closes the connection and waits until reading has ended.
func (c *conn) Close() {
	c.under.Close()
	<-c.ended
}

// readAll delivers answers to their queries until the connection ends.
func (c *conn) readAll(late func()) {
	defer close(c.ended)
	buffer := make([]byte, longestTCP)
	for {
		n, err := readMessage(c.stream, buffer, c.framed)
		if err != nil && (c.framed || !transient(err)) {
			c.mu.Lock()
			c.failure = err
			c.mu.Unlock()
			return
		}
		if err == nil {
			c.deliver(buffer[:n], sched.Now(), late)
		}
	}
}

// readMessage reads one message. It fails before reading one that exceeds the buffer.
func readMessage(from io.Reader, buffer []byte, framed bool) (int, error) {
	if !framed {
		return from.Read(buffer)
	}
	var length [2]byte
	if _, err := io.ReadFull(from, length[:]); err != nil {
		return 0, err
	}
	n := int(binary.BigEndian.Uint16(length[:]))
	if n > len(buffer) {
		return 0, fmt.Errorf("a message of %d bytes, expected at most %d", n, len(buffer))
	}
	return io.ReadFull(from, buffer[:n])
}

// deliver passes an answer to the query with its ID and question. Any other answer is late or forged.
func (c *conn) deliver(message []byte, at int64, late func()) {
	var parser dnsmessage.Parser
	header, err := parser.Start(message)
	if err != nil || !header.Response {
		late()
		return
	}
	question, err := parser.Question()
	c.mu.Lock()
	p := c.pending[header.ID]
	// A server that refuses a query may omit its question, as one without EDNS(0) does.
	bare := errors.Is(err, dnsmessage.ErrSectionDone) && slices.Contains(refusals, header.RCode)
	if p != nil && !bare && (err != nil || !same(question, p.question)) {
		p = nil
	}
	if p != nil {
		delete(c.pending, header.ID)
	}
	c.mu.Unlock()
	if p == nil {
		late()
		return
	}
	a := answer{outcome: rcode(header.RCode), at: at}
	a.failed = header.RCode != dnsmessage.RCodeSuccess && header.RCode != dnsmessage.RCodeNameError
	if header.Truncated {
		a.outcome, a.failed = "truncated", true
	}
	p.answer <- a
}

// same reports whether two questions are equal; names ignore case (RFC 4343).
func same(a, b dnsmessage.Question) bool {
	return a.Type == b.Type && a.Class == b.Class && strings.EqualFold(a.Name.String(), b.Name.String())
}

// refusals are the response codes for queries that a server does not parse completely.
var refusals = []dnsmessage.RCode{dnsmessage.RCodeFormatError, dnsmessage.RCodeNotImplemented, dnsmessage.RCodeRefused}

// rcodes are the names of the response codes (RFC 1035, RFC 2136).
var rcodes = []string{"NOERROR", "FORMERR", "SERVFAIL", "NXDOMAIN", "NOTIMP", "REFUSED", "YXDOMAIN", "YXRRSET",
	"NXRRSET", "NOTAUTH", "NOTZONE"}

func rcode(code dnsmessage.RCode) string {
	if int(code) < len(rcodes) {
		return rcodes[code]
	}
	return fmt.Sprintf("RCODE%d", code)
}
