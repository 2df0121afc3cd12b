package snmp

import (
	"context"
	"net"
	"os"
	"sync"
	"time"

	"github.com/gosnmp/gosnmp"
)

// Relay returns a connection on which each datagram written is passed to exchange, and exchange's reply can
// be read. It reaches an agent in a network namespace that this process is not in.
func Relay(exchange func(ctx context.Context, datagram []byte) ([]byte, error)) net.Conn {
	return &relay{exchange: exchange}
}

type relay struct {
	net.Conn // only the methods below are called
	exchange func(context.Context, []byte) ([]byte, error)
	sent     []byte

	mu       sync.Mutex
	deadline time.Time
	stop     context.CancelFunc // cancels the current wait; nil: there is none
}

func (r *relay) Write(datagram []byte) (int, error) {
	r.sent = append([]byte(nil), datagram...)
	return len(datagram), nil
}

func (r *relay) Read(buffer []byte) (int, error) {
	r.mu.Lock()
	ctx, cancel := context.WithDeadline(context.Background(), r.deadline)
	r.stop = cancel
	r.mu.Unlock()
	defer cancel()
	if r.sent == nil { // the datagram has been answered: there will be no other reply
		<-ctx.Done()
		return 0, os.ErrDeadlineExceeded
	}
	reply, err := r.exchange(ctx, r.sent)
	r.sent = nil
	if err != nil && ctx.Err() != nil {
		return 0, os.ErrDeadlineExceeded
	}
	return copy(buffer, reply), err
}

// SetDeadline also ends a current wait if t has passed.
func (r *relay) SetDeadline(t time.Time) error {
	r.mu.Lock()
	defer r.mu.Unlock()
	r.deadline = t
	if r.stop != nil && !t.After(time.Now()) {
		r.stop()
	}
	return nil
}

func (r *relay) Close() error { return nil }

// nsCacheTimeout of net-snmp's ifTable (NET-SNMP-AGENT-MIB): with 0 it reads the kernel's counters at each
// request instead of every 3 s.
const nsCacheTimeout = "1.3.6.1.4.1.8072.1.5.3.1.2.1.3.6.1.2.1.2.2"

// Uncached makes a switch of a lab, which is a net-snmp agent, read its counters at each request.
func (s *Switch) Uncached(ctx context.Context) error {
	s.device.client.Context, s.device.client.Timeout, s.device.client.Retries = ctx, patience, 1
	reply, err := s.device.client.Set([]gosnmp.SnmpPDU{{Name: nsCacheTimeout, Type: gosnmp.Integer, Value: 0}})
	if err != nil {
		return s.device.failed(err)
	}
	if err := status(reply); err != nil {
		return err
	}
	s.learned = true
	return nil
}
