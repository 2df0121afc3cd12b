package bus

import (
	"cmp"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"math"
	"net"
	"runtime/debug"
	"strings"
	"sync"
	"sync/atomic"
	"syscall"
	"time"

	"github.com/nats-io/nats.go"

	"linerate/internal/model/message"
)

// Handling is a verb and the function that handles its requests.
type Handling struct {
	Name    string
	Access  message.Access
	Handler Handler
}

// Handler decodes a request and returns the reply or an error. The caller receives the code
// of the error (CodeOf).
type Handler func(ctx context.Context, request []byte) (reply any, err error)

// Handle returns a Handling that decodes requests of the verb v and passes them to f.
func Handle[Request, Reply any](v message.Verb[Request, Reply],
	f func(context.Context, Request) (Reply, error)) Handling {
	return HandleEncoded(v, func(ctx context.Context, data []byte) (reply Reply, err error) {
		var request Request
		if err := json.Unmarshal(data, &request); err != nil {
			return reply, Coded(message.Invalid, fmt.Errorf("unreadable request: %w", err))
		}
		return f(ctx, request)
	})
}

// HandleEncoded is like Handle, for an f that decodes the request itself, within bounds of
// its own.
func HandleEncoded[Request, Reply any](v message.Verb[Request, Reply],
	f func(context.Context, []byte) (Reply, error)) Handling {
	return Handling{v.Name, v.Access, func(ctx context.Context, data []byte) (any, error) { return f(ctx, data) }}
}

// Conn is an agent's end of the bus.
type Conn struct {
	node   string
	conn   *nats.Conn
	heard  chan struct{}
	done   chan struct{}
	silent error // set before done is closed

	mu      sync.Mutex
	serving map[string]func(*nats.Msg) // by verb; nil: no request is handled yet
}

// Silence is how long an agent keeps a connection on which nothing arrives, although a
// reachable conductor sends pings. When a network fails, no stream ends; without this bound,
// settings would stay applied on a host.
const Silence = 2 * time.Minute

// silenceChecks is how often within that time the connection is checked; every check has to
// find it silent, so that an agent that was itself stopped for longer reads first what
// has arrived.
const silenceChecks = 8

// Closed reports whether err means that the other end has closed the stream.
func Closed(err error) bool {
	return errors.Is(err, io.EOF) || errors.Is(err, nats.ErrConnectionClosed) || errors.Is(err, syscall.ECONNRESET) ||
		errors.Is(err, syscall.EPIPE)
}

// Join connects an agent to the bus over a stream. It closes the stream when nothing has
// arrived for the time silence; 0: never, for a stream whose end is always noticed, such as a
// socket pair.
func Join(node string, stream net.Conn, silence time.Duration) (*Conn, error) {
	c := &Conn{node: node, heard: make(chan struct{}, 1), done: make(chan struct{})}
	var once sync.Once
	over := func(*nats.Conn) { once.Do(func() { close(c.done) }) }
	heard := &activityReader{Conn: stream}
	conn, err := nats.Connect("nats://stream:4222",
		nats.SetCustomDialer(dialer{heard}),
		nats.PingInterval(silence/silenceChecks),
		nats.MaxPingsOutstanding(math.MaxInt), // see activityReader
		nats.SkipHostLookup(),                 // the stream is there, and has no name
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
		for quiet := 0; quiet < silenceChecks; quiet++ {
			select {
			case <-c.done:
				return
			case <-time.After(silence / silenceChecks):
			}
			if heard.active.Swap(false) {
				quiet = -1
				select {
				case c.heard <- struct{}{}:
				default: // it has not been received since the last time
				}
			}
		}
		once.Do(func() {
			c.silent = fmt.Errorf("nothing was received from the conductor for %v", silence)
			close(c.done)
		})
		stream.Close()
	}()
	return c, nil
}

// activityReader notes that data arrived. The client library counts pings itself, but not
// while it is blocked in a write.
type activityReader struct {
	net.Conn
	active atomic.Bool
}

func (l *activityReader) Read(p []byte) (int, error) {
	n, err := l.Conn.Read(p)
	if n > 0 {
		l.active.Store(true)
	}
	return n, err
}

// Gate limits the requests of a conductor. The zero value is for a trusted one, and prevents
// only that mistakes exhaust a host.
type Gate struct {
	// Admit decides about a request of a verb, with this number of bytes, before it is
	// handled; its error is the reply. The request is handled in the returned context, and
	// done is called when the reply has been sent. Admit must not block. Nil: at most
	// maxConcurrent requests of each verb are handled at a time.
	Admit func(ctx context.Context, verb string, bytes int) (_ context.Context, done func(), err error)
	// PendingBytes bounds the size of the requests that are not admitted yet, in bytes; 0: no
	// bound. Requests beyond it are dropped.
	PendingBytes int
}

