package flowset

import (
	"context"
	"errors"
	"fmt"
	"net/netip"
	"slices"
	"sync"
	"sync/atomic"
	"time"

	"linerate/internal/bus"
	"linerate/internal/host/socket"
	"linerate/internal/kernel/sched"
	"linerate/internal/model/message"
	"linerate/internal/model/netstate"
)

// ErrClosed means that the set is closed and takes no more flows.
var ErrClosed = errors.New("the trial's flows are closed")

const (
	// CheckInterval is the longest that a worker waits before it checks whether the set is closing, where
	// nothing wakes it.
	CheckInterval = 50 * time.Millisecond
	// SilentTimeouts is how many consecutive retransmission timeouts mean that a silent peer is gone: about
	// three seconds on a short path. The kernel itself retries for a quarter of an hour (tcp_retries2).
	SilentTimeouts = 4
	// earlyEnd is how long before the agreed stop a peer may end a flow, since the clocks of two hosts differ.
	earlyEnd = 50 * time.Millisecond
)

// Flow is one end of a flow. Embedding a State provides all methods except Count, Describe, Sample, Moved and
// Busy. Methods must be safe for concurrent use.
type Flow interface {
	state() *State
	Expects(message.Cookie) bool
	Claim(message.Cookie) bool
	Abandon()
	Settled() bool
	Status() *message.Error
	Start(message.WindowRequest)
	Shorten(endNs, stopNs int64)
	Stop()
	Close()
	Release()

	// Count sets the flow's counts and the time at which they were read.
	Count(*message.FlowEnd)
	// Describe adds what needs system calls. The set itself fills in ID, Sends, Local, Error and Alive.
	Describe(*message.FlowEnd)
	// Sample returns the few values that are read during a window.
	Sample() netstate.FlowSample
	// Moved returns the bytes of payload received and written so far.
	Moved() (received, written int64)
	// Busy returns an upper bound of the CPU time of each worker of the flow, in ns.
	Busy() []int64
}

// Signals tells a flow's workers when to start and stop. Times are those of sched.Now; 0 means not known before
// Start.
type Signals struct {
	Start, Stop atomic.Int64 // when senders start and stop
	Begin, End  atomic.Int64 // the measured window
	Quit        atomic.Bool  // the set is closing: return now, whatever the error
}

// Sleep sleeps until the given time, or until the set closes.
func (g *Signals) Sleep(until int64) {
	for now := sched.Now(); now < until && !g.Quit.Load(); now = sched.Now() {
		time.Sleep(min(CheckInterval, time.Duration(until-now)))
	}
}

// Stopping reports whether the stop is so near that a peer may already have ended the flow.
func (g *Signals) Stopping() bool {
	stop := g.Stop.Load()
	return stop != 0 && sched.Now() >= stop-int64(earlyEnd)
}

// Set holds one host's ends of a trial's flows of one kind. It serves one trial. Its methods are safe for
// concurrent use.
type Set[F Flow] struct {
	Signals Signals

	newFlow func(message.FlowRequest) F
	ctx     context.Context    // cancelled by Close
	cancel  context.CancelFunc // called by Close
	started chan struct{}      // closed at the start

	mu      sync.Mutex // held for assignments only
	flows   []F
	starts  bool
	closed  bool
	workers sync.WaitGroup
	closing sync.Once
}

// New returns a set without flows; newFlow creates the flow for a request.
func New[F Flow](newFlow func(message.FlowRequest) F) *Set[F] {
	s := &Set[F]{newFlow: newFlow, started: make(chan struct{})}
	s.ctx, s.cancel = context.WithCancel(context.Background())
	return s
}

// Context returns a context that Close cancels.
func (s *Set[F]) Context() context.Context { return s.ctx }

// Started returns a channel that is closed at the start, or when the set closes before that.
func (s *Set[F]) Started() <-chan struct{} { return s.started }

// WaitStart waits for the start; it returns false if the set closes first.
func (s *Set[F]) WaitStart() bool {
	select {
	case <-s.started:
	case <-s.ctx.Done():
	}
	return !s.Signals.Quit.Load()
}

// All returns the flows added so far.
func (s *Set[F]) All() []F {
	s.mu.Lock()
	defer s.mu.Unlock()
	return slices.Clip(s.flows)
}

// Add adds flows; it returns false if the set is closed.
func (s *Set[F]) Add(flows ...F) bool {
	s.mu.Lock()
	defer s.mu.Unlock()
	if !s.closed {
		s.flows = append(s.flows, flows...)
	}
	return !s.closed
}

// Go runs f in a goroutine that Close waits for; it returns false if the set is closed.
func (s *Set[F]) Go(f func()) bool {
	s.mu.Lock()
	defer s.mu.Unlock()
	if !s.closed {
		s.workers.Go(f)
	}
	return !s.closed
}

