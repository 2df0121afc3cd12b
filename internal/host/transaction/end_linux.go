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
	"linerate/internal/model/record"
)

// earlyEnd is how much before the agreed stop a connection may end without being
// lost: the two hosts' clocks differ.
const earlyEnd = 50 * time.Millisecond

// end is one end of a flow: its connections, and the threads that work on them.
type end struct {
	engine  *Engine
	order   record.FlowRequest
	asks    bool
	udp     bool // requests and responses are datagrams
	part    part // which of the flow's connections are here
	workers []*worker
	ticket  []byte  // what a connection shows first
	opener  *opener // of crr's connections

	// came counts connections that are here or on their way here, joined those
	// that are open and with a thread.
	came, joined atomic.Int64
	// door is the thread that brings connections by their ticket; 0: none has.
	door atomic.Int64

	mu   sync.Mutex // never taken while transactions go on
	fds  []int32    // of every connection that there has been
	bell *sock.EventFD
	// listener is what crr's connections are accepted from, if it is not shared.
	listener atomic.Int32
	listens  netip.AddrPort
	local    netip.AddrPort // of the first connection
	remote   netip.AddrPort
	failure  string // why there is no flow; the first reason is kept
	// exhausted is that reason where no port was left.
	exhausted *record.PortsExhausted
	equipped  bool // with threads for those who come
	// admission lets one caller in at a time.
	admission sync.Mutex
	// callers have come over UDP, each to a socket of his own, which says what is here
	// when he asks again.
	callers map[netip.AddrPort]int32
	ready   map[int32]handshake.Ready
	lost    int64  // connections
	why     string // the first of them was
	ended   bool
}

func newEnd(e *Engine, order record.FlowRequest, p part) *end {
	f := &end{engine: e, order: order, asks: order.Remote.IsValid(), udp: order.Protocol == record.ProtocolUDPRR, part: p}
	f.listener.Store(-1)
	return f
}

// connections is how many there are to be here.
func (f *end) connections() int { return f.part.size() }

// oneSegment is what fits into the first segment with a ticket, on any path.
const oneSegment = 400

func requestBytes(o record.FlowRequest) int  { return max(1, o.RequestBytes) }
func responseBytes(o record.FlowRequest) int { return max(1, o.ResponseBytes) }

// payload is what is sent, over and over: random, so that no link on the way can
// compress it.
var payload = func() []byte {
	data := make([]byte, 64<<10)
	_, _ = rand.NewChaCha8([32]byte{1}).Read(data) // never fails
	return data
}()

// fail notes why there is no flow.
func (f *end) fail(format string, args ...any) {
	f.mu.Lock()
	defer f.mu.Unlock()
	if f.failure == "" && !f.ended {
		f.failure = fmt.Sprintf(format, args...)
	}
}

// lose notes that a connection is no more. Its descriptor is closed with the
// engine, so that its number names nothing else meanwhile.
func (f *end) lose(fd int, err error) {
	if f.engine.quit.Load() {
		return
	}
	if !f.turnover() {
		f.joined.Add(-1)
	}
	if stop := f.engine.times().StopNs; stop != 0 && socket.Now() >= stop-int64(earlyEnd) {
		return
	}
	reason := "the peer closed the connection before its time"
	local, remote := sock.Addresses(fd)
	if err != nil {
		reason = socket.Why(err, remote.Addr())
	}
	f.mu.Lock()
	defer f.mu.Unlock()
	f.lost++
	if f.why == "" {
		f.why = through(local, remote) + ": " + reason
		if !remote.IsValid() { // the kernel has forgotten
			f.why = reason
		}
	}
}

// state is the address of the first connection, and why there is no flow or not
// all of it.
func (f *end) state() (local netip.AddrPort, trouble string) {
	f.mu.Lock()
	defer f.mu.Unlock()
	n := f.connections()
	if f.turnover() {
		n = 1 // has shown that there is a way
	}
	switch {
	case f.failure != "":
		return f.local, f.failure
	case f.ended:
		return f.local, "closed"
	case f.lost > 0 && f.turnover():
		return f.local, fmt.Sprintf("%s failed; the first: %s", plural(int(f.lost), "connection"), f.why)
	case f.lost > 0:
		return f.local, fmt.Sprintf("%d of %s lost; the first: %s", f.lost, plural(n, "connection"), f.why)
	case f.came.Load() < int64(n) && f.listens.IsValid():
		return f.local, fmt.Sprintf("%d of %s have come to %s", f.joined.Load(), plural(n, "connection"), f.listens)
	case f.came.Load() < int64(n) && !f.asks:
		return f.local, fmt.Sprintf("%d of %s have come with the flow's ticket", f.joined.Load(), plural(n, "connection"))
	case f.joined.Load() == 0:
		return f.local, "not connected yet"
	}
	return f.local, ""
}

