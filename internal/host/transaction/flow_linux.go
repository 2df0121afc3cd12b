package transaction

import (
	"errors"
	"fmt"
	"math/rand/v2"
	"net/netip"
	"sync"
	"sync/atomic"
	"time"

	"linerate/internal/host/handshake"
	"linerate/internal/host/socket"
	"linerate/internal/kernel/sock"
	modelflow "linerate/internal/model/flow"
	"linerate/internal/model/message"
	"linerate/internal/model/record"
)

// earlyEnd is how much before the agreed stop a connection may end without being
// lost: the two hosts' clocks differ.
const earlyEnd = 50 * time.Millisecond

// flow is one end of a flow: its connections, and the threads that work on them.
type flow struct {
	engine   *Engine
	order    message.FlowRequest
	isClient bool
	udp      bool // requests and responses are datagrams
	part     part // which of the flow's connections are here
	workers  []*worker
	cookie   []byte  // what a connection shows first
	opener   *opener // of crr's connections

	// arrived counts connections that are here or on their way here, joined those
	// that are open and with a thread.
	arrived, active atomic.Int64
	// listenerThread is the thread that brings connections by their cookie; 0: none has.
	listenerThread atomic.Int64

	mu     sync.Mutex // never taken while transactions go on
	fds    []int32    // of every connection that there has been
	wakeup *sock.EventFD
	// listener is what crr's connections are accepted from, if it is not shared.
	listener atomic.Int32
	listens  netip.AddrPort
	local    netip.AddrPort // of the first connection
	remote   netip.AddrPort
	failure  string // why there is no flow; the first reason is kept
	// exhausted is that reason where no port was left.
	exhausted  *record.PortsExhausted
	hasWorkers bool // with threads for those who come
	// acceptMu lets one caller in at a time.
	acceptMu sync.Mutex
	// clients have come over UDP, each to a socket of his own, which says what is here
	// when he asks again.
	clients    map[netip.AddrPort]int32
	ready      map[int32]handshake.Ready
	lostConns  int64  // connections
	lossReason string // the first of them was
	closed     bool
}

func newFlow(e *Engine, order message.FlowRequest, p part) *flow {
	f := &flow{engine: e, order: order, isClient: order.Remote.IsValid(), udp: order.Protocol == modelflow.UDPRR, part: p}
	f.listener.Store(-1)
	return f
}

// connections is how many there are to be here.
func (f *flow) connections() int { return f.part.size() }

// oneSegment is what fits into the first segment with a cookie, on any path.
const oneSegment = 400

func requestBytes(o message.FlowRequest) int  { return max(1, o.RequestBytes) }
func responseBytes(o message.FlowRequest) int { return max(1, o.ResponseBytes) }

// payload is what is sent, over and over: random, so that no link on the way can
// compress it.
var payload = func() []byte {
	data := make([]byte, 64<<10)
	_, _ = rand.NewChaCha8([32]byte{1}).Read(data) // never fails
	return data
}()

// fail notes why there is no flow.
func (f *flow) fail(format string, args ...any) {
	f.mu.Lock()
	defer f.mu.Unlock()
	if f.failure == "" && !f.closed {
		f.failure = fmt.Sprintf(format, args...)
	}
}

