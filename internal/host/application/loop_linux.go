//go:build !portable

package application

import (
	"context"
	"errors"
	"math/rand/v2"
	"os"
	"runtime"
	"slices"
	"sync"
	"sync/atomic"
	"time"

	"linerate/internal/host/flowset"
	"linerate/internal/kernel/sched"
	"linerate/internal/kernel/sock"
	"linerate/internal/model/flow"
	"linerate/internal/model/record"
)

const (
	// wakeTag is the tag of the eventfd that wakes a loop.
	wakeTag = -1
	// manyClients is the number from which a loop lets a server on the same CPUs work on several requests before it
	// runs again (SCHED_BATCH): several are always due together.
	manyClients = 256
	// mostReads limits how often one connection is read before others have their turn.
	mostReads = 16
	// mostDatagrams is how many datagrams are sent or received by one system call.
	mostDatagrams = 64
)

// loop makes the transactions of some of a flow's clients on one thread, by system calls. It allocates nothing for a
// transaction on an open connection. It opens connections itself; only what waits for a resolver or for linerate's
// server over UDP, handshakes of TLS and greetings are left to goroutines.
type loop struct {
	f         *appFlow
	codec     Codec
	datagrams bool
	epoll     *sock.Epoll
	wakeup    *sock.EventFD
	from, to  *sock.Peer // of connections over TCP. from: nil: the kernel selects; to: nil: see open
	cookie    []byte     // what a connection over TCP begins with
	arrivals  *arrivals
	recorder  *recorder
	clients   []client
	free      queue   // clients that wait for the next time of the schedule, in turn
	resting   queue   // clients that wait after a failure, in the order of its time
	stuck     []int32 // clients whose datagrams found no room, each once
	first     *Call   // the unanswered requests in the order of beginning
	final     *Call
	now       int64
	awaits    bool   // a connection begins with a dialogue, which a goroutine has
	buffer    []byte // what was received
	plain     []byte // the same, without TLS
	out       []byte // what is being sent
	sender    *sock.DatagramSender
	// unsegmented says that a device or the kernel cannot send datagrams as segments of one.
	unsegmented bool
	receiver    *sock.DatagramReceiver
	spin        sched.Spin
	spins       bool // whether it may spin before it sleeps: it has one request at a time
	polls       bool // whether it spins instead of sleeping
	done        chan struct{}

	inFlight, oldest atomic.Int64 // unanswered requests, and the due time of the first; 0: none
	established      atomic.Int64 // connections that are open
	thread, spent    atomic.Int64 // its ID while it runs, and its CPU time at the latest reading, in ns

	mu     sync.Mutex // held for assignments, and for closing descriptors, which others may read from
	opened []opened
}

// client is the part of a session that a loop has: its connection, and the requests on it.
type client struct {
	s       *coded
	fd      int   // of its connection; -1: it has none
	wire    *wire // of its connection's TLS; nil: without
	parser  Parser
	index   int32
	number  uint64 // of the next request
	pending Pending
	unsent  []*Call // requests of which nothing has been written
	out     []byte  // the rest of a request, for which there was no room
	body    int64   // bytes of payload to be written after it
	uses    int     // requests of the connection
	segment int     // UDP_SEGMENT of the socket; 0: off
	heard   int64   // when the connection last received
	until   int64   // when it has rested; 0: it does not rest
	began   int64   // when the connection was begun
	resent  int64   // segments that it has sent again until the latest reading

	opening    bool // a goroutine does what must come before connecting
	connecting bool // the connection is not open yet
	retired    bool // no further request may use the connection
	over       bool // the server ends it, and answers nothing more
	queued     bool // it is in free
	stuck      bool // it is in stuck
}

// opened is what a goroutine has found or opened for a client: where to connect to, or a connection.
type opened struct {
	client int32
	to     *sock.Peer
	conn   *codedConn
	x      Exchange // its phases
	err    error
}

