// Package bus carries requests from a conductor to the agents of its hosts. It is based on
// NATS (https://docs.nats.io, client protocol): the conductor embeds a server (package hub), and
// each agent's byte stream is connected to it. No package outside of this directory knows NATS;
// above it there are only nodes, verbs and values.
//
// The embedded server listens on no address. An agent's stream may come from a socket pair,
// from ssh, or from any other command that passes bytes.
package bus

import (
	"bufio"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net"
	"reflect"
	"strings"
	"sync"
	"sync/atomic"
	"time"

	"github.com/nats-io/nats.go"

	"linerate/internal/model/message"
	"linerate/internal/model/syntax"
)

// helloSubjects is the prefix of the subjects on which agents announce themselves.
const helloSubjects = "linerate.hello."

func subject(node, verb string) string { return "linerate.agent." + node + "." + verb }

// envelope is what an agent answers: a reply or a failure.
type envelope struct {
	Error *message.Error  `json:"error,omitempty"`
	Reply json.RawMessage `json:"reply,omitempty"`
}

// Bus is the conductor's end.
type Bus struct {
	server   Server
	conn     *nats.Conn
	accounts *Accounts
	info     []byte // the server's first line, INFO
	running  context.Context
	stop     context.CancelFunc

	mu          sync.Mutex
	attachments map[string]*attachment // by node
}

// attachment is a node's stream.
type attachment struct {
	attached   bool
	ended      chan struct{} // closed when the stream has ended
	why        error         // what had it end, once it has; nil: its other end
	once, said sync.Once
	announced  chan struct{} // closed when hello or, if it is unreadable, unreadable is set
	hello      message.Hello
	unreadable error
	most       atomic.Int64 // bytes of a reply; 0: the node is trusted
	requests   atomic.Int64 // that were sent to the node
}

func newAttachment() *attachment {
	return &attachment{ended: make(chan struct{}), announced: make(chan struct{})}
}

// Server is the embedded server.
type Server interface {
	// InProcessConn connects to the server, which then calls Accounts.Check.
	InProcessConn() (net.Conn, error)
	Shutdown()
}

// MaxMessage bounds one message, in bytes: a trial's reading of a host with hundreds of ports
// and samples is a few megabytes.
const MaxMessage = 64 << 20

// New connects to a server that asks known about each connection. Close shuts the server down,
// as New does when it fails.
func New(s Server, known *Accounts) (*Bus, error) {
	conn, err := nats.Connect("", nats.InProcessServer(s), nats.Name("conductor"), nats.Token(known.self),
		nats.NoReconnect())
	if err != nil {
		s.Shutdown()
		return nil, fmt.Errorf("connecting to the bus: %w", err)
	}
	b := &Bus{server: s, conn: conn, accounts: known, attachments: map[string]*attachment{}}
	b.running, b.stop = context.WithCancel(context.Background())
	_, err = conn.Subscribe(helloSubjects+"*", b.announced)
	if err == nil {
		err = b.dial(func(_ net.Conn, info []byte, _ io.Reader) { b.info = info })
	}
	if err := errors.Join(err, conn.Flush()); err != nil {
		b.Close()
		return nil, fmt.Errorf("listening for agents on the bus: %w", err)
	}
	return b, nil
}

// Attach connects an agent's stream to the bus and returns at once. The other end of the
// stream can act only as this node. Calls to the node fail with message.Gone as soon as the
// stream ends.
func (b *Bus) Attach(node string, stream io.ReadWriteCloser) {
	l := b.attach(node)
	end := func(why error) {
		l.once.Do(func() {
			l.why = why
			close(l.ended)
		})
		stream.Close()
	}
	closed := context.AfterFunc(b.running, func() { end(nil) })
	go func() {
		defer closed()
		end(b.splice(node, l, stream))
	}()
}

// splice connects a stream to the server until one of them ends. The server sees the agent
// once its greeting is complete: it pings a connection, and ends one that does not identify
// itself, while callers bound how long an agent may take to start.
func (b *Bus) splice(node string, l *attachment, stream io.ReadWriteCloser) error {
	_, unread := stream.Write(b.info)
	if unread != nil { // what has ended may have said what it is
		defer time.AfterFunc(untaken, func() { stream.Close() }).Stop()
	}
	greeting, rest, err := b.accounts.greeting(node, stream)
	if err == nil {
		err = unread
	}
	if err != nil {
		return err
	}
	var from io.Reader = rest
	if l.most.Load() > 0 {
		from = bounded(rest, &l.requests)
	}
	return b.dial(func(inside net.Conn, _ []byte, replies io.Reader) {
		if _, err := inside.Write(greeting); err != nil {
			return
		}
		go func() {
			_, _ = io.Copy(inside, from)
			inside.Close()
			stream.Close() // which may be full
		}()
		_, _ = io.Copy(stream, replies)
	})
}

// dial connects to the server for as long as use takes, which is given the server's first line
// and a reader of what follows.
func (b *Bus) dial(use func(conn net.Conn, info []byte, rest io.Reader)) error {
	conn, err := b.server.InProcessConn()
	if err != nil {
		return fmt.Errorf("connecting to the bus: %w", err)
	}
	defer conn.Close()
	r := bufio.NewReader(conn)
	info, err := r.ReadBytes('\n')
	if err == nil {
		use(conn, info, r)
	}
	return err
}

// attach returns the attachment of a further stream of a node, which the end of an
// earlier one does not affect.
func (b *Bus) attach(node string) *attachment {
	l := b.attachmentOf(node)
	b.mu.Lock()
	defer b.mu.Unlock()
	if l.attached {
		l = newAttachment()
		b.attachments[node] = l
	}
	l.attached = true
	return l
}

