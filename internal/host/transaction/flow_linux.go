//go:build !portable

package transaction

import (
	"fmt"
	"net"
	"sync/atomic"

	"linerate/internal/host/flowset"
	"linerate/internal/kernel/sock"
)

// sockets are a flow's beyond its connections.
type sockets struct {
	opener *opener // of crr's connections
	// listenerThread is the thread of the shared listener that hands over this flow's
	// connections; 0: none has so far.
	listenerThread atomic.Int64
	listener       atomic.Int32  // of the flow's own; -1: none
	wakeup         *sock.EventFD // ends the workers' waiting
}

func (s *sockets) init() { s.listener.Store(-1) }

// connLostFD is connLost for a descriptor. That is closed with the engine, so that its
// number names nothing else meanwhile.
func (f *rrFlow) connLostFD(fd int, err error) {
	local, remote := sock.Addresses(fd)
	f.connLost(local, remote, err)
}

// oneSegment is what fits into the first segment with a cookie, on any path.
const oneSegment = 400

// makeWorkers makes the threads' state, and the eventfd that wakes them, and starts
// responders.
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
	if closed { // nothing releases them
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

// oneConnPerThread says that each thread has one connection at most and waits for that.
func (f *rrFlow) oneConnPerThread() bool {
	return f.connections() <= max(1, f.Request.Threads) && !f.isCRR()
}

// setSocketOptions sets the options of a connection that depend on how it is used.
func (f *rrFlow) setSocketOptions(fd int) error {
	if f.udp {
		return f.setTimeouts(fd)
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

// setTimeouts ends waiting for room or data now and then, so that the thread notices that
// the engine closes, where nothing else wakes it.
func (f *rrFlow) setTimeouts(fd int) error {
	if !f.oneConnPerThread() {
		return nil
	}
	if err := sock.SetTimeouts(fd, checkInterval); err != nil {
		return fmt.Errorf("setting SO_SNDTIMEO and SO_RCVTIMEO: %w", err)
	}
	return nil
}

// takeSocket takes a socket over from package net, and sets its options.
func (f *rrFlow) takeSocket(conn *net.UDPConn) (int, error) {
	fd, err := takeOver(conn)
	if err != nil {
		return -1, err
	}
	if err = f.setSocketOptions(fd); err != nil {
		sock.CloseSocket(fd)
	}
	return fd, err
}

// trySend sends a datagram, if there is room.
func (f *rrFlow) trySend(fd int, datagram []byte) { _, _ = sock.TrySend(fd, datagram, false) }

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