// settled says that nothing more is to be waited for.
func (f *end) settled() bool {
	f.mu.Lock()
	defer f.mu.Unlock()
	if f.turnover() && f.joined.Load() > 0 {
		return true // the others follow when they are wanted
	}
	return f.failure != "" || f.ended || f.joined.Load()+f.lost >= int64(f.connections())
}

// sound says what is wrong with an order.
func sound(o record.FlowRequest) error {
	var errs []error
	message := 1 << 30
	if o.Protocol == record.ProtocolUDPRR {
		message = record.MaxDatagramBytes
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

// equip makes the threads' books, and what wakes them up.
func (f *end) equip() error {
	if err := sound(f.order); err != nil {
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
		if n > threads || f.turnover() {
			if w.epoll, err = sock.NewEpoll(); err == nil {
				err = bell.AddTo(w.epoll, bellTag)
			}
		}
		workers = append(workers, w)
		if err != nil {
			break
		}
	}
	f.mu.Lock()
	defer f.mu.Unlock()
	f.bell, f.workers, f.equipped = bell, workers, err == nil
	return err
}

// direct says that each thread has one connection at most and waits for that.
func (f *end) direct() bool {
	return f.connections() <= max(1, f.order.Threads) && !f.turnover()
}

// visited says that connections for one transaction each come through a door.
func (f *end) visited() bool { return f.turnover() && !f.asks && !f.order.Cookie.IsZero() }

// turnover says that each transaction has a connection of its own.
func (f *end) turnover() bool { return f.order.Protocol == record.ProtocolCRR }

// settle gives a connection the options that it has not got from a listener.
func (f *end) settle(fd int, offered bool) error {
	if f.udp {
		return f.glances(fd)
	}
	if offered {
		if err := socket.PrepareAccepted(f.order, fd); err != nil {
			return err
		}
	}
	if f.turnover() && max(requestBytes(f.order), responseBytes(f.order)) <= oneSegment {
		return nil // nothing waits for anything
	}
	if err := f.glances(fd); err != nil {
		return err
	}
	if err := sock.SetNoDelay(fd, f.order.NoDelay == nil || *f.order.NoDelay); err != nil {
		return fmt.Errorf("setting TCP_NODELAY: %w", err)
	}
	return nil
}

// glances has who waits for room or data look now and then whether the engine closes,
// where nothing else would tell him.
func (f *end) glances(fd int) error {
	if !f.direct() {
		return nil
	}
	if err := sock.SetSendTimeout(fd, glance); err != nil {
		return fmt.Errorf("setting SO_SNDTIMEO: %w", err)
	}
	if err := sock.SetReceiveTimeout(fd, glance); err != nil {
		return fmt.Errorf("setting SO_RCVTIMEO: %w", err)
	}
	return nil
}

// keep puts a connection into the books, where it has a number that no other gets.
// False: the engine has closed, and so is the connection. It is called with the lock.
func (f *end) keep(fd int) (number int, kept bool) {
	if f.ended {
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

// take says that a connection with this ticket is one of the flow's.
func (f *end) take(ticket record.Cookie) bool {
	if f.asks || f.udp || f.order.Cookie != ticket || ticket.IsZero() {
		return false
	}
	f.mu.Lock()
	defer f.mu.Unlock()
	if !f.equipped || f.ended || f.failure != "" || f.came.Load() >= int64(f.connections()) && !f.turnover() {
		return false
	}
	f.came.Add(1)
	return true
}

// wake ends the waiting of threads.
func (f *end) wake() {
	f.mu.Lock()
	defer f.mu.Unlock()
	f.ended = true
	if f.bell != nil {
		f.bell.Signal()
	}
	if f.direct() {
		for _, fd := range f.fds {
			sock.ShutdownRead(int(fd))
		}
	}
}

// close gives everything back. Connections are reset, so that neither end goes on
// sending what is buffered or waits in TIME_WAIT.
func (f *end) close() {
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
	if f.bell != nil {
		f.bell.Close()
		f.bell = nil
	}
}
