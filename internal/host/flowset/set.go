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
	"linerate/internal/model/record"
)

// ErrClosed: the set has been closed, and takes no more flows.
var ErrClosed = errors.New("the trial's flows are closed")

const (
	// CheckInterval is the longest that a worker waits before it looks whether the set
	// closes, where nothing wakes it up for that.
	CheckInterval = 50 * time.Millisecond
	// SilentTimeouts is how many retransmission timeouts in a row make a peer that
	// neither answers nor resets count as gone: about three seconds on a short path. The
	// kernel itself keeps trying for a quarter of an hour (tcp_retries2).
	SilentTimeouts = 4
	// earlyEnd is how much before the agreed stop a peer may end a flow: the two hosts'
	// clocks differ.
	earlyEnd = 50 * time.Millisecond
)

// Flow is one end of a flow of some protocol. All but the five methods that count
// come with an embedded State. Methods may be called from several goroutines.
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

	// Count fills in the flow's counts, and the instant at which they were taken.
	Count(*message.FlowEnd)
	// Describe adds what takes system calls. ID, Sends, Local, Error and Alive are
	// filled in by the set.
	Describe(*message.FlowEnd)
	// Sample is the little that is read within a window.
	Sample() record.FlowSample
	// Moved is how many bytes of payload have been received and written.
	Moved() (received, written int64)
	// Busy bounds the CPU time of each of the flow's workers from above, in ns.
	Busy() []int64
}

// Signals are what a flow's workers obey. Instants are those of sched.Now; 0: not
// known before Start.
type Signals struct {
	Start, Stop atomic.Int64 // at which senders start and stop
	Begin, End  atomic.Int64 // of the measured window
	Quit        atomic.Bool  // the set closes: return now, whatever the error
}

// Sleep sleeps until an instant, or until the set closes.
func (g *Signals) Sleep(until int64) {
	for now := sched.Now(); now < until && !g.Quit.Load(); now = sched.Now() {
		time.Sleep(min(CheckInterval, time.Duration(until-now)))
	}
}

// Stopping says that the stop is so near that a peer may have ended the flow.
func (g *Signals) Stopping() bool {
	stop := g.Stop.Load()
	return stop != 0 && sched.Now() >= stop-int64(earlyEnd)
}

// Set is one host's ends of a trial's flows of some protocol. It serves one trial.
// Its methods may be called from several goroutines.
type Set[F Flow] struct {
	Signals Signals

	newFlow func(message.FlowRequest) F
	ctx     context.Context    // ends with Close
	cancel  context.CancelFunc // called by Close
	started chan struct{}      // closed at the instant of the start

	mu      sync.Mutex // held for assignments only
	flows   []F
	starts  bool
	closed  bool
	workers sync.WaitGroup
	closing sync.Once
}

// New makes a set without flows; newFlow makes one end of a request's flow.
func New[F Flow](newFlow func(message.FlowRequest) F) *Set[F] {
	s := &Set[F]{newFlow: newFlow, started: make(chan struct{})}
	s.ctx, s.cancel = context.WithCancel(context.Background())
	return s
}

// Context ends with Close.
func (s *Set[F]) Context() context.Context { return s.ctx }

// Started is closed at the instant of the start, or, before it, with the set.
func (s *Set[F]) Started() <-chan struct{} { return s.started }

// WaitStart waits for the start; false: the set closes.
func (s *Set[F]) WaitStart() bool {
	select {
	case <-s.started:
	case <-s.ctx.Done():
	}
	return !s.Signals.Quit.Load()
}

// All is every flow so far.
func (s *Set[F]) All() []F {
	s.mu.Lock()
	defer s.mu.Unlock()
	return slices.Clip(s.flows)
}

// Add adds flows; false: the set is closed.
func (s *Set[F]) Add(flows ...F) bool {
	s.mu.Lock()
	defer s.mu.Unlock()
	if !s.closed {
		s.flows = append(s.flows, flows...)
	}
	return !s.closed
}

// Go runs f in a goroutine that Close waits for; false: the set is closed.
func (s *Set[F]) Go(f func()) bool {
	s.mu.Lock()
	defer s.mu.Unlock()
	if !s.closed {
		s.workers.Go(f)
	}
	return !s.closed
}

