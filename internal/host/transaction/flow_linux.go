package transaction

import (
	"fmt"
	"math/rand/v2"
	"net/netip"
	"sync"
	"sync/atomic"
	"time"

	"linerate/internal/host/flowset"
	"linerate/internal/host/handshake"
	"linerate/internal/host/socket"
	"linerate/internal/kernel/sock"
	"linerate/internal/model/flow"
	"linerate/internal/model/message"
)

// earlyEnd is how much before the agreed stop a connection may end without being
// lost: the two hosts' clocks differ.
const earlyEnd = 50 * time.Millisecond

// rrFlow is one end of a flow of transactions: its connections, or a process's part
// of them, and the threads that work on them.
type rrFlow struct {
	flowset.State // its addresses are the first connection's
	engine        *Engine
	isClient      bool
	udp           bool    // requests and responses are datagrams
	polls         bool    // its threads poll
	follows       bool    // its threads run on the CPU that their packets come to
	part          part    // which of the flow's connections are here
	cookie        []byte  // what a connection sends first
	opener        *opener // of crr's connections

	// arrived counts connections that have been accepted or connected, active those
	// that are open and assigned to a thread.
	arrived, active atomic.Int64
	// listenerThread is the thread of the shared listener that hands over this flow's
	// connections; 0: none has so far.
	listenerThread atomic.Int64
	// listener accepts crr's connections, if it is not shared; -1: none.
	listener atomic.Int32
	acceptMu sync.Mutex // one client over UDP is accepted at a time

	mu         sync.Mutex // never taken while transactions are made
	workers    []*worker
	hasWorkers bool           // all of them: connections may be assigned
	wakeup     *sock.EventFD  // ends the workers' waiting
	fds        []int32        // of every connection that there has been
	listens    netip.AddrPort // of a listener of the flow's own
	// clients are the sockets of clients over UDP, ready the frame that each repeats
	// when its client asks again.
	clients    map[netip.AddrPort]int32
	ready      map[int32]handshake.Ready
	lostConns  int64
	lossReason string // of the first of them
	closed     bool   // nothing is registered any more
}

func newFlow(e *Engine, order message.FlowRequest, p part) *rrFlow {
	f := &rrFlow{
		State: flowset.State{Request: order}, engine: e, isClient: order.Remote.IsValid(), part: p,
		udp: order.Protocol == flow.UDPRR, polls: flow.On(order.Poll), follows: flow.On(order.Follow),
	}
	f.listener.Store(-1)
	return f
}

// connections is how many there are to be here.
func (f *rrFlow) connections() int { return f.part.size() }

// oneSegment is what fits into the first segment with a cookie, on any path.
const oneSegment = 400

func requestBytes(o message.FlowRequest) int  { return int(max(1, o.Request)) }
func responseBytes(o message.FlowRequest) int { return int(max(1, o.Response)) }

// payload is what is sent, over and over: random, so that no link on the way can
// compress it.
var payload = func() []byte {
	data := make([]byte, 64<<10)
	_, _ = rand.NewChaCha8([32]byte{1}).Read(data) // never fails
	return data
}()

// connLost notes that a connection is no more. Its descriptor is closed with the
// engine, so that its number names nothing else meanwhile.
func (f *rrFlow) connLost(fd int, err error) {
	if f.engine.Signals.Quit.Load() {
		return
	}
	if !f.isCRR() {
		f.active.Add(-1)
	}
	if stop := f.engine.Window().StopNs; stop != 0 && socket.Now() >= stop-int64(earlyEnd) {
		return
	}
	reason := "the peer closed the connection before its time"
	local, remote := sock.Addresses(fd)
	if err != nil {
		reason = socket.Reason(err, remote.Addr()).Error()
	}
	f.mu.Lock()
	defer f.mu.Unlock()
	f.lostConns++
	if f.lossReason == "" {
		f.lossReason = pathName(local, remote) + ": " + reason
		if !remote.IsValid() { // the kernel has forgotten
			f.lossReason = reason
		}
	}
}

// Status is why there is no flow, or not all of it; nil: there is.
func (f *rrFlow) Status() *message.Error {
	f.mu.Lock()
	defer f.mu.Unlock()
	n := f.connections()
	if f.isCRR() {
		n = 1 // has shown that the peer responds
	}
	failure := f.Failure()
	status := func(format string, args ...any) *message.Error {
		return &message.Error{Text: fmt.Sprintf(format, args...)}
	}
	switch arrived := f.arrived.Load() < int64(n); {
	case failure != nil:
		return failure
	case f.closed:
		return status("closed")
	case f.lostConns > 0 && f.isCRR():
		return status("%s failed; the first: %s", plural(int(f.lostConns), "connection"), f.lossReason)
	case f.lostConns > 0:
		return status("%d of %s lost; the first: %s", f.lostConns, plural(n, "connection"), f.lossReason)
	case arrived && f.listens.IsValid():
		return status("%d of %s accepted at %s", f.active.Load(), plural(n, "connection"), f.listens)
	case arrived && !f.isClient:
		return status("%d of %s have shown the flow's cookie", f.active.Load(), plural(n, "connection"))
	case f.active.Load() == 0:
		return status("not connected yet")
	}
	return nil
}

// Settled says that there is nothing to wait for: all connections are open, or the
// flow has failed.
func (f *rrFlow) Settled() bool {
	f.mu.Lock()
	defer f.mu.Unlock()
	if f.isCRR() && f.active.Load() > 0 {
		return true // the others are opened as they are needed
	}
	return f.Failure() != nil || f.closed || f.active.Load()+f.lostConns >= int64(f.connections())
}

