//go:build !portable

package transaction

import (
	"fmt"
	"net"
	"sync/atomic"

	"linerate/internal/host/caused"
	"linerate/internal/host/flowset"
	"linerate/internal/host/socket"
	"linerate/internal/kernel/sock"
)

// sockets has the parts of a flow that depend on the implementation.
type sockets struct {
	opener *opener // opens the connections of crr
	// listenerThread is the ID of the shared listener's thread that passes on this flow's
	// connections. 0: none so far.
	listenerThread atomic.Int64
	listener       atomic.Int32  // of the flow itself; -1: none
	wakeup         *sock.EventFD // wakes waiting workers
}

func (s *sockets) init() { s.listener.Store(-1) }

// connLostFD is connLost for a descriptor. The descriptor is closed with the engine, so that its
// number is not reused meanwhile.
func (f *rrFlow) connLostFD(fd int, err error) {
	local, remote := sock.Addresses(fd)
	f.connLost(local, remote, err)
}

// oneSegment is the number of bytes that fit into the first segment together with a cookie, on any
// path.
const oneSegment = 400

// makeWorkers creates the workers and the eventfd that wakes them, and starts responders.
func (f *rrFlow) makeWorkers() error {
	wakeup, err := sock.NewEventFD()
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
				err = wakeup.AddTo(w.epoll, wakeupTag)
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
		f.wakeup, f.workers, f.hasWorkers = wakeup, workers, err == nil
	}
	f.mu.Unlock()
	if closed { // nothing else would release them
		for _, w := range workers {
			if w.epoll != nil {
				w.epoll.Close()
			}
		}
		wakeup.Close()
		return flowset.ErrClosed
	}
	for _, w := range workers {
		if err == nil && !f.isClient && !f.engine.Go(w.runResponder) {
			err = flowset.ErrClosed
		}
	}
	return err
}

// oneConnPerThread reports whether each thread has at most one connection, for which it waits
// directly.
func (f *rrFlow) oneConnPerThread() bool {
	return f.connections() <= max(1, f.Request.Threads) && !f.isCRR()
}

// setSocketOptions sets the options of a connection that depend on its use.
func (f *rrFlow) setSocketOptions(fd int) error {
	if f.udp {
		return f.setTimeouts(fd)
	}
	if f.isCRR() && max(requestBytes(f.Request), responseBytes(f.Request)) <= oneSegment {
		return nil // no data waits for other data
	}
	if err := f.setTimeouts(fd); err != nil {
		return err
	}
	if err := sock.SetNoDelay(fd, f.Request.NoDelay == nil || *f.Request.NoDelay); err != nil {
		return fmt.Errorf("setting TCP_NODELAY: %w", err)
	}
	return nil
}

// setTimeouts limits waiting for room or data, so that the thread notices that the engine closes if
// nothing else wakes it.
func (f *rrFlow) setTimeouts(fd int) error {
	if !f.oneConnPerThread() {
		return nil
	}
	if err := sock.SetTimeouts(fd, checkInterval); err != nil {
		return fmt.Errorf("setting SO_SNDTIMEO and SO_RCVTIMEO: %w", err)
	}
	return nil
}

// takeSocket takes a socket from package net and sets its options.
func (f *rrFlow) takeSocket(conn *net.UDPConn) (int, error) {
	fd, err := socket.TakeOver(conn)
	if err != nil {
		return -1, err
	}
	if err = f.setSocketOptions(fd); err != nil {
		sock.CloseSocket(fd)
	}
	return fd, err
}

// trySend sends a datagram if there is room.
func (f *rrFlow) trySend(fd int, datagram []byte) { _, _ = sock.TrySend(fd, datagram, false) }

// register adds a connection, which gets a unique number. Kept is false if the flow has been
// closed; the connection is then closed too. The caller must hold mu.
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

// closeReset closes a connection with RST, so that neither end continues to send buffered data or
// stays in TIME_WAIT.
func closeReset(fd int) {
	caused.Add(caused.Reset)
	_ = sock.SetLingerZero(fd)
	sock.CloseSocket(fd)
}

// Close wakes the threads, which then end.
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

// Release closes all descriptors. The threads must have ended.
func (f *rrFlow) Release() {
	f.mu.Lock()
	fds, workers, wakeup := f.fds, f.workers, f.wakeup
	f.fds, f.wakeup = nil, nil
	f.mu.Unlock()
	for _, fd := range fds {
		closeReset(int(fd))
	}
	f.closeListener()
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
