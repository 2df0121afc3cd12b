//go:build !portable

package transaction

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net/netip"
	"os"
	"os/exec"
	"runtime"
	"slices"
	"sync"
	"sync/atomic"
	"syscall"
	"time"

	"linerate/internal/bus"
	"linerate/internal/host/flowset"
	"linerate/internal/host/socket"
	"linerate/internal/kernel/proc"
	"linerate/internal/kernel/sched"
	"linerate/internal/model/flow"
	"linerate/internal/model/message"
	"linerate/internal/model/netstate"
	"linerate/internal/model/record"
	"linerate/internal/science/stats"
)

// connectionsPerPort is the maximum number of connections to one port. A pair of addresses has some
// 28,000 for each, unless net.ipv4.ip_local_port_range is wider. But the kernel first selects ports
// of one parity, and once these are used up, it scans all of them for every further connection.
const connectionsPerPort = 10_000

// processCount returns the number of processes that share the connections of a flow. 1: only this
// one. A worker process reserves an eighth of its descriptors for other uses; this process, which
// has other flows, reserves half of them.
func processCount(connections int) int {
	limit := proc.MaxOpenFiles()
	if limit == 0 || connections <= min(limit/2, connectionsPerPort) {
		return 1
	}
	each := max(1, min(limit-limit/8, connectionsPerPort))
	return (connections + each - 1) / each
}

// Processes returns the number of worker processes that a request's flow needs. 1: none.
func Processes(request message.FlowRequest) int {
	if request.Protocol == flow.CRR {
		return 1
	}
	return processCount(request.Connections)
}

// processGroup is one end of a flow whose connections are distributed over worker processes.
type processGroup struct {
	flowset.State
	count  int          // number of processes
	cpu    atomic.Int64 // ns used by the processes at the latest reading
	access socket.Access

	mu        sync.Mutex // held for assignments only
	processes []*process
	closed    bool
	polledAt  time.Time // when settled was last read
	settled   bool
	last      message.FlowEnd
	busy      []int64
	readAt    time.Time // when last and busy were read
}

// process is a worker process.
type process struct {
	mu   sync.Mutex // for one task at a time
	in   io.WriteCloser
	to   *json.Encoder
	from *json.Decoder
	gone error
	out  io.Closer
	main *os.Process
	done chan struct{} // closed when the process has ended
}

// command returns the command of a worker process. Tests replace it.
var command = func() *exec.Cmd {
	cmd := proc.Command("/proc/self/exe", WorkerCommand)
	cmd.Args[0] = "linerate"
	return cmd
}

// startProcess starts a process, which is killed when this one ends for any reason.
func startProcess() (*process, error) {
	cmd := command()
	cmd.SysProcAttr = &syscall.SysProcAttr{Pdeathsig: syscall.SIGKILL}
	in, inErr := cmd.StdinPipe()
	out, outErr := cmd.StdoutPipe()
	err := errors.Join(inErr, outErr)
	started, done := make(chan error), make(chan struct{})
	if err == nil {
		go func() {
			// The death signal is sent when the thread that has started the process ends, so this
			// thread must stay (prctl(2), PR_SET_PDEATHSIG).
			runtime.LockOSThread()
			defer runtime.UnlockOSThread()
			defer close(done)
			err := cmd.Start()
			started <- err
			if err == nil {
				_, _ = cmd.Process.Wait() // not cmd.Wait, which would close what must still be read
			}
		}()
		err = <-started
	}
	if err != nil {
		return nil, fmt.Errorf("starting a process for more connections: %w", err)
	}
	return &process{in: in, to: json.NewEncoder(in), from: json.NewDecoder(out), out: out, main: cmd.Process,
		done: done}, nil
}

// call sends a task to the process and returns its report.
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