// connLost notes that a connection is no more. Its descriptor is closed with the
// engine, so that its number names nothing else meanwhile.
func (f *flow) connLost(fd int, err error) {
	if f.engine.quit.Load() {
		return
	}
	if !f.isCRR() {
		f.active.Add(-1)
	}
	if stop := f.engine.windowTimes().StopNs; stop != 0 && socket.Now() >= stop-int64(earlyEnd) {
		return
	}
	reason := "the peer closed the connection before its time"
	local, remote := sock.Addresses(fd)
	if err != nil {
		reason = socket.Reason(err, remote.Addr())
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

// state is the address of the first connection, and why there is no flow or not
// all of it.
func (f *flow) state() (local netip.AddrPort, trouble string) {
	f.mu.Lock()
	defer f.mu.Unlock()
	n := f.connections()
	if f.isCRR() {
		n = 1 // has shown that there is a way
	}
	switch {
	case f.failure != "":
		return f.local, f.failure
	case f.closed:
		return f.local, "closed"
	case f.lostConns > 0 && f.isCRR():
		return f.local, fmt.Sprintf("%s failed; the first: %s", plural(int(f.lostConns), "connection"), f.lossReason)
	case f.lostConns > 0:
		return f.local, fmt.Sprintf("%d of %s lost; the first: %s", f.lostConns, plural(n, "connection"), f.lossReason)
	case f.arrived.Load() < int64(n) && f.listens.IsValid():
		return f.local, fmt.Sprintf("%d of %s have come to %s", f.active.Load(), plural(n, "connection"), f.listens)
	case f.arrived.Load() < int64(n) && !f.isClient:
		return f.local, fmt.Sprintf("%d of %s have come with the flow's cookie", f.active.Load(), plural(n, "connection"))
	case f.active.Load() == 0:
		return f.local, "not connected yet"
	}
	return f.local, ""
}

// settled says that nothing more is to be waited for.
func (f *flow) settled() bool {
	f.mu.Lock()
	defer f.mu.Unlock()
	if f.isCRR() && f.active.Load() > 0 {
		return true // the others follow when they are wanted
	}
	return f.failure != "" || f.closed || f.active.Load()+f.lostConns >= int64(f.connections())
}

// check says what is wrong with an order.
func check(o message.FlowRequest) error {
	var errs []error
	message := 1 << 30
	if o.Protocol == modelflow.UDPRR {
		message = modelflow.MaxDatagramBytes
		if o.MSS != 0 || o.CongestionControl != "" || o.NoDelay != nil {
			errs = append(errs, errors.New("mss, nodelay and congestion control are TCP's: udp-rr has none"))
		}
	}
	for _, n := range []struct {
		what        string
		value, most int
	}{
		{"a request of %d bytes", o.RequestBytes, message}, {"a response of %d bytes", o.ResponseBytes, message},
		{"%d connections", o.Connections, 1 << 24}, {"%d threads", o.Threads, 1024},
	} {
		if n.value < 0 || n.value > n.most {
			errs = append(errs, fmt.Errorf(n.what+": expected 1 to %d", n.value, n.most))
		}
	}
	if o.Follow && (o.Poll || o.Connections > 1) {
		errs = append(errs, errors.New("a thread follows the packets of one connection, and does not poll"))
	}
	if !(o.Pace >= 0 && o.Pace <= 1e9) {
		errs = append(errs, fmt.Errorf("%g transactions a second: expected at most 1e9", o.Pace))
	}
	return errors.Join(errs...)
}

// makeWorkers makes the threads' books, and what wakes them up.
func (f *flow) makeWorkers() error {
	if err := check(f.order); err != nil {
		return err
	}
	bell, err := sock.NewEventFD()
	if err != nil {
		return err
	}
	n := f.connections()
	threads := min(max(1, f.order.Threads), n)
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
	defer f.mu.Unlock()
	f.wakeup, f.workers, f.hasWorkers = bell, workers, err == nil
	return err
}

// oneConnPerThread says that each thread has one connection at most and waits for that.
func (f *flow) oneConnPerThread() bool {
	return f.connections() <= max(1, f.order.Threads) && !f.isCRR()
}

// sharesListener says that connections for one transaction each come through a door.
func (f *flow) sharesListener() bool { return f.isCRR() && !f.isClient && !f.order.Cookie.IsZero() }

// isCRR says that each transaction has a connection of its own.
func (f *flow) isCRR() bool { return f.order.Protocol == modelflow.CRR }

// setSocketOptions gives a connection the options that it has not got from a listener.
func (f *flow) setSocketOptions(fd int, offered bool) error {
	if f.udp {
		return f.setTimeouts(fd)
	}
	if offered {
		if err := socket.PrepareAccepted(f.order, fd); err != nil {
			return err
		}
	}
	if f.isCRR() && max(requestBytes(f.order), responseBytes(f.order)) <= oneSegment {
		return nil // nothing waits for anything
	}
	if err := f.setTimeouts(fd); err != nil {
		return err
	}
	if err := sock.SetNoDelay(fd, f.order.NoDelay == nil || *f.order.NoDelay); err != nil {
		return fmt.Errorf("setting TCP_NODELAY: %w", err)
	}
	return nil
}

// setTimeouts has who waits for room or data look now and then whether the engine closes,
// where nothing else would tell him.
func (f *flow) setTimeouts(fd int) error {
	if !f.oneConnPerThread() {
		return nil
	}
	if err := sock.SetSendTimeout(fd, checkInterval); err != nil {
		return fmt.Errorf("setting SO_SNDTIMEO: %w", err)
	}
	if err := sock.SetReceiveTimeout(fd, checkInterval); err != nil {
		return fmt.Errorf("setting SO_RCVTIMEO: %w", err)
	}
	return nil
}

// register puts a connection into the books, where it has a number that no other gets.
// False: the engine has closed, and so is the connection. It is called with the lock.
func (f *flow) register(fd int) (number int, kept bool) {
	if f.closed {
		_ = sock.SetLingerZero(fd)
		sock.CloseSocket(fd)
		return 0, false
	}
	if len(f.fds) == 0 {
		f.local, f.remote = sock.Addresses(fd)
	}
	f.fds = append(f.fds, int32(fd))
	return len(f.fds) - 1, true
}

// claim says that a connection with this cookie is one of the flow's.
func (f *flow) claim(cookie message.Cookie) bool {
	if f.isClient || f.udp || f.order.Cookie != cookie || cookie.IsZero() {
		return false
	}
	f.mu.Lock()
	defer f.mu.Unlock()
	if !f.hasWorkers || f.closed || f.failure != "" || f.arrived.Load() >= int64(f.connections()) && !f.isCRR() {
		return false
	}
	f.arrived.Add(1)
	return true
}

// wake ends the waiting of threads.
func (f *flow) wake() {
	f.mu.Lock()
	defer f.mu.Unlock()
	f.closed = true
	if f.wakeup != nil {
		f.wakeup.Signal()
	}
	if f.oneConnPerThread() {
		for _, fd := range f.fds {
			sock.ShutdownRead(int(fd))
		}
	}
}

// close gives everything back. Connections are reset, so that neither end goes on
// sending what is buffered or waits in TIME_WAIT.
func (f *flow) close() {
	f.mu.Lock()
	defer f.mu.Unlock()
	for _, fd := range f.fds {
		_ = sock.SetLingerZero(int(fd))
		sock.CloseSocket(int(fd))
	}
	f.fds = nil
	if listener := f.listener.Swap(-1); listener >= 0 {
		sock.CloseSocket(int(listener))
	}
	for _, w := range f.workers {
		if w.epoll != nil {
			w.epoll.Close()
			w.epoll = nil
		}
	}
	if f.wakeup != nil {
		f.wakeup.Close()
		f.wakeup = nil
	}
}