// add creates and adds a flow for each request; it returns false if the set is closed.
func (s *Set[F]) add(requests []message.FlowRequest) (flows []F, added bool) {
	for _, request := range requests {
		flows = append(flows, s.newFlow(request))
	}
	return flows, s.Add(flows...)
}

// Listen adds a flow for each request and opens its listener with listen, which returns nil for a flow that a
// shared listener serves (see Claim). The replies are in the order of the requests. A flow that fails reports
// that in its reply and does not affect the others. A *message.Error, which another process worded, is passed
// on unchanged.
func (s *Set[F]) Listen(requests []message.FlowRequest, listen func(F) (*Listener, error)) []message.Listening {
	out := make([]message.Listening, len(requests))
	flows, added := s.add(requests)
	for i, f := range flows {
		state := f.state()
		out[i].ID = state.Request.ID
		if !added {
			out[i].Error = bus.Failure(ErrClosed)
			continue
		}
		l, err := listen(f)
		switch local := state.Request.Local; {
		case err != nil:
			if _, worded := errors.AsType[*message.Error](err); !worded {
				err = fmt.Errorf("listen on %s: %w", socket.AddrName(local), socket.Reason(err, local))
			}
			out[i].Error = bus.Failure(err)
			state.Fail("%w", err)
		case l == nil:
		case !state.listen(l) || !s.Go(l.Serve):
			l.Close()
			out[i].Error = bus.Failure(ErrClosed)
		default:
			out[i].Local, out[i].Ports = l.Addr, l.Ports
		}
	}
	return out
}

// Expects reports whether a flow awaits a client with this cookie.
func (s *Set[F]) Expects(cookie message.Cookie) bool {
	return !cookie.IsZero() && slices.ContainsFunc(s.All(), func(f F) bool { return f.Expects(cookie) })
}

// Claim returns the flow whose client has shown this cookie at a shared listener. It succeeds once per flow; ok
// is false if there is no such flow.
func (s *Set[F]) Claim(cookie message.Cookie) (flow F, ok bool) {
	if cookie.IsZero() {
		return flow, false
	}
	for _, f := range s.All() {
		if f.Claim(cookie) {
			return f, true
		}
	}
	return flow, false
}

// stagger is the longest that a flow's first connection waits for another's.
const stagger = 5 * time.Millisecond

// Connect adds a flow for each request and opens it with open. open calls first when the flow's first
// connection is open, and returns the function that moves the flow's data until it ends (nil: nothing to move).
// Connect returns when every open has returned; the replies, each with the flow's Status, are in the order of
// the requests.
//
// The first connection to each address waits at most stagger for the one before it; the others are opened at
// once. So neighbours are resolved one after another, as with programs that a person starts, and the network
// rather than a race among our own requests decides which answer comes first.
func (s *Set[F]) Connect(ctx context.Context, requests []message.FlowRequest, open func(ctx context.Context, f F,
	first func()) (run func())) []message.Opened {
	out := make([]message.Opened, len(requests))
	flows, added := s.add(requests)
	ctx, cancel := context.WithCancel(ctx)
	defer cancel()
	defer context.AfterFunc(s.ctx, cancel)()
	var pending sync.WaitGroup
	begin := func(i int) <-chan struct{} {
		opened := make(chan struct{})
		first := sync.OnceFunc(func() { close(opened) })
		pending.Add(1)
		if !added || !s.Go(func() {
			var run func()
			if f := flows[i]; requests[i].Remote.IsValid() {
				run = open(ctx, f, first)
			} else {
				f.state().Fail("connect: flow %s has no remote address", requests[i].ID)
			}
			out[i].Local, _ = flows[i].state().Addrs()
			out[i].Error = flows[i].Status()
			first()
			pending.Done()
			if run != nil {
				run()
			}
		}) {
			out[i].Error = bus.Failure(ErrClosed)
			first()
			pending.Done()
		}
		return opened
	}
	known := map[netip.Addr]bool{}
	var further []int
	for i, request := range requests {
		out[i].ID, out[i].Remote = request.ID, request.Remote
		if known[request.Remote.Addr()] {
			further = append(further, i)
			continue
		}
		known[request.Remote.Addr()] = true
		timer := time.NewTimer(stagger)
		select {
		case <-begin(i):
		case <-timer.C:
		}
		timer.Stop()
	}
	for _, i := range further {
		begin(i)
	}
	pending.Wait()
	return out
}

// Adopt adds a flow whose socket the caller has opened; run moves its data. If open, which calls State.Open,
// returns false, the error says why; after ErrClosed neither function was called.
func (s *Set[F]) Adopt(f F, open func() bool, run func()) error {
	opened := make(chan error, 1)
	if !s.Add(f) || !s.Go(func() {
		if !open() {
			opened <- f.Status()
			return
		}
		opened <- nil
		run()
	}) {
		return ErrClosed
	}
	return <-opened
}