// add adds a flow for each request; false: the set is closed.
func (s *Set[F]) add(requests []message.FlowRequest) (flows []F, added bool) {
	for _, request := range requests {
		flows = append(flows, s.newFlow(request))
	}
	return flows, s.Add(flows...)
}

// Listen adds a flow for each request, and opens a listener for it with listen, which
// returns nil for a flow that a shared listener serves (see Claim). The replies are in
// the requests' order; a flow that fails says so there and stops no other. A
// *message.Error, which another process has worded, is reported as it is.
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

// Expects says whether some flow awaits a client with this cookie.
func (s *Set[F]) Expects(cookie message.Cookie) bool {
	return !cookie.IsZero() && slices.ContainsFunc(s.All(), func(f F) bool { return f.Expects(cookie) })
}

// Claim is the flow whose client has shown this cookie at a shared listener, once;
// false: there is none.
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

// stagger is the longest that one flow's first connection waits for another's.
const stagger = 5 * time.Millisecond

// Connect adds a flow for each request and opens it with open, which calls first when
// the flow's first connection is open, and returns what moves the flow's data until it
// ends (nil: nothing). It returns when every open has; the replies are in the requests'
// order, each with the flow's Status.
//
// The first connection to each address waits for the one before it, for stagger at
// most; the others are opened at once. So neighbours are resolved one after another,
// as with programs that a person starts, and which answer is first is decided by
// the network rather than by a race among our own requests.
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

// Adopt adds a flow whose socket the caller has opened; run moves its data. The
// error is why open, which calls State.Open, was false; ErrClosed: neither was
// called.
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

// Abandon gives up those of the flows named that still await their clients.
func (s *Set[F]) Abandon(unused []string) {
	for _, f := range s.All() {
		if slices.Contains(unused, f.state().Request.ID) {
			f.Abandon()
		}
	}
}

// Settled says that every flow is open or has failed.
func (s *Set[F]) Settled() bool {
	return !slices.ContainsFunc(s.All(), func(f F) bool { return !f.Settled() })
}

// Start sets the window, in ns of sched.Now, and returns at once: senders start at
// its start and stop at its stop. Only the first call counts.
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
		// A timer for the bulk, as it can be interrupted; the kernel's own sleep
		// for the rest, as it is precise. Nothing spins: other hosts of a lab may
		// share the processors.
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

// Shorten brings forward the end of the window and the stop that Start was given.
func (s *Set[F]) Shorten(endNs, stopNs int64) {
	s.Signals.End.Store(endNs)
	s.Signals.Stop.Store(stopNs)
	for _, f := range s.All() {
		f.Shorten(endNs, stopNs)
	}
}

// Stop has senders stop now, ahead of the instant that Start was given.
func (s *Set[F]) Stop() {
	s.Signals.Stop.Store(sched.Now())
	for _, f := range s.All() {
		f.Stop()
	}
}

// Broken is the first flow whose socket has failed, and how; nil: none has.
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

// Window is what Start was given; zero before.
func (s *Set[F]) Window() message.WindowRequest {
	g := &s.Signals
	return message.WindowRequest{StartNs: g.Start.Load(), BeginNs: g.Begin.Load(), EndNs: g.End.Load(),
		StopNs: g.Stop.Load()}
}

// Read is every flow's state at this instant, in the order in which they were
// added. The counts of all flows are taken first, each with its own instant, within
// microseconds of each other; what needs system calls follows.
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

// Light is every flow's sample.
func (s *Set[F]) Light() []record.FlowSample {
	flows := s.All()
	out := make([]record.FlowSample, len(flows))
	for i, f := range flows {
		out[i] = f.Sample()
		out[i].ID = f.state().Request.ID
	}
	return out
}

// Moved is how many bytes of payload all flows have received and written.
func (s *Set[F]) Moved() (received, written int64) {
	for _, f := range s.All() {
		r, w := f.Moved()
		received, written = received+r, written+w
	}
	return received, written
}

// Flows is how many flows there are.
func (s *Set[F]) Flows() int { return len(s.All()) }

// Busy bounds from above, for each worker, the CPU time that it has used, in ns.
// Workers are only added, at the end.
func (s *Set[F]) Busy() (ns []int64) {
	for _, f := range s.All() {
		ns = append(ns, f.Busy()...)
	}
	return ns
}

// Close closes every flow and listener, and waits until nothing of the set is left:
// no goroutine, no descriptor, no connection in TIME_WAIT. The counts remain
// readable. A further call waits for the first.
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
