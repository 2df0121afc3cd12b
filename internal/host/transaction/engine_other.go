//go:build !linux

package transaction

import (
	"context"
	"fmt"
	"io"
	"net"
	"runtime"
	"sync"
	"time"

	"linerate/internal/model/message"
	"linerate/internal/model/record"
)

// Engine refuses every order: transactions need Linux.
type Engine struct {
	mu     sync.Mutex
	orders []message.FlowRequest
}

// New makes an engine with no flows.
func New() *Engine { return &Engine{} }

var refusal = &message.Error{
	Code: message.Unsupported, Text: fmt.Sprintf("transactions (rr, udp-rr, crr) are not available on %s, only on Linux", runtime.GOOS),
}

// Listen answers each order with a refusal.
func (e *Engine) Listen(_ context.Context, orders []message.FlowRequest) []message.Listening {
	out := make([]message.Listening, len(orders))
	for i, o := range e.note(orders) {
		out[i] = message.Listening{ID: o.ID, Error: refusal}
	}
	return out
}

// Connect answers each order with a refusal.
func (e *Engine) Connect(_ context.Context, orders []message.FlowRequest, _ time.Duration) []message.Opened {
	out := make([]message.Opened, len(orders))
	for i, o := range e.note(orders) {
		out[i] = message.Opened{ID: o.ID, Remote: o.Remote, Error: refusal}
	}
	return out
}

func (e *Engine) note(orders []message.FlowRequest) []message.FlowRequest {
	e.mu.Lock()
	defer e.mu.Unlock()
	e.orders = append(e.orders, orders...)
	return orders
}

// Read is the flows that there are not.
func (e *Engine) Read() []message.FlowEnd {
	e.mu.Lock()
	defer e.mu.Unlock()
	out := make([]message.FlowEnd, len(e.orders))
	for i, o := range e.orders {
		out[i] = message.FlowEnd{ID: o.ID, Sends: o.Sends, Error: refusal}
	}
	return out
}

func (e *Engine) Offer(message.Cookie, *net.TCPConn) bool { return false }
func (e *Engine) Abandon([]string)                        {}
func (e *Engine) Settled() bool                           { return true }
func (e *Engine) Start(message.WindowRequest)             {}
func (e *Engine) Light() []record.FlowSample              { return nil }
func (e *Engine) Moved() (received, written int64)        { return 0, 0 }
func (e *Engine) Busy() []int64                           { return nil }
func (e *Engine) Close()                                  {}

// Flows is how many were ordered.
func (e *Engine) Flows() int { return len(e.Read()) }

// RunWorker refuses: there is nothing to hold.
func RunWorker(io.Reader, io.Writer) error { return refusal }