const (
	maxConcurrent = 16   // requests of one verb that are being handled
	maxPending    = 1024 // requests of all verbs that have not been admitted yet
)

// concurrent admits so many requests of each verb at a time.
func concurrent(most int) func(context.Context, string, int) (context.Context, func(), error) {
	var mu sync.Mutex
	handled := map[string]int{}
	return func(ctx context.Context, verb string, _ int) (context.Context, func(), error) {
		mu.Lock()
		defer mu.Unlock()
		if handled[verb] == most {
			return nil, nil, Coded(message.Busy, fmt.Errorf("%s: %d such requests are being handled", verb, most))
		}
		handled[verb]++
		return ctx, func() {
			mu.Lock()
			defer mu.Unlock()
			handled[verb]--
		}, nil
	}
}

// Serve handles the verbs in list for the node until ctx ends, besides those of earlier calls, each
// request in a goroutine of its own, because the window of a trial takes as long as the trial. The
// gate of the first call bounds what is pending. All verbs share a subscription: a lab has many agents,
// and each subscription costs a goroutine here and an entry in the server.
func (c *Conn) Serve(ctx context.Context, list []Handling, gate Gate) error {
	if gate.Admit == nil {
		gate.Admit = concurrent(maxConcurrent)
	}
	c.mu.Lock()
	first := c.serving == nil
	if first {
		c.serving = make(map[string]func(*nats.Msg), len(list))
	}
	for _, h := range list {
		c.serving[h.Name] = func(m *nats.Msg) { serve(ctx, m, h, gate) }
	}
	c.mu.Unlock()
	if !first {
		return nil
	}
	sub, err := c.conn.Subscribe(subject(c.node, "*"), c.request)
	if err == nil {
		err = sub.SetPendingLimits(maxPending, cmp.Or(gate.PendingBytes, -1))
	}
	if err != nil {
		return fmt.Errorf("serving %s: %w", c.node, err)
	}
	return c.conn.Flush()
}

// request begins to handle a request.
func (c *Conn) request(m *nats.Msg) {
	verb := strings.TrimPrefix(m.Subject, subject(c.node, ""))
	c.mu.Lock()
	begin := c.serving[verb]
	c.mu.Unlock()
	if begin == nil {
		_ = m.Respond(refusal(Coded(message.Unsupported, fmt.Errorf("%s: %w", verb, errUnanswered))))
		return
	}
	begin(m)
}

// serve begins to handle a request of a verb, if the gate admits it.
func serve(ctx context.Context, m *nats.Msg, h Handling, gate Gate) {
	ctx, done, err := gate.Admit(ctx, h.Name, len(m.Data))
	if err != nil {
		_ = m.Respond(refusal(err))
		return
	}
	go func() {
		defer done()
		err := m.Respond(handled(ctx, h.Handler, m.Data))
		if errors.Is(err, nats.ErrMaxPayload) {
			// Without a reply the conductor would wait for one.
			err = m.Respond(refusal(Coded(message.TooLarge, fmt.Errorf("the reply to %s has more than %d MiB",
				h.Name, MaxMessage>>20))))
		}
		_ = err // a conductor that is gone needs no answer
	}()
}

// handled calls a handler and encodes its reply or error. A handler that panics fails its
// own request: the agent must go on, to revert what it has changed.
func handled(ctx context.Context, handle Handler, request []byte) (data []byte) {
	defer func() {
		if why := recover(); why != nil {
			data = refusal(Coded(message.Crashed, fmt.Errorf("the agent failed: %v\n%s", why, debug.Stack())))
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

// refusal encodes an error with its code, which is always possible.
func refusal(err error) []byte {
	data, _ := json.Marshal(envelope{Error: Failure(err)})
	return data
}

// Announce sends the node's first message (hello) to the conductor.
func (c *Conn) Announce(hello message.Hello) error {
	data, err := json.Marshal(hello)
	if err != nil {
		return err
	}
	if err := c.conn.Publish(helloSubjects+c.node, data); err != nil {
		return err
	}
	return c.conn.Flush()
}

// Done returns a channel that is closed when the stream has ended or was silent for too long.
func (c *Conn) Done() <-chan struct{} { return c.done }

// Heard returns a channel that receives a value from time to time while data arrives.
func (c *Conn) Heard() <-chan struct{} { return c.heard }

// Err returns why the stream was closed, after Done; nil: the stream ended.
func (c *Conn) Err() error { return c.silent }

// Close disconnects from the bus.
func (c *Conn) Close() { c.conn.Close() }

// dialer hands the ready-made stream to the NATS client.
type dialer struct{ stream net.Conn }

func (d dialer) Dial(_, _ string) (net.Conn, error) { return d.stream, nil }

// SkipTLSHandshake returns true: the stream is private already (a pipe, or ssh's channel).
func (dialer) SkipTLSHandshake() bool { return true }
