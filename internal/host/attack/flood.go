package attack

import (
	"context"
	"errors"
	"fmt"
	"net"
	"net/netip"
	"runtime"
	"syscall"
	"time"

	"linerate/internal/host/frames"
	"linerate/internal/host/pace"
	"linerate/internal/host/socket"
	"linerate/internal/kernel/packet"
	"linerate/internal/kernel/sched"
	"linerate/internal/model/message"
	"linerate/internal/model/record"
	"linerate/internal/science/stats"
)

// flood attacks with Ethernet frames.
type flood struct {
	maker *maker
	to    *packet.Sender
}

const (
	// resolveTime limits the wait for the target's neighbour entry.
	resolveTime = 2 * time.Second
	// checkEvery is how often a waiting flood checks whether it must end.
	checkEvery = 50 * time.Millisecond
	// discard is the port of RFC 863, where nothing listens.
	discard = 9
)

// newFlood finds the path to the target and opens a sender on its interface.
func newFlood(ctx context.Context, r message.AttackRequest) (*flood, error) {
	path, err := findPath(ctx, r)
	if err != nil {
		return nil, err
	}
	m, err := newMaker(r, path)
	if err != nil {
		return nil, err
	}
	to, err := packet.Open(packet.Options{Interface: path.Interface, Bytes: m.size})
	if err != nil {
		return nil, err
	}
	return &flood{m, to}, nil
}

// findPath returns the path to the target. It sends a datagram there so that the kernel resolves the next hop.
func findPath(ctx context.Context, r message.AttackRequest) (frames.Path, error) {
	ctx, cancel := context.WithTimeout(ctx, resolveTime)
	defer cancel()
	target := netip.AddrPortFrom(r.Target.Addr(), discard)
	conn, err := new(net.Dialer).DialContext(ctx, "udp", target.String())
	if err != nil {
		return frames.Path{}, err
	}
	defer conn.Close()
	local := socket.AddrPort(conn.LocalAddr())
	for {
		_, _ = conn.Write([]byte{0}) // the error may belong to an earlier datagram
		path, err := frames.FindPath(local, target)
		if err == nil {
			return path, nil
		}
		select {
		case <-ctx.Done():
			return path, err
		case <-time.After(5 * time.Millisecond):
		}
	}
}

func (f *flood) close() { f.to.Close() }

// run sends frames until the attack must stop, and returns the counts of the window.
func (f *flood) run(s *signals) (counts record.AttackCounts) {
	runtime.LockOSThread()
	defer runtime.UnlockOSThread()
	sched.SetTimerSlack(true)
	defer sched.SetTimerSlack(false)
	counts.Mode, _ = f.to.Mode()
	schedule, late := pace.New(float64(f.maker.PerSecond)), stats.NewHistogram()
	schedule.Start(s.start)
	defer func() {
		if late.TotalCount() > 0 {
			counts.Lateness, _ = stats.Distribution(late) // encoding our own histogram cannot fail
		}
	}()
	for at := now(); !s.left(at); at = now() {
		due, skipped, next := schedule.Due(at)
		counted := s.within(at)
		if counted {
			counts.Skipped += skipped
		}
		if due == 0 {
			sched.SleepUntil(min(next, s.stop.Load(), at+int64(checkEvery)))
			continue
		}
		n := int(min(due, packet.Room))
		if counted {
			stats.Record(late, at-schedule.Instant())
		}
		for i := range n {
			frame, _ := f.to.Frame(i, f.maker.size) // the size that the sender was opened for
			f.maker.write(frame)
		}
		schedule.Sent(int64(n))
		sent, err := f.transmit(n)
		if counted {
			counts.Sent += int64(sent)
			counts.Refused += int64(n - sent)
		}
		if err != nil {
			counts.Error = err.Error()
			return counts
		}
	}
	return counts
}

// transmit hands the first n frames to the kernel. Frames that find no room in a queue are dropped, not
// retried.
func (f *flood) transmit(n int) (sent int, err error) {
	for sent < n {
		taken, err := f.to.Send(sent, n)
		sent += taken
		switch {
		case err == nil && taken > 0, errors.Is(err, syscall.EINTR):
		case err == nil, errors.Is(err, syscall.EAGAIN), errors.Is(err, syscall.ENOBUFS),
			errors.Is(err, syscall.ENOMEM):
			return sent, nil
		default:
			return sent, fmt.Errorf("sending frames of %s: %w", f.maker.Kind, err)
		}
	}
	return sent, nil
}