// start starts the processes.
func (s *processGroup) start() error {
	for range s.count {
		h, err := startProcess()
		if err != nil {
			s.Fail("%w", err)
			return err
		}
		s.mu.Lock()
		closed := s.closed
		if !closed {
			s.processes = append(s.processes, h)
		}
		s.mu.Unlock()
		if closed {
			h.in.Close()
			return flowset.ErrClosed
		}
	}
	return nil
}

// callAll calls all processes concurrently. The reports are in the order of the processes. A
// process that has ended returns a zero report and fails the flow.
func (s *processGroup) callAll(ask func(i int) task) []report {
	s.mu.Lock()
	processes := slices.Clone(s.processes)
	s.mu.Unlock()
	reports := make([]report, len(processes))
	var calls sync.WaitGroup
	for i, h := range processes {
		calls.Go(func() {
			var err error
			if reports[i], err = h.call(ask(i)); err != nil {
				s.Fail("%w", err)
			}
		})
	}
	calls.Wait()
	return reports
}

func (s *processGroup) assignment(i int, timeout time.Duration) *assignment {
	return &assignment{Request: s.Request, Access: s.access, First: int64(i), Step: int64(len(s.processes)),
		TimeoutNs: int64(timeout)}
}

// listen makes every process listen on its own port.
func (s *processGroup) listen(context.Context) (*flowset.Listener, error) {
	if err := s.start(); err != nil {
		return nil, err
	}
	l := &flowset.Listener{Serve: func() {}, Close: func() {}}
	for _, r := range s.callAll(func(i int) task { return task{Listen: s.assignment(i, 0)} }) {
		if r.Listening.Error != nil {
			s.Fail("%w", r.Listening.Error)
		}
		if !l.Addr.IsValid() {
			l.Addr = r.Listening.Local
		}
		l.Ports = append(l.Ports, r.Listening.Local.Port())
	}
	if failure := s.Failure(); failure != nil {
		return nil, failure
	}
	return l, nil
}

// connect makes all processes open their connections.
func (s *processGroup) connect(_ context.Context, timeout time.Duration, _ func()) {
	if s.start() != nil {
		return
	}
	var local, remote netip.AddrPort
	for _, r := range s.callAll(func(i int) task { return task{Connect: s.assignment(i, timeout)} }) {
		if e := r.Opened.Error; e != nil && s.Failure() == nil {
			if e.Ports != nil { // the process only knows its own part
				e.Ports.Open, e.Ports.Wanted = int(s.read().Transactions.Connections), s.Request.Connections
				e.Text = e.Ports.String()
			}
			s.Fail("%w", e)
		}
		if !local.IsValid() {
			local, remote = r.Opened.Local, r.Opened.Remote
		}
	}
	s.Open(local, remote, nil)
}

// Expects and Claim return false: each process accepts from its own listeners.
func (s *processGroup) Expects(message.Cookie) bool { return false }
func (s *processGroup) Claim(message.Cookie) bool   { return false }

// Start starts the transactions in the processes.
func (s *processGroup) Start(w message.WindowRequest) {
	s.callAll(func(int) task { return task{Start: &w} })
}

// Shorten makes the processes end and stop earlier.
func (s *processGroup) Shorten(endNs, stopNs int64) {
	s.callAll(func(int) task { return task{Shorten: &message.CutRequest{EndNs: endNs, StopNs: stopNs}} })
}

// Abandon makes the processes give up.
func (s *processGroup) Abandon() { s.callAll(func(int) task { return task{Abandon: true} }) }

// Settled reports whether there is nothing to wait for. It asks the processes at most every 20 ms.
func (s *processGroup) Settled() bool {
	failed := s.Failure() != nil
	s.mu.Lock()
	settled := s.settled || s.closed || failed
	recently := time.Since(s.polledAt) < 20*time.Millisecond
	s.mu.Unlock()
	if settled || recently {
		return settled
	}
	settled = !slices.ContainsFunc(s.callAll(func(int) task { return task{} }), func(r report) bool {
		return !r.Settled
	})
	s.mu.Lock()
	s.polledAt, s.settled = time.Now(), settled
	s.mu.Unlock()
	return settled || s.Failure() != nil
}

