package bus

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"math"
	"net"
	"runtime/debug"
	"sync"
	"sync/atomic"
	"time"

	"github.com/nats-io/nats.go"
)

// Handler answers one verb: it decodes the request and returns the reply.
type Handler func(ctx context.Context, request []byte) (reply any, err error)

// Conn is an agent's side.
type Conn struct {
	node string
	conn *nats.Conn
	done chan struct{}
}

// Silence is for how long an agent waits for a word of its conductor, who answers
// pings as long as there is a way. A network that was cut ends no stream, and must
// not leave a host with settings on.
const Silence = 2 * time.Minute

// looks is how often silence is looked for in its time: each look has to find it, so
// that an agent that was itself stopped for longer hears its conductor first.
const looks = 8

// Join speaks the client protocol over a stream. It is given up after that silence;
// 0: never, for a stream whose end is seen, however long the other side is stopped.
func Join(node string, stream io.ReadWriteCloser, silence time.Duration) (*Conn, error) {
	c := &Conn{node: node, done: make(chan struct{})}
	var once sync.Once
	over := func(*nats.Conn) { once.Do(func() { close(c.done) }) }
	heard := &listener{ReadWriteCloser: stream}
	conn, err := nats.Connect("nats://stream:4222",
		nats.SetCustomDialer(dialer{heard}),
		nats.PingInterval(silence/looks),
		nats.MaxPingsOutstanding(math.MaxInt), // see listener
		nats.SkipHostLookup(),                 // the stream is there: its name is nobody's
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
	if silence == 0 {
		return c, nil
	}
	go func() {
		for quiet := 0; quiet < looks; quiet++ {
			select {
			case <-c.done:
				return
			case <-time.After(silence / looks):
			}
			if heard.something.Swap(false) {
				quiet = -1
			}
		}
		over(conn)
		stream.Close()
	}()
	return c, nil
}

// listener notes that something has come from the other end. The client library
// counts pings itself, but cannot while it waits to write.
type listener struct {
	io.ReadWriteCloser
	something atomic.Bool
}

func (l *listener) Read(p []byte) (int, error) {
	n, err := l.ReadWriteCloser.Read(p)
	if n > 0 {
		l.something.Store(true)
	}
	return n, err
}

// No conductor asks for more at once. What exceeds both is dropped, so that
// whoever asks without end costs no more than this.
const (
	atOnce  = 16 // requests of a verb that are being answered
	waiting = 16 // and that wait for it
)

// Serve answers the verbs of its node; every request in a goroutine of its own,
// since a trial's window lasts as long as the trial.
func (c *Conn) Serve(ctx context.Context, handlers map[string]Handler) error {
	for verb, handle := range handlers {
		answering := make(chan struct{}, atOnce)
		sub, err := c.conn.Subscribe(subject(c.node, verb), func(m *nats.Msg) {
			select {
			case answering <- struct{}{}:
			case <-ctx.Done():
				return
			}
			go func() {
				defer func() { <-answering }()
				err := m.Respond(answer(ctx, handle, m.Data))
				if errors.Is(err, nats.ErrMaxPayload) {
					// Without any answer the conductor would wait for one.
					err = m.Respond(refusal(Coded(TooLarge, fmt.Errorf("the reply to %s has more than %d MiB", verb, maxMessage>>20))))
				}
				_ = err // a conductor that is gone needs no answer
			}()
		})
		if err == nil {
			err = sub.SetPendingLimits(waiting, -1)
		}
		if err != nil {
			return fmt.Errorf("serving %s: %w", verb, err)
		}
	}
	return c.conn.Flush()
}

// answer is what a handler has to say, encoded. A handler that panics fails its
// own request: the agent must live to revert what it has changed.
func answer(ctx context.Context, handle Handler, request []byte) (data []byte) {
	defer func() {
		if why := recover(); why != nil {
			data = refusal(Coded(Crashed, fmt.Errorf("the agent failed: %v\n%s", why, debug.Stack())))
		}
	}()
	reply, err := handle(ctx, request)
	if err != nil {
		return refusal(err)
	}
	var e envelope
	if e.Reply, err = json.Marshal(reply); err == nil {
		data, err = json.Marshal(e)
	}
	if err != nil {
		return refusal(err)
	}
	return data
}

// refusal encodes an error with its code. Strings can always be encoded.
func refusal(err error) []byte {
	text := err.Error()
	if text == "" {
		text = "failed without saying why"
	}
	data, _ := json.Marshal(envelope{Error: text, Code: CodeOf(err)})
	return data
}

// Announce tells the conductor that the node is there.
func (c *Conn) Announce(hello any) error {
	data, err := json.Marshal(hello)
	if err != nil {
		return err
	}
	if err := c.conn.Publish(helloSubjects+c.node, data); err != nil {
		return err
	}
	return c.conn.Flush()
}

// Done is closed when the stream has ended, or nothing has come by it for long.
func (c *Conn) Done() <-chan struct{} { return c.done }

// Close leaves the bus.
func (c *Conn) Close() { c.conn.Close() }

// dialer hands the ready-made stream to the NATS client.
type dialer struct{ *listener }

func (d dialer) Dial(_, _ string) (net.Conn, error) {
	if conn, ok := d.ReadWriteCloser.(net.Conn); ok {
		return heardConn{conn, d.listener}, nil
	}
	return streamConn{d.listener}, nil
}

// SkipTLSHandshake: the stream is private already (a pipe, or ssh's channel).
func (dialer) SkipTLSHandshake() bool { return true }

// heardConn is a connection that a listener hears.
type heardConn struct {
	net.Conn
	listener *listener
}

func (c heardConn) Read(p []byte) (int, error) { return c.listener.Read(p) }

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