// newLoops returns the loops that make a flow's transactions instead of its sessions; none if its protocol has no
// codec.
func (f *appFlow) newLoops() ([]*loop, error) {
	if _, is := f.sessions[0].(*coded); !is {
		return nil, nil
	}
	threads := min(max(1, f.Request.Threads), len(f.sessions))
	var all []*loop
	for i := range threads {
		l := &loop{f: f, codec: f.sessions[0].(*coded).codec, recorder: newRecorder(), done: make(chan struct{}),
			datagrams: f.overUDP(), buffer: make([]byte, receiveBytes),
			arrivals: newArrivals(&f.engine.Signals, f.Request.Spec, i, threads), polls: flow.On(f.Request.Poll)}
		_, greets := l.codec.(Greeter)
		if l.awaits = greets || l.datagrams || Encrypted(f.Request.Spec); l.awaits && !l.datagrams {
			l.plain = make([]byte, receiveBytes)
		}
		if l.datagrams {
			l.sender = sock.NewDatagramSender(mostDatagrams)
			l.receiver = sock.NewDatagramReceiver(mostDatagrams, longestDatagram)
		}
		for k := i; k < len(f.sessions); k += threads {
			l.clients = append(l.clients, client{s: f.sessions[k].(*coded), fd: -1, index: int32(len(l.clients)),
				number: rand.Uint64(), pending: NewPending(f.Request.Pipeline)})
		}
		all = append(all, l)
		l.free, l.resting = newQueue(len(l.clients)), newQueue(len(l.clients))
		err := l.address()
		if err == nil {
			l.epoll, err = sock.NewEpoll()
		}
		if err == nil {
			if l.wakeup, err = sock.NewEventFD(); err == nil {
				err = l.wakeup.AddTo(l.epoll, wakeTag)
			}
		}
		if err != nil {
			for _, l := range all {
				l.close()
			}
			return nil, err
		}
	}
	return all, nil
}

// longestDatagram limits the datagrams that are received, in bytes.
const longestDatagram = 4 << 10

// close closes the loop's own descriptors.
func (l *loop) close() {
	if l.epoll != nil {
		l.epoll.Close()
	}
	if l.wakeup != nil {
		l.wakeup.Close()
	}
}

// end says that the loop has ended, or will not run.
func (l *loop) end() { close(l.done) }

// stop ends the loop, waits for that, and closes its connections. The engine must be closing.
func (l *loop) stop() {
	l.wakeup.Signal()
	<-l.done
	for i := range l.clients {
		l.disconnect(&l.clients[i])
	}
}

// run makes transactions until the flow stops and all are answered, or the engine closes.
func (l *loop) run() {
	defer l.end()
	// The goroutine stays locked, so that its thread, whose attributes change, ends with it.
	runtime.LockOSThread()
	release, own := sched.Dedicate(l.polls)
	defer release()
	l.epoll.Raw = own
	l.spins = own && l.f.Request.Poll == nil && len(l.clients) == 1 && l.f.Request.Pipeline <= 1
	sched.SetTimerSlack(true)
	l.thread.Store(int64(sched.ThreadID()))
	defer func() {
		l.busy()
		l.thread.Store(0)
	}()
	if len(l.clients) >= manyClients {
		sched.SetBatch()
	}
	l.now = sched.Now()
	for i := range l.clients {
		l.adopt(&l.clients[i])
	}
	for signals := &l.f.engine.Signals; !signals.Quit.Load(); {
		l.now = sched.Now()
		l.install()
		l.expire()
		limit := l.beginDue()
		if l.first == nil && l.now >= signals.Stop.Load() {
			return
		}
		n := l.wait(limit)
		l.now = sched.Now()
		for i := range n {
			tag, read, write := l.epoll.Event(i)
			switch c := &l.clients[max(0, tag)]; {
			case tag == wakeTag:
				l.wakeup.Clear()
			case c.fd < 0: // closed after an earlier event
			default:
				l.advance(c, read, write)
			}
		}
	}
}

// hasRoom reports whether a client can make another request.
func (l *loop) hasRoom(c *client) bool {
	return !c.retired && c.until == 0 && len(c.pending.free) > 0
}

// ready lets a client make requests, now or when they are due.
func (l *loop) ready(c *client) {
	if l.arrivals.gapNs == 0 {
		for l.hasRoom(c) && !l.arrivals.ends(l.now) {
			l.begin(c, l.now)
		}
		l.flush(c)
		return
	}
	if !c.queued && l.hasRoom(c) {
		c.queued = true
		l.free.push(c.index)
	}
}

// beginDue begins the requests that are due, ends the rest of clients, and returns how long the loop may wait.
func (l *loop) beginDue() time.Duration {
	for l.resting.n > 0 && l.clients[l.resting.head()].until <= l.now {
		c := &l.clients[l.resting.pop()]
		c.until = 0
		l.ready(c)
	}
	limit := int64(flowset.CheckInterval)
	for l.free.n > 0 {
		c := &l.clients[l.free.head()]
		due, ok := int64(0), false
		if l.hasRoom(c) {
			if due, ok = l.arrivals.passed(l.now); !ok {
				if due > l.now {
					limit = min(limit, due-l.now)
				}
				break
			}
		}
		l.free.pop()
		if c.queued = false; !ok {
			continue // its connection ended meanwhile
		}
		l.begin(c, due)
		l.flush(c)
		l.ready(c)
	}
	if len(l.stuck) > 0 { // there is no event when there is room
		limit = min(limit, int64(time.Millisecond))
		again := slices.Clone(l.stuck)
		l.stuck = l.stuck[:0]
		for _, i := range again {
			l.clients[i].stuck = false
			l.flush(&l.clients[i])
		}
	}
	if l.resting.n > 0 {
		limit = min(limit, l.clients[l.resting.head()].until-l.now)
	}
	if l.first != nil {
		// A request whose connection is being opened has its end from that.
		limit = min(limit, max(l.first.deadline-l.now, int64(time.Millisecond)))
	}
	return time.Duration(max(0, limit))
}