// Count sums the counters of all processes.
func (s *processGroup) Count(out *message.FlowEnd) { *out = s.read() }

// Describe fills in the state that the processes reported last.
func (s *processGroup) Describe(out *message.FlowEnd) {
	last := s.latest()
	out.Local, out.Alive, out.Error = last.Local, last.Alive, last.Error
}

// read returns the sum of what all processes report.
func (s *processGroup) read() message.FlowEnd {
	s.mu.Lock()
	closed := s.closed
	s.mu.Unlock()
	if closed {
		return s.latest()
	}
	reports := s.callAll(func(int) task { return task{Read: true} })
	out := message.FlowEnd{ID: s.Request.ID, Sends: s.Request.Sends, AtNs: sched.Now(), Alive: true}
	t := &record.Transactions{Processes: len(reports), Polling: flow.On(s.Request.Poll), Wait: record.WaitSleep}
	out.Transactions = t
	var latencies []*record.Distribution
	var busy []int64
	var memory, cpu int64
	for _, r := range reports {
		busy = append(busy, r.BusyNs...)
		memory += r.MemoryBytes
		cpu += r.CPUNs
		if r.End.Transactions == nil {
			continue // its process has ended
		}
		merge(&out, r.End)
		latencies = append(latencies, r.End.Transactions.Latency)
	}
	var err error
	if t.Latency, err = stats.Together(latencies...); err != nil && out.Error == nil {
		out.Error = bus.Failure(err)
	}
	if t.Connections > 0 {
		t.BytesPerConnection = memory / t.Connections
	}
	s.cpu.Store(cpu)
	if failure := s.Failure(); failure != nil {
		out.Alive, out.Error = false, failure
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	s.last, s.busy, s.readAt = out, busy, time.Now()
	return out
}

// latest returns the result of the latest reading.
func (s *processGroup) latest() message.FlowEnd {
	s.mu.Lock()
	defer s.mu.Unlock()
	last := s.last
	if s.closed {
		last.Alive, last.Error = false, &message.Error{Text: "closed"}
	}
	return last
}

// refresh reads all processes unless the latest reading is recent.
func (s *processGroup) refresh() {
	s.mu.Lock()
	fresh := s.closed || time.Since(s.readAt) < 50*time.Millisecond
	s.mu.Unlock()
	if !fresh {
		s.read()
	}
}

// Moved returns the bytes that the connections of all processes have received and written.
func (s *processGroup) Moved() (received, written int64) {
	s.refresh()
	last := s.latest()
	return last.ReceivedBytes, last.WrittenBytes
}

// Busy returns the CPU time of the threads of all processes.
func (s *processGroup) Busy() []int64 {
	s.refresh()
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.busy
}

// merge adds a part of an end to the sum.
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
	if sum.Error == nil {
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

// Sample returns what all processes have received and completed.
func (s *processGroup) Sample() (out netstate.FlowSample) {
	for _, r := range s.callAll(func(int) task { return task{Light: true} }) {
		out.ReceivedBytes += r.Sample.ReceivedBytes
		out.Done += r.Sample.Done
	}
	return out
}

// Close ends the processes and waits for them. It does not wait for a process that is still busy
// with a task.
func (s *processGroup) Close() {
	s.State.Close()
	const grace = 2 * time.Second
	s.mu.Lock()
	processes := slices.Clone(s.processes)
	s.mu.Unlock()
	stop := time.AfterFunc(grace, func() {
		for _, h := range processes {
			_ = h.main.Kill()
		}
	})
	defer stop.Stop()
	s.read() // so that the counters remain available
	s.mu.Lock()
	s.closed = true
	s.mu.Unlock()
	for _, h := range processes {
		h.in.Close()
	}
	for _, h := range processes {
		<-h.done
		h.out.Close()
	}
}
