package dns

import (
	"context"
	"encoding/binary"
	"errors"
	"net"
	"sync"
	"syscall"
	"time"

	"golang.org/x/net/dns/dnsmessage"

	"linerate/internal/host/application"
	"linerate/internal/model/flow"
)

// idleTimeout is how long a TCP client may be silent (RFC 7766, section 6.2.3).
const idleTimeout = 2 * time.Minute

// Serve answers every query: A and AAAA with a documentation address (RFC 5737, RFC 3849), other types with no
// data.
func (Protocol) Serve(ctx context.Context, s *application.Server) error {
	if s.Packets != nil {
		return servePackets(ctx, s)
	}
	return s.Each(ctx, func(c net.Conn) {
		if s.Spec.Protocol == flow.DoT {
			c = s.Secure(c, "dot")
		}
		serveStream(ctx, s, c)
	})
}

// transient reports whether reading datagrams may succeed again: err is a peer's ICMP error.
func transient(err error) bool { return errors.Is(err, syscall.ECONNREFUSED) }

// servePackets answers datagrams. If answers take time, it handles as many concurrently as the flow has in
// flight on the socket; others wait in the receive buffer, which drops what it has no room for.
func servePackets(ctx context.Context, s *application.Server) error {
	most := max(1, s.Spec.Pipeline)
	if !s.Connected {
		most *= max(1, s.Spec.Connections)
	}
	places := make(chan struct{}, most)
	var answering sync.WaitGroup
	defer answering.Wait()
	buffer := make([]byte, longest)
	for {
		n, from, err := s.Packets.ReadFrom(buffer)
		switch {
		case ctx.Err() != nil:
			return nil
		case err != nil && transient(err):
			if s.Connected { // the client has closed its socket
				return nil
			}
			continue
		case err != nil:
			return err
		}
		message, err := respond(buffer[:n], false)
		if err != nil {
			continue // not a query
		}
		reply := func() {
			if sent, err := s.Packets.WriteTo(message, from); err == nil {
				s.Moved(from, n, sent)
				s.Answered()
			}
		}
		if s.Spec.Think == 0 {
			reply()
			continue
		}
		select {
		case places <- struct{}{}:
			answering.Go(func() {
				defer func() { <-places }()
				if s.Think(ctx, nil) {
					reply()
				}
			})
		case <-ctx.Done():
		}
	}
}

// serveStream answers on one connection. If answers take time, it handles as many queries concurrently as the
// flow has in flight (RFC 7766, section 6.2.1.1).
func serveStream(ctx context.Context, s *application.Server, c net.Conn) {
	places := make(chan struct{}, max(1, s.Spec.Pipeline))
	var answering sync.WaitGroup
	defer answering.Wait()
	ctx, end := context.WithCancel(ctx)
	defer end()            // of what is still answered when the client has gone
	var writing sync.Mutex // one answer is written at a time
	reply := func(message []byte) bool {
		writing.Lock()
		defer writing.Unlock()
		if c.SetWriteDeadline(time.Now().Add(idleTimeout)) != nil {
			return false
		}
		if _, err := c.Write(message); err != nil {
			return false
		}
		s.Answered()
		return true
	}
	buffer := make([]byte, longest)
	for ctx.Err() == nil {
		if c.SetReadDeadline(time.Now().Add(idleTimeout)) != nil {
			return
		}
		n, err := readMessage(c, buffer)
		if err != nil {
			return
		}
		message, err := respond(buffer[:n], true)
		if err != nil {
			return
		}
		if s.Spec.Think == 0 {
			if !reply(message) {
				return
			}
			continue
		}
		select {
		case places <- struct{}{}:
			answering.Go(func() {
				defer func() { <-places }()
				if !s.Think(ctx, c) || !reply(message) {
					c.Close() // ends reading
				}
			})
		case <-ctx.Done():
		}
	}
}

// respond returns the answer to a query.
func respond(request []byte, framed bool) ([]byte, error) {
	var parser dnsmessage.Parser
	header, err := parser.Start(request)
	if err != nil {
		return nil, err
	}
	if header.Response {
		return nil, errors.New("no query")
	}
	q, err := parser.Question()
	if err != nil {
		return nil, err
	}
	begin := 0
	if framed {
		begin = 2
	}
	b := dnsmessage.NewBuilder(make([]byte, begin, 256), dnsmessage.Header{ID: header.ID, Response: true,
		Authoritative: true, RecursionDesired: header.RecursionDesired})
	b.EnableCompression()
	err = errors.Join(b.StartQuestions(), b.Question(q), b.StartAnswers())
	of := dnsmessage.ResourceHeader{Name: q.Name, Class: dnsmessage.ClassINET, TTL: 60}
	switch q.Type {
	case dnsmessage.TypeA:
		err = errors.Join(err, b.AResource(of, dnsmessage.AResource{A: [4]byte{192, 0, 2, 1}}))
	case dnsmessage.TypeAAAA:
		err = errors.Join(err, b.AAAAResource(of,
			dnsmessage.AAAAResource{AAAA: [16]byte{0x20, 0x01, 0x0d, 0xb8, 15: 1}}))
	}
	if edns(&parser) { // an answer has EDNS if the query has (RFC 6891, section 6.1.1)
		var of dnsmessage.ResourceHeader
		err = errors.Join(err, b.StartAdditionals(), of.SetEDNS0(longest, dnsmessage.RCodeSuccess, false),
			b.OPTResource(of, dnsmessage.OPTResource{}))
	}
	if err != nil {
		return nil, err
	}
	message, err := b.Finish()
	if framed && err == nil {
		binary.BigEndian.PutUint16(message, uint16(len(message)-begin))
	}
	return message, err
}

// edns reports whether a query has EDNS(0). Its first question must have been read.
func edns(p *dnsmessage.Parser) bool {
	if errors.Join(p.SkipAllQuestions(), p.SkipAllAnswers(), p.SkipAllAuthorities()) != nil {
		return false
	}
	for {
		header, err := p.AdditionalHeader()
		if err != nil || header.Type == dnsmessage.TypeOPT {
			return err == nil
		}
		if p.SkipAdditional() != nil {
			return false
		}
	}
}