func (b *Bus) attachmentOf(node string) *attachment {
	b.mu.Lock()
	defer b.mu.Unlock()
	if b.attachments[node] == nil {
		b.attachments[node] = newAttachment()
	}
	return b.attachments[node]
}

// Lost returns a channel that is closed when the stream of the node has ended.
func (b *Bus) Lost(node string) <-chan struct{} { return b.attachmentOf(node).ended }

// announced keeps the first announcement that arrives over a node's stream.
func (b *Bus) announced(m *nats.Msg) {
	node := strings.TrimPrefix(m.Subject, helloSubjects)
	a := b.attachmentOf(node)
	a.said.Do(func() {
		if err := decode(m.Data, int(a.most.Load()), &a.hello); err != nil {
			a.unreadable = &Error{node, "hello", fmt.Errorf("unreadable hello: %w", err)}
		}
		close(a.announced)
	})
}

// Hellos waits until all nodes' agents have announced themselves or ctx ends, and returns the
// hellos that arrived. It ends early if a hello is unreadable or a stream ends before its
// hello. The error is then an *Error of that node, for an ended stream with the code
// message.Gone; if ctx ends, it is the cause.
func (b *Bus) Hellos(ctx context.Context, nodes []string) (map[string]message.Hello, error) {
	ctx, stop := context.WithCancelCause(ctx)
	defer stop(nil)
	hellos, err := Collect(nodes, func(node string) (message.Hello, error) {
		a := b.attachmentOf(node)
		var hello message.Hello
		var err error
		select {
		case <-a.announced:
			hello, err = a.hello, a.unreadable
		case <-a.ended:
			err = &Error{node, "hello", Coded(message.Gone, ErrEarly)}
			if errors.Is(a.why, ErrNotAnAgent) {
				err = &Error{node, "hello", Coded(message.Gone, a.why)}
			}
		case <-ctx.Done():
			return message.Hello{}, context.Cause(ctx)
		}
		if err != nil {
			stop(err)
		}
		return hello, err
	})
	if err != nil {
		err = context.Cause(ctx)
	}
	return hellos, err
}

// Call sends a request to a node and waits for the reply, until ctx ends or the node is lost
// (message.Gone). The error is an *Error.
func Call[Request, Reply any](ctx context.Context, b *Bus, node string, v message.Verb[Request, Reply],
	request Request) (reply Reply, err error) {
	err = b.call(ctx, node, v.Name, request, &reply)
	return reply, err
}

func (b *Bus) call(ctx context.Context, node, verb string, request, reply any) error {
	failed := func(code message.Code, format string, args ...any) error {
		return &Error{Node: node, Op: verb, Err: Coded(code, fmt.Errorf(verb+": "+format, args...))}
	}
	data, err := json.Marshal(request)
	if err != nil {
		return failed(message.Invalid, "%w", err)
	}
	ctx, cancel := context.WithCancelCause(ctx)
	defer cancel(nil)
	of := b.attachmentOf(node)
	go func() {
		select {
		case <-of.ended:
			cancel(message.Gone)
		case <-ctx.Done():
		}
	}()
	of.requests.Add(1)
	msg, err := b.conn.RequestWithContext(ctx, subject(node, verb), data)
	cause := context.Cause(ctx)
	switch {
	case err == nil:
	case errors.Is(cause, message.Gone):
		return failed(message.Gone, "%w", ErrEnded)
	case cause != nil:
		return failed(CodeOf(cause), "%w", cause)
	case errors.Is(err, nats.ErrNoResponders):
		return failed(message.Unsupported, "%w", errUnanswered)
	case errors.Is(err, nats.ErrMaxPayload):
		return failed(message.TooLarge, "the request has more than %d MiB", MaxMessage>>20)
	default:
		return failed(CodeOf(err), "%w", err)
	}
	var e envelope
	if err := decode(msg.Data, int(of.most.Load()), &e); err != nil {
		return failed(message.Invalid, "unreadable reply: %w", err)
	}
	if e.Error != nil {
		return &Error{Node: node, Op: verb, Err: e.Error}
	}
	if err := decode(e.Reply, int(of.most.Load()), reply); err != nil {
		return failed(message.Invalid, "unreadable reply: %w", err)
	}
	return nil
}

// Bound sets limits for a node that is not trusted: each reply may have at most this many
// bytes, and a number of objects in proportion to them; long texts are cut; and the node may
// send hardly more messages than it was sent requests. It is called before Attach.
func (b *Bus) Bound(node string, bytes int) { b.attachmentOf(node).most.Store(int64(bytes)) }

// decode decodes what a node has sent, of at most so many bytes; 0: any number of them. What is bounded is sparse
// (syntax.Sparse), and its texts are cut. A string that is not what its field declares is an error.
func decode(data []byte, most int, into any) error {
	if most > 0 {
		if len(data) > most {
			return Coded(message.TooLarge, fmt.Errorf("%d bytes, expected at most %d", len(data), most))
		}
		if err := syntax.Sparse(data); err != nil {
			return Coded(message.TooLarge, err)
		}
	}
	err := json.Unmarshal(data, into)
	if most > 0 {
		cutTexts(reflect.ValueOf(into))
	}
	if err != nil {
		return err
	}
	return syntax.Check(into)
}

// Close ends the bus and closes every attached stream.
func (b *Bus) Close() {
	b.stop()
	b.conn.Close()
	b.server.Shutdown()
}