// makeWorkers makes the threads' state, and the eventfd that wakes them.
func (f *rrFlow) makeWorkers() error {
	bell, err := sock.NewEventFD()
	if err != nil {
		return err
	}
	n := f.connections()
	threads := min(max(1, f.Request.Threads), n)
	var workers []*worker
	for i := range threads {
		w := newWorker(f, f.part.of(i, threads))
		if n > threads || f.isCRR() {
			if w.epoll, err = sock.NewEpoll(); err == nil {
				err = bell.AddTo(w.epoll, wakeupTag)
			}
		}
		workers = append(workers, w)
		if err != nil {
			break
		}
	}
	f.mu.Lock()
	closed := f.closed
	if !closed {
		f.wakeup, f.workers, f.hasWorkers = bell, workers, err == nil
	}
	f.mu.Unlock()
	if closed { // nothing releases them
		for _, w := range workers {
			if w.epoll != nil {
				w.epoll.Close()
			}
		}
		bell.Close()
		return flowset.ErrClosed
	}
	return err
}

// oneConnPerThread says that each thread has one connection at most and waits for that.
func (f *rrFlow) oneConnPerThread() bool {
	return f.connections() <= max(1, f.Request.Threads) && !f.isCRR()
}

// sharesListener says that connections for one transaction each come from a listener
// that flows share.
func (f *rrFlow) sharesListener() bool { return f.isCRR() && !f.isClient && !f.Request.Cookie.IsZero() }

// isCRR says that each transaction has a connection of its own.
func (f *rrFlow) isCRR() bool { return f.Request.Protocol == flow.CRR }

// setSocketOptions gives a connection the options that it has not got from a listener.
func (f *rrFlow) setSocketOptions(fd int, offered bool) error {
	if f.udp {
		return f.setTimeouts(fd)
	}
	if offered {
		if err := socket.PrepareAccepted(f.Request, fd); err != nil {
			return err
		}
	}
	if f.isCRR() && max(requestBytes(f.Request), responseBytes(f.Request)) <= oneSegment {
		return nil // nothing waits for anything
	}
	if err := f.setTimeouts(fd); err != nil {
		return err
	}
	if err := sock.SetNoDelay(fd, f.Request.NoDelay == nil || *f.Request.NoDelay); err != nil {
		return fmt.Errorf("setting TCP_NODELAY: %w", err)
	}
	return nil
}

// setTimeouts has who waits for room or data look now and then whether the engine closes,
// where nothing else would tell him.
func (f *rrFlow) setTimeouts(fd int) error {
	if !f.oneConnPerThread() {
		return nil
	}
	if err := sock.SetTimeouts(fd, checkInterval); err != nil {
		return fmt.Errorf("setting SO_SNDTIMEO and SO_RCVTIMEO: %w", err)
	}
	return nil
}

// register adds a connection, which gets a number that no other has. False: the set
// has closed, and so is the connection. It is called with the lock.
func (f *rrFlow) register(fd int) (number int, kept bool) {
	if f.closed {
		closeReset(fd)
		return 0, false
	}
	if len(f.fds) == 0 {
		local, remote := sock.Addresses(fd)
		f.Open(local, remote, nil)
	}
	f.fds = append(f.fds, int32(fd))
	return len(f.fds) - 1, true
}

// closeReset closes a connection with RST, so that neither end goes on sending what
// is buffered or stays in TIME_WAIT.
func closeReset(fd int) {
	_ = sock.SetLingerZero(fd)
	sock.CloseSocket(fd)
}

// Claim says that a connection with this cookie is one of the flow's.
func (f *rrFlow) Claim(cookie message.Cookie) bool {
	if f.isClient || f.udp || f.Request.Cookie != cookie || cookie.IsZero() {
		return false
	}
	f.mu.Lock()
	defer f.mu.Unlock()
	if !f.hasWorkers || f.closed || f.Failure() != nil || f.arrived.Load() >= int64(f.connections()) && !f.isCRR() {
		return false
	}
	f.arrived.Add(1)
	return true
}

// Expects says whether the flow is over UDP and awaits a client with this cookie.
func (f *rrFlow) Expects(cookie message.Cookie) bool {
	if !f.udp || f.isClient || f.Request.Cookie != cookie {
		return false
	}
	f.mu.Lock()
	defer f.mu.Unlock()
	return f.hasWorkers && !f.closed && f.Failure() == nil && f.arrived.Load() < int64(f.connections())
}

// Abandon fails a flow that still awaits connections: the client has given up.
func (f *rrFlow) Abandon() {
	if !f.Settled() {
		f.Fail("the client has given up: %d of %d connections were open", f.active.Load(), f.connections())
	}
}

// Close wakes the threads, which end then.
func (f *rrFlow) Close() {
	f.State.Close()
	f.mu.Lock()
	f.closed = true
	wakeup, fds := f.wakeup, f.fds
	f.mu.Unlock()
	if wakeup != nil {
		wakeup.Signal()
	}
	if f.oneConnPerThread() {
		for _, fd := range fds {
			sock.ShutdownRead(int(fd))
		}
	}
}

// Release closes all descriptors; the threads have ended.
func (f *rrFlow) Release() {
	f.mu.Lock()
	fds, workers, wakeup := f.fds, f.workers, f.wakeup
	f.fds, f.wakeup = nil, nil
	f.mu.Unlock()
	for _, fd := range fds {
		closeReset(int(fd))
	}
	if listener := f.listener.Swap(-1); listener >= 0 {
		sock.CloseSocket(int(listener))
	}
	for _, w := range workers {
		if w.epoll != nil {
			w.epoll.Close()
			w.epoll = nil
		}
	}
	if wakeup != nil {
		wakeup.Close()
	}
}
