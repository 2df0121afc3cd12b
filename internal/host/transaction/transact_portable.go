//go:build !linux || portable

package transaction

import (
	"encoding/binary"
	"errors"
	"io"
	"math"
	"net"
	"os"
	"slices"
	"sync"
	"sync/atomic"
	"time"

	"linerate/internal/host/handshake"
	"linerate/internal/kernel/sched"
)

// conn is a connection of a requester.
type conn struct {
	net.Conn // not for crr, where each transaction has its own connection
	fd       int32
	// began is when its transaction began or was due; 0: none is in flight. unanswered counts
	// consecutive requests without a response. Both may be read at any time.
	began      int64
	unanswered uint32
}

// errUnanswered: there was no response over UDP within responseTimeout.
var errUnanswered = errors.New("no response")

// runRequester waits for the start and makes transactions over all connections until the stop.
func (w *worker) runRequester() {
	if !w.f.engine.WaitStart() {
		return
	}
	var running sync.WaitGroup
	for i := range w.conns {
		running.Go(func() { w.request(i) })
	}
	running.Wait()
}

// request makes transactions over the i-th connection, one after another. With a pace, the time of
// each begins at its scheduled instant, even if it could not be sent then.
func (w *worker) request(i int) {
	o, window, c := w.f.Request, w.f.engine.Window(), &w.conns[i]
	transact, slots := w.transaction(i), scheduleOf(window.StartNs, o.Pace)
	began, lost := sched.Now(), false
	for round := int64(0); ; round++ {
		if o.Pace > 0 {
			began = slots.due(w.f.part.number(i, round))
		}
		if began >= w.f.engine.Signals.Stop.Load() || !w.f.sleepUntil(began) {
			return
		}
		if lost {
			w.failed.Add(1)
			continue
		}
		allowed, _ := w.rate.reserve(math.MaxInt64)
		if !w.f.sleepUntil(allowed) {
			return
		}
		if o.Pace == 0 {
			began = allowed
		}
		atomic.StoreInt64(&c.began, began)
		err := transact()
		at := sched.Now()
		if err != nil && w.f.engine.Signals.Quit.Load() {
			return
		}
		atomic.StoreInt64(&c.began, 0)
		switch {
		case err == nil:
			w.count(began, at)
		case err == errUnanswered:
			w.unanswered.Add(1)
		default:
			w.noteLoss(c.Conn, err)
			w.failed.Add(1)
			if lost = !w.f.isCRR(); lost && o.Pace == 0 {
				return
			}
			at += int64(checkInterval) // a responder that is gone is tried again after a while
		}
		began = at
	}
}

// transaction returns a function that makes one transaction over the i-th connection.
func (w *worker) transaction(i int) func() error {
	f, c := w.f, &w.conns[i]
	switch {
	case f.udp:
		datagram, number := slices.Clone(payload[:requestBytes(f.Request)]), uint32(0)
		buffer := make([]byte, max(responseBytes(f.Request), handshake.FrameBytes)+1)
		return func() error {
			number++
			copy(datagram, binary.LittleEndian.AppendUint32(nil, number)[:min(sequenceBytes, len(datagram))])
			return w.exchangeUDP(c, datagram, buffer)
		}
	case f.isCRR():
		return func() error {
			conn, fd, err := f.dial(f.engine.Context(), i, 0)
			if err != nil {
				return err
			}
			defer f.release(fd)
			return w.exchangeOnce(conn, f)
		}
	}
	return func() error { return w.exchange(c, nil, f.Request) }
}

// noteLoss records that a connection has failed; it is nil for crr.
func (w *worker) noteLoss(c net.Conn, err error) {
	if errors.Is(err, io.EOF) {
		err = nil
	}
	local, remote := w.f.Addrs()
	if c != nil {
		local, remote = ends(c)
	}
	w.f.connLost(local, remote, err)
}

// count counts a completed transaction.
func (w *worker) count(began, at int64) {
	w.done.Add(1)
	w.first.CompareAndSwap(0, at)
	w.last.Store(at)
	if window := w.f.engine.Window(); at >= window.BeginNs && at <= window.EndNs {
		w.mu.Lock()
		defer w.mu.Unlock()
		w.latency.Record(at - began)
	}
}

// exchangeUDP makes a transaction over UDP.
func (w *worker) exchangeUDP(c *conn, request, buffer []byte) error {
	if _, err := c.Write(request); err != nil && !isTransient(err) {
		return err
	}
	w.written.Add(int64(len(request)))
	if err := c.SetReadDeadline(time.Now().Add(responseTimeout)); err != nil {
		return err
	}
	response := responseBytes(w.f.Request)
	same := min(sequenceBytes, len(request), response)
	for {
		n, err := c.Read(buffer)
		switch {
		case errors.Is(err, os.ErrDeadlineExceeded):
			atomic.AddUint32(&c.unanswered, 1)
			return errUnanswered
		case err != nil && !isTransient(err):
			return err
		case err != nil || handshake.IsFrame(buffer[:n]):
		case n != response || string(buffer[:same]) != string(request[:same]):
			w.late.Add(1)
		default:
			w.received.Add(int64(n))
			atomic.StoreUint32(&c.unanswered, 0)
			return nil
		}
	}
}

// respond answers requests over a connection until it ends. For crr that is one request.
func (w *worker) respond(c net.Conn) {
	request := requestBytes(w.f.Request)
	buffer := make([]byte, min(max(request, 4<<10), len(payload)))
	for got := 0; ; {
		n, err := c.Read(buffer)
		w.received.Add(int64(n))
		for got += n; err == nil && got >= request; got -= request {
			if err = w.sendResponse(c); err == nil && w.f.isCRR() {
				return
			}
		}
		if err != nil {
			if !w.f.isCRR() || got > 0 {
				w.noteLoss(c, err)
			}
			return
		}
	}
}

// sendResponse answers a request over TCP when the rate allows it.
func (w *worker) sendResponse(c net.Conn) error {
	if at, _ := w.rate.reserve(math.MaxInt64); !w.f.sleepUntil(at) {
		return net.ErrClosed
	}
	err := w.write(c, nil, responseBytes(w.f.Request))
	if err == nil {
		w.done.Add(1)
	}
	return err
}

// respondUDP answers requests over UDP until the socket is closed. It skips requests that the
// allowed rate would only let it answer after responseTimeout.
func (w *worker) respondUDP(c net.Conn, fd int) {
	request, response := requestBytes(w.f.Request), slices.Clone(payload[:responseBytes(w.f.Request)])
	buffer := make([]byte, max(request, handshake.FrameBytes)+1)
	for {
		n, err := c.Read(buffer)
		switch {
		case err != nil:
		case n != request || handshake.IsFrame(buffer[:n]):
			w.f.resendReady(fd, buffer[:n])
		default:
			w.received.Add(int64(n))
			if at, ok := w.rate.reserve(responseTimeout); !ok || !w.f.sleepUntil(at) {
				continue
			}
			copy(response, buffer[:min(sequenceBytes, n)])
			if _, err = c.Write(response); err == nil {
				w.written.Add(int64(len(response)))
				w.done.Add(1)
			}
		}
		if err != nil && !isTransient(err) {
			w.noteLoss(c, err)
			return
		}
	}
}
