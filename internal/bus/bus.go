// Package bus carries requests from a conductor to the agents of its hosts. It
// is NATS underneath: a server embedded in the conductor, into which each
// agent's byte stream is spliced (https://docs.nats.io, client protocol). No
// other package knows NATS; above this one there are only nodes, verbs and
// values.
//
// The embedded server listens on no address. An agent's stream may come from a
// socket pair, from ssh, or from any other command that passes bytes.
package bus

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net"
	"sync"
	"time"

	"github.com/nats-io/nats-server/v2/server"
	"github.com/nats-io/nats.go"
)

// maxMessage bounds one message: a trial's reading of a host with hundreds of
// ports and samples is a few megabytes.
const maxMessage = 64 << 20

const helloSubject = "linerate.hello"

func subject(node, verb string) string { return "linerate.agent." + node + "." + verb }

// envelope is what an agent answers: a reply or an error.
type envelope struct {
	Error string          `json:"error,omitempty"`
	Reply json.RawMessage `json:"reply,omitempty"`
}

// Bus is the conductor's side.
type Bus struct {
	server *server.Server
	conn   *nats.Conn

	mu   sync.Mutex
	lost map[string]*loss // by node
}

// loss is closed when a node's stream ends.
type loss struct {
	gone chan struct{}
	once sync.Once
}

// Start embeds a server in this process and connects to it.
func Start() (*Bus, error) {
	s, err := server.NewServer(&server.Options{
		ServerName: "linerate",
		DontListen: true,
		NoLog:      true,
		NoSigs:     true,
		MaxPayload: maxMessage,
		MaxPending: 4 * maxMessage,
		// Agents answer pings even while they measure, but a loaded machine
		// must not lose a host over a late one.
		PingInterval: 30 * time.Second,
		MaxPingsOut:  10,
		AuthTimeout:  30,
	})
	if err != nil {
		return nil, fmt.Errorf("starting the bus: %w", err)
	}
	s.Start()
	if !s.ReadyForConnections(10 * time.Second) {
		s.Shutdown()
		return nil, errors.New("starting the bus: the embedded server was not ready within 10 s")
	}
	conn, err := nats.Connect("", nats.InProcessServer(s), nats.Name("conductor"), nats.NoReconnect())
	if err != nil {
		s.Shutdown()
		return nil, fmt.Errorf("connecting to the bus: %w", err)
	}
	return &Bus{server: s, conn: conn, lost: map[string]*loss{}}, nil
}

// Attach splices an agent's stream into the bus and returns at once. Calls to
// the node fail as soon as the stream ends.
func (b *Bus) Attach(node string, stream io.ReadWriteCloser) error {
	inside, err := b.server.InProcessConn()
	if err != nil {
		return fmt.Errorf("attaching %s to the bus: %w", node, err)
	}
	l := b.lossOf(node)
	end := func() {
		l.once.Do(func() { close(l.gone) })
		inside.Close()
		stream.Close()
	}
	go func() { _, _ = io.Copy(inside, stream); end() }()
	go func() { _, _ = io.Copy(stream, inside); end() }()
	return nil
}

func (b *Bus) lossOf(node string) *loss {
	b.mu.Lock()
	defer b.mu.Unlock()
	if b.lost[node] == nil {
		b.lost[node] = &loss{gone: make(chan struct{})}
	}
	return b.lost[node]
}

// Lost is closed when the node's stream has ended.
func (b *Bus) Lost(node string) <-chan struct{} { return b.lossOf(node).gone }

// Hellos calls arrived for each announcement. Subscribe before attaching.
func (b *Bus) Hellos(arrived func(data []byte)) error {
	_, err := b.conn.Subscribe(helloSubject, func(m *nats.Msg) { arrived(m.Data) })
	if err == nil {
		err = b.conn.Flush()
	}
	return err
}

