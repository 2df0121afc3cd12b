package transaction

import (
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"os/exec"
	"runtime"
	"slices"
	"sync"
	"sync/atomic"
	"syscall"
	"time"

	"linerate/internal/host/socket"
	"linerate/internal/kernel/sock"
	"linerate/internal/model/message"
	"linerate/internal/model/record"
	"linerate/internal/science/stats"
)

// connectionsPerPort is how many connections go to one port at most. A pair of
// addresses has some 28,000 for each, unless net.ipv4.ip_local_port_range has been
// widened; but the kernel first gives those of one parity away, and once they are
// used up it looks at all of them for every further connection.
const connectionsPerPort = 10_000

// processCount is how many a flow's connections are spread over; 1: this one. A
// process keeps an eighth of its descriptors for other things, and this one, which
// has other flows, half of them.
func processCount(connections int) int {
	limit := sock.OpenFiles()
	if limit == 0 || connections <= min(limit/2, connectionsPerPort) {
		return 1
	}
	each := max(1, min(limit-limit/8, connectionsPerPort))
	return (connections + each - 1) / each
}

// processGroup is one end of a flow whose connections are in several processes.
type processGroup struct {
	order     message.FlowRequest
	processes []*process

	mu      sync.Mutex
	failure string
	closed  bool
	// polledAt is when the hands were last asked, and what has come of it.
	polledAt time.Time
	settled  bool
	last     message.FlowEnd
	busy     []int64
	readAt   time.Time // when last and busy are from
	cpu      atomic.Int64
}

// process is one of the processes.
type process struct {
	mu   sync.Mutex // one question at a time
	in   io.WriteCloser
	to   *json.Encoder
	from *json.Decoder
	gone error
	out  io.Closer
	kill func()
	done chan struct{} // closed when the process has ended
}

// command is how a hand is started; tests have another way.
var command = func() *exec.Cmd {
	cmd := exec.Command("/proc/self/exe", WorkerCommand)
	cmd.Args[0] = "linerate"
	return cmd
}

// startProcess starts a process, which ends with this one, however that ends.
func startProcess() (*process, error) {
	h := &process{done: make(chan struct{})}
	started := make(chan error)
	go func() {
		// The death signal comes when the thread ends that has started the process,
		// so this one stays (prctl(2), PR_SET_PDEATHSIG).
		runtime.LockOSThread()
		defer runtime.UnlockOSThread()
		defer close(h.done)
		cmd := command()
		cmd.SysProcAttr = &syscall.SysProcAttr{Pdeathsig: syscall.SIGKILL}
		in, err := cmd.StdinPipe()
		if err != nil {
			started <- err
			return
		}
		out, err := cmd.StdoutPipe()
		if err != nil {
			started <- err
			return
		}
		if err := cmd.Start(); err != nil {
			started <- err
			return
		}
		h.in, h.to, h.from, h.out = in, json.NewEncoder(in), json.NewDecoder(out), out
		h.kill = func() { _ = cmd.Process.Kill() }
		started <- nil
		_, _ = cmd.Process.Wait() // not cmd.Wait, which would close what is still to be read
	}()
	if err := <-started; err != nil {
		return nil, fmt.Errorf("starting a process for more connections: %w", err)
	}
	return h, nil
}

// call has a hand carry a task out.
func (h *process) call(t task) (r report, err error) {
	h.mu.Lock()
	defer h.mu.Unlock()
	if h.gone != nil {
		return r, h.gone
	}
	if err = h.to.Encode(t); err == nil {
		err = h.from.Decode(&r)
	}
	if err != nil {
		h.gone = fmt.Errorf("a process that held a part of the connections is gone: %w", err)
	}
	return r, h.gone
}

// newGroup starts the processes for an order. nil: the engine is closed.
func (e *Engine) newGroup(order message.FlowRequest, n int) (*processGroup, error) {
	s := &processGroup{order: order}
	e.mu.Lock()
	closed := e.quit.Load()
	if !closed {
		e.groups = append(e.groups, s)
	}
	e.mu.Unlock()
	if closed {
		return nil, errors.New(socket.EngineClosed)
	}
	for range n {
		h, err := startProcess()
		if err != nil {
			s.fail(err.Error())
			return nil, err
		}
		s.mu.Lock()
		if s.closed {
			s.mu.Unlock()
			h.in.Close()
			return nil, errors.New(socket.EngineClosed)
		}
		s.processes = append(s.processes, h)
		s.mu.Unlock()
	}
	return s, nil
}