// begin begins a request.
func (l *loop) begin(c *client, due int64) {
	call := c.pending.Add()
	call.own = Exchange{due: due, began: l.now}
	call.x, call.Number, call.client, call.deadline = &call.own, c.number, c.index, l.now+int64(l.f.timeout())
	if l.arrivals.gapNs > 0 {
		call.own.phases[record.PhaseWait] = l.now - due
	}
	c.number++
	c.unsent = append(c.unsent, call)
	if c.uses++; c.uses == l.f.Request.PerConnection {
		c.retired = true
	}
	if call.prev = l.final; l.final != nil {
		l.final.next = call
	} else {
		l.first = call
	}
	l.final = call
	l.publish(1)
	if c.fd < 0 && !c.opening {
		l.open(c)
	}
}

// publish updates what readers of the flow's counts see of the unanswered requests.
func (l *loop) publish(more int64) {
	oldest := int64(0)
	if l.first != nil {
		oldest = l.first.x.due
	}
	l.oldest.Store(oldest)
	l.inFlight.Store(l.inFlight.Load() + more)
}

// forget removes a request that was answered or given up.
func (l *loop) forget(c *client, call *Call) {
	if call.prev != nil {
		call.prev.next = call.next
	} else {
		l.first = call.next
	}
	if call.next != nil {
		call.next.prev = call.prev
	} else {
		l.final = call.prev
	}
	c.pending.remove(call)
	l.publish(-1)
}

// advance writes and reads what is possible on a connection.
func (l *loop) advance(c *client, read, write bool) {
	if c.connecting {
		if err := sock.SocketError(c.fd); err != nil {
			l.fail(c, os.NewSyscallError("connect", err))
			return
		}
		l.connected(c)
	} else if write && (len(c.out) > 0 || c.body > 0) {
		l.flush(c)
	}
	if read && c.fd >= 0 {
		if l.datagrams {
			l.receiveDatagrams(c)
		} else {
			l.receive(c)
		}
	}
	l.settle(c)
	l.ready(c)
}

// errAnotherTimeout means that a request was given up because an earlier one on its connection was.
var errAnotherTimeout = errors.New("the answer to an earlier request did not come in time")

// expire gives up the requests that have not been answered in time.
func (l *loop) expire() {
	for call := l.first; call != nil && call.deadline <= l.now; {
		next := call.next
		if c := &l.clients[call.client]; !c.opening {
			l.forget(c, call)
			if i := slices.Index(c.unsent, call); i >= 0 {
				c.unsent = slices.Delete(c.unsent, i, i+1)
			}
			l.resent(c, call.x)
			l.f.conclude(call.x, context.DeadlineExceeded, l.recorder)
			switch {
			case c.connecting:
				l.fail(c, context.DeadlineExceeded)
				next = l.first
			case l.codec.Ordered():
				l.fail(c, errAnotherTimeout)
				next = l.first
			case c.heard < call.sent:
				c.retired = true
			}
			l.rest(c)
		}
		call = next
	}
}

// fail gives up all requests of a client, and its connection.
func (l *loop) fail(c *client, err error) {
	for call := c.pending.Oldest(); call != nil; call = c.pending.Oldest() {
		l.forget(c, call)
		l.f.conclude(call.x, err, l.recorder)
	}
	l.disconnect(c)
	c.unsent, c.retired, c.uses = c.unsent[:0], false, 0
	l.rest(c)
}

// rest lets a client wait after a failure, unless a schedule decides when requests are made.
func (l *loop) rest(c *client) {
	l.settle(c)
	if l.arrivals.gapNs == 0 && c.until == 0 {
		c.until = l.now + int64(backOff)
		l.resting.push(c.index)
	}
	l.ready(c)
}

// waiting returns how many requests are unanswered, and since when the first of them is due; 0: there is none.
func (l *loop) waiting() (n, since int64) { return l.inFlight.Load(), l.oldest.Load() }