// Call sends a request to a node and waits for the reply, until ctx ends or the
// node is lost.
func (b *Bus) Call(ctx context.Context, node, verb string, request, reply any) error {
	data, err := json.Marshal(request)
	if err != nil {
		return fmt.Errorf("%s: %s: %w", node, verb, err)
	}
	ctx, cancel := context.WithCancelCause(ctx)
	defer cancel(nil)
	gone := b.lossOf(node).gone
	go func() {
		select {
		case <-gone:
			cancel(errLost)
		case <-ctx.Done():
		}
	}()
	msg, err := b.conn.RequestWithContext(ctx, subject(node, verb), data)
	if err != nil {
		if cause := context.Cause(ctx); cause != nil {
			err = cause
		}
		return fmt.Errorf("%s: %s: %w", node, verb, err)
	}
	var e envelope
	if err := json.Unmarshal(msg.Data, &e); err != nil {
		return fmt.Errorf("%s: %s: unreadable reply: %w", node, verb, err)
	}
	if e.Error != "" {
		return fmt.Errorf("%s: %s", node, e.Error)
	}
	if reply == nil {
		return nil
	}
	if err := json.Unmarshal(e.Reply, reply); err != nil {
		return fmt.Errorf("%s: %s: unreadable reply: %w", node, verb, err)
	}
	return nil
}

var errLost = errors.New("the agent has gone: its stream ended")

// Close ends the bus; every attached stream is closed with it.
func (b *Bus) Close() {
	b.conn.Close()
	b.server.Shutdown()
}

// Handler answers one verb: it decodes the request and returns the reply.
type Handler func(ctx context.Context, request []byte) (reply any, err error)

// Conn is an agent's side.
type Conn struct {
	conn *nats.Conn
	done chan struct{}
}

// Join speaks the client protocol over a stream.
func Join(node string, stream io.ReadWriteCloser) (*Conn, error) {
	c := &Conn{done: make(chan struct{})}
	var once sync.Once
	over := func(*nats.Conn) { once.Do(func() { close(c.done) }) }
	conn, err := nats.Connect("nats://stream:4222",
		nats.SetCustomDialer(dialer{stream}),
		nats.Name(node),
		nats.NoReconnect(),
		nats.Timeout(30*time.Second),
		nats.ClosedHandler(over),
		nats.ErrorHandler(func(*nats.Conn, *nats.Subscription, error) {}),
	)
	if err != nil {
		return nil, fmt.Errorf("joining the bus: %w", err)
	}
	c.conn = conn
	return c, nil
}

// Serve answers the verbs of a node; every request in a goroutine of its own,
// since a trial's window lasts as long as the trial.
func (c *Conn) Serve(ctx context.Context, node string, handlers map[string]Handler) error {
	for verb, handle := range handlers {
		_, err := c.conn.Subscribe(subject(node, verb), func(m *nats.Msg) {
			go func() {
				var e envelope
				reply, err := handle(ctx, m.Data)
				if err == nil {
					e.Reply, err = json.Marshal(reply)
				}
				if err != nil {
					e = envelope{Error: err.Error()}
				}
				data, err := json.Marshal(e)
				if err == nil {
					// A conductor that is gone needs no answer.
					_ = m.Respond(data)
				}
			}()
		})
		if err != nil {
			return fmt.Errorf("serving %s: %w", verb, err)
		}
	}
	return c.conn.Flush()
}

// Announce tells the conductor that the node is there.
func (c *Conn) Announce(hello any) error {
	data, err := json.Marshal(hello)
	if err != nil {
		return err
	}
	if err := c.conn.Publish(helloSubject, data); err != nil {
		return err
	}
	return c.conn.Flush()
}

// Done is closed when the stream has ended.
func (c *Conn) Done() <-chan struct{} { return c.done }

// Close leaves the bus.
func (c *Conn) Close() { c.conn.Close() }

// dialer hands the ready-made stream to the NATS client.
type dialer struct{ stream io.ReadWriteCloser }

func (d dialer) Dial(_, _ string) (net.Conn, error) {
	if conn, ok := d.stream.(net.Conn); ok {
		return conn, nil
	}
	return streamConn{d.stream}, nil
}

// SkipTLSHandshake: the stream is private already (a pipe, or ssh's channel).
func (dialer) SkipTLSHandshake() bool { return true }

// streamConn makes a net.Conn of a pair of pipes, which have no deadlines and
// no addresses.
type streamConn struct{ io.ReadWriteCloser }

func (streamConn) LocalAddr() net.Addr              { return streamAddr{} }
func (streamConn) RemoteAddr() net.Addr             { return streamAddr{} }
func (streamConn) SetDeadline(time.Time) error      { return nil }
func (streamConn) SetReadDeadline(time.Time) error  { return nil }
func (streamConn) SetWriteDeadline(time.Time) error { return nil }

type streamAddr struct{}

func (streamAddr) Network() string { return "stream" }
func (streamAddr) String() string  { return "stream" }