func (s *processGroup) fail(why string) {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.failure == "" {
		s.failure = why
	}
}

// callAll asks all hands at once. The reports are in the hands' order; one that is
// gone reports nothing, and fails the flow.
func (s *processGroup) callAll(ask func(i int) task) []report {
	s.mu.Lock()
	hands := slices.Clone(s.processes)
	s.mu.Unlock()
	reports := make([]report, len(hands))
	var asking sync.WaitGroup
	for i, h := range hands {
		asking.Go(func() {
			var err error
			if reports[i], err = h.call(ask(i)); err != nil {
				s.fail(err.Error())
			}
		})
	}
	asking.Wait()
	return reports
}

func (s *processGroup) assignment(i int, timeout time.Duration) *assignment {
	return &assignment{Order: s.order, First: int64(i), Step: int64(len(s.processes)), TimeoutNs: int64(timeout)}
}

// listen has every hand listen on a port of its own.
func (s *processGroup) listen() message.Listening {
	out := message.Listening{ID: s.order.ID}
	for _, r := range s.callAll(func(i int) task { return task{Listen: s.assignment(i, 0)} }) {
		if out.Error == "" {
			out.Error = r.Listening.Error
		}
		if !out.Local.IsValid() {
			out.Local = r.Listening.Local
		}
		out.Ports = append(out.Ports, r.Listening.Local.Port())
	}
	return s.noteListening(out)
}

func (s *processGroup) noteListening(out message.Listening) message.Listening {
	s.mu.Lock()
	defer s.mu.Unlock()
	if out.Error == "" {
		out.Error = s.failure
	} else if s.failure == "" {
		s.failure = out.Error
	}
	return out
}