// Abandon fails the named flows that still await their clients.
func (s *Set[F]) Abandon(unused []string) {
	for _, f := range s.All() {
		if slices.Contains(unused, f.state().Request.ID) {
			f.Abandon()
		}
	}
}

// Settled reports whether every flow is open or has failed.
func (s *Set[F]) Settled() bool {
	return !slices.ContainsFunc(s.All(), func(f F) bool { return !f.Settled() })
}

// Start sets the window, in ns of sched.Now, and returns at once. Senders start at its start and stop at its
// stop. Only the first call has an effect.
func (s *Set[F]) Start(w message.WindowRequest) {
	s.mu.Lock()
	again := s.starts
	s.starts = true
	s.mu.Unlock()
	if again {
		return
	}
	s.Signals.Start.Store(w.StartNs)
	s.Signals.Begin.Store(w.BeginNs)
	s.Signals.End.Store(w.EndNs)
	s.Signals.Stop.Store(w.StopNs)
	for _, f := range s.All() {
		f.Start(w)
	}
	s.Go(func() {
		defer close(s.started)
		// The bulk of the wait uses a timer, which can be interrupted; the rest sleeps in the kernel, which is
		// precise. Nothing spins, since other hosts of a lab may share the processors.
		const precise = 5 * time.Millisecond
		coarse := time.NewTimer(time.Duration(w.StartNs-sched.Now()) - precise)
		defer coarse.Stop()
		select {
		case <-coarse.C:
			sched.SleepUntil(w.StartNs)
		case <-s.ctx.Done():
		}
	})
}

// Shorten brings forward the end of the window and the stop.
func (s *Set[F]) Shorten(endNs, stopNs int64) {
	s.Signals.End.Store(endNs)
	s.Signals.Stop.Store(stopNs)
	for _, f := range s.All() {
		f.Shorten(endNs, stopNs)
	}
}

// Stop makes senders stop now, before the stop that Start set.
func (s *Set[F]) Stop() {
	s.Signals.Stop.Store(sched.Now())
	for _, f := range s.All() {
		f.Stop()
	}
}

// Broken returns the first flow whose socket has failed, and the error; the error is nil if there is none.
func (s *Set[F]) Broken() (message.FlowRequest, error) {
	for _, f := range s.All() {
		state := f.state()
		state.mu.Lock()
		cause := state.cause
		state.mu.Unlock()
		if cause != nil {
			return state.Request, cause
		}
	}
	return message.FlowRequest{}, nil
}

// Window returns the argument of Start; zero before.
func (s *Set[F]) Window() message.WindowRequest {
	g := &s.Signals
	return message.WindowRequest{StartNs: g.Start.Load(), BeginNs: g.Begin.Load(), EndNs: g.End.Load(),
		StopNs: g.Stop.Load()}
}

// Read returns the state of every flow, in the order they were added. It first reads the counts of all flows,
// within microseconds and each with its own time, and then what needs system calls.
func (s *Set[F]) Read() []message.FlowEnd {
	flows := s.All()
	out := make([]message.FlowEnd, len(flows))
	for i, f := range flows {
		f.Count(&out[i])
	}
	for i, f := range flows {
		state, end := f.state(), &out[i]
		end.ID, end.Sends = state.Request.ID, state.Request.Sends
		end.Local, _ = state.Addrs()
		end.Error = f.Status()
		end.Alive = end.Error == nil
		f.Describe(end)
	}
	return out
}

// Light returns a sample of every flow, in the order they were added; it makes fewer system calls than Read.
func (s *Set[F]) Light() []netstate.FlowSample {
	flows := s.All()
	out := make([]netstate.FlowSample, len(flows))
	for i, f := range flows {
		out[i] = f.Sample()
		out[i].ID = f.state().Request.ID
	}
	return out
}

// Moved returns the bytes of payload that all flows have received and written.
func (s *Set[F]) Moved() (received, written int64) {
	for _, f := range s.All() {
		r, w := f.Moved()
		received, written = received+r, written+w
	}
	return received, written
}

func (s *Set[F]) Flows() int { return len(s.All()) }

// Busy returns an upper bound of the CPU time of each worker, in ns. New workers are appended.
func (s *Set[F]) Busy() (ns []int64) {
	for _, f := range s.All() {
		ns = append(ns, f.Busy()...)
	}
	return ns
}

// Close closes every flow and listener and waits until no goroutine, descriptor or connection in TIME_WAIT is
// left. The counts remain readable. Further calls wait for the first.
func (s *Set[F]) Close() {
	s.closing.Do(func() {
		s.mu.Lock()
		s.closed = true
		flows := s.flows
		s.mu.Unlock()
		s.Signals.Quit.Store(true)
		s.cancel()
		for _, f := range flows {
			f.Close()
		}
		s.workers.Wait()
		for _, f := range flows {
			f.Release()
		}
	})
}