// connect has all hands open their connections.
func (s *processGroup) connect(timeout time.Duration) message.Opened {
	out := message.Opened{ID: s.order.ID, Remote: s.order.Remote}
	for _, r := range s.callAll(func(i int) task { return task{Connect: s.assignment(i, timeout)} }) {
		if out.Error == "" {
			out.Error, out.Exhausted = r.Opened.Error, r.Opened.Exhausted
		}
		if !out.Local.IsValid() {
			out.Local = r.Opened.Local
		}
	}
	if p := out.Exhausted; p != nil { // the hand knows of its own part only
		p.Open, p.Wanted = int(s.read().Transactions.Connections), s.order.Connections
		out.Error = p.String()
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	if out.Error == "" {
		out.Error = s.failure
	} else if s.failure == "" {
		s.failure = out.Error
	}
	return out
}

// isSettled says that nothing more is to be waited for. It asks the hands now and
// then.
func (s *processGroup) isSettled() bool {
	s.mu.Lock()
	ready := s.settled || s.failure != "" || s.closed
	recently := time.Since(s.polledAt) < 20*time.Millisecond
	s.mu.Unlock()
	if ready || recently {
		return ready
	}
	ready = !slices.ContainsFunc(s.callAll(func(int) task { return task{} }), func(r report) bool { return !r.Settled })
	s.mu.Lock()
	defer s.mu.Unlock()
	s.polledAt, s.settled = time.Now(), ready
	return ready || s.failure != ""
}

// read is what all hands together say.
func (s *processGroup) read() message.FlowEnd {
	s.mu.Lock()
	last, closed := s.last, s.closed
	s.mu.Unlock()
	if closed {
		last.Alive, last.Error = false, "closed"
		return last
	}
	reports := s.callAll(func(int) task { return task{Read: true} })
	out := message.FlowEnd{ID: s.order.ID, Sends: s.order.Sends, AtNs: socket.Now(), Alive: true}
	t := &record.Transactions{Processes: len(reports), Polling: s.order.Poll}
	out.Transactions = t
	var latencies []*record.Distribution
	var busy []int64
	var memory, cpu int64
	for _, r := range reports {
		busy = append(busy, r.BusyNs...)
		memory += r.MemoryBytes
		cpu += r.CPUNs
		if r.End.Transactions == nil {
			continue // its process is gone
		}
		merge(&out, r.End)
		latencies = append(latencies, r.End.Transactions.Latency)
	}
	var err error
	if t.Latency, err = stats.Together(latencies...); err != nil && out.Error == "" {
		out.Error = err.Error()
	}
	if t.Connections > 0 {
		t.BytesPerConnection = memory / t.Connections
	}
	s.cpu.Store(cpu)
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.failure != "" {
		out.Alive, out.Error = false, s.failure
	}
	s.last, s.busy, s.readAt = out, busy, time.Now()
	return out
}

// latest is what the latest reading has said.
func (s *processGroup) latest() message.FlowEnd {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.last
}

// spent is the CPU time of all hands' threads.
func (s *processGroup) spent() []int64 {
	s.mu.Lock()
	fresh := s.closed || time.Since(s.readAt) < 50*time.Millisecond
	s.mu.Unlock()
	if !fresh {
		s.read()
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.busy
}

// merge adds a part of an end to the whole.
func merge(sum *message.FlowEnd, part message.FlowEnd) {
	sum.AtNs = min(sum.AtNs, part.AtNs)
	sum.ReceivedBytes += part.ReceivedBytes
	sum.WrittenBytes += part.WrittenBytes
	if sum.FirstNs == 0 || part.FirstNs != 0 && part.FirstNs < sum.FirstNs {
		sum.FirstNs = part.FirstNs
	}
	sum.LastNs = max(sum.LastNs, part.LastNs)
	sum.Alive = sum.Alive && part.Alive
	if !sum.Local.IsValid() {
		sum.Local, sum.CongestionControl = part.Local, part.CongestionControl
		sum.SndbufBytes, sum.RcvbufBytes = part.SndbufBytes, part.RcvbufBytes
	}
	if sum.Error == "" {
		sum.Error = part.Error
	}
	t, p := sum.Transactions, part.Transactions
	t.Done += p.Done
	t.Failed += p.Failed
	t.Unanswered += p.Unanswered
	t.Late += p.Late
	t.Waiting += p.Waiting
	t.LongestWaitUs = max(t.LongestWaitUs, p.LongestWaitUs)
	t.Connections += p.Connections
	t.Opened += p.Opened
}

// light is a cheap reading.
func (s *processGroup) light() record.FlowSample {
	out := record.FlowSample{ID: s.order.ID}
	for _, r := range s.callAll(func(int) task { return task{Light: true} }) {
		out.ReceivedBytes += r.Sample.ReceivedBytes
		out.Done += r.Sample.Done
	}
	return out
}

// listenGroup and connectGroup carry out an order whose connections do not fit
// into this process.
func (e *Engine) listenGroup(order message.FlowRequest, n int) message.Listening {
	s, err := e.newGroup(order, n)
	if err != nil {
		return message.Listening{ID: order.ID, Error: err.Error()}
	}
	return s.listen()
}

func (e *Engine) connectGroup(order message.FlowRequest, n int, timeout time.Duration) message.Opened {
	s, err := e.newGroup(order, n)
	if err != nil {
		return message.Opened{ID: order.ID, Remote: order.Remote, Error: err.Error()}
	}
	return s.connect(timeout)
}

// close ends the hands and waits for their end. One that is still busy with
// something else is not waited for.
func (s *processGroup) close() {
	const grace = 2 * time.Second
	s.mu.Lock()
	hands := slices.Clone(s.processes)
	s.mu.Unlock()
	stop := time.AfterFunc(grace, func() {
		for _, h := range hands {
			h.kill()
		}
	})
	defer stop.Stop()
	s.read() // the counts remain
	s.mu.Lock()
	s.closed = true
	s.mu.Unlock()
	for _, h := range hands {
		h.in.Close()
	}
	for _, h := range hands {
		<-h.done
		h.out.Close()
	}
}
