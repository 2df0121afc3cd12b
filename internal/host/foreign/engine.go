// Package foreign generates flows with other tools. It starts their servers and clients as children of the
// agent, in whose network namespace they run and with which they die, and reads the traffic of their
// connections from the kernel (sock_diag(7)), so that their flows are counted like our own. What the programs
// print becomes a tool report.
//
// The programs' arguments and output formats are in internal/model/tool.
package foreign

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"io"
	"net/netip"
	"os/exec"
	"slices"
	"sync"
	"time"

	"linerate/internal/bus"
	"linerate/internal/host/flowset"
	"linerate/internal/host/program"
	"linerate/internal/host/socket"
	"linerate/internal/kernel/netlink"
	"linerate/internal/kernel/proc"
	"linerate/internal/kernel/sched"
	"linerate/internal/model/flow"
	"linerate/internal/model/lists"
	"linerate/internal/model/message"
	"linerate/internal/model/tool"
)

// Engine holds one host's ends of a trial's flows that other programs run. It is a FlowEngine of package
// traffic.
type Engine struct {
	ctx    context.Context // cancelled by Close
	cancel context.CancelFunc
	launch *program.Launcher

	mu        sync.Mutex
	sockets   *netlink.SocketDiag
	processes []*process
	flows     []*toolFlow
	started   bool
	startNs   int64
	closing   sync.WaitGroup
}

// process is a client or its server.
type process struct {
	name   string
	tool   *tool.Tool
	job    tool.Job
	serves bool
	wrong  error // why it cannot be started
	whole  bool  // all its connections have existed at the same time
	tally  tally // for a tool whose connections all count
	*program.Program
}

// toolFlow is one end of one connection of a process.
type toolFlow struct {
	request message.FlowRequest
	process *process
	remote  netip.AddrPort  // address of the opener, or of the acceptor; invalid: not seen yet
	end     message.FlowEnd // as of the latest reading
	life    life
}

// New returns an engine that has started nothing.
func New() *Engine {
	e := &Engine{launch: program.NewLauncher(proc.Needs{})}
	e.ctx, e.cancel = context.WithCancel(context.Background())
	return e
}

// Missing returns those programs that are not installed.
func Missing(programs []string) []string {
	var missing []string
	for _, name := range programs {
		if _, err := exec.LookPath(name); err != nil && !slices.Contains(missing, name) {
			missing = append(missing, name)
		}
	}
	return missing
}

// ServedHere reports whether a request is for the accepting end of a flow whose tool has no server: the engine
// of the flow's application then serves it.
func ServedHere(request message.FlowRequest) bool {
	made, known := tool.Find(request.Tool)
	return known && !made.Serves() && !request.Remote.IsValid()
}

// take adds the requests of one side, and returns their processes.
func (e *Engine) take(requests []message.FlowRequest, serves bool) ([]*process, error) {
	e.mu.Lock()
	defer e.mu.Unlock()
	if e.ctx.Err() != nil {
		return nil, flowset.ErrClosed
	}
	if e.sockets == nil {
		sockets, err := netlink.DialSocketDiag()
		if err != nil {
			return nil, err
		}
		if err := sockets.Watch(); err != nil {
			return nil, errors.Join(err, sockets.Close())
		}
		e.sockets = sockets
		e.closing.Go(e.hear)
	}
	var made []*process
	for _, o := range requests {
		i := slices.IndexFunc(made, func(p *process) bool { return p.name == o.Process })
		if i < 0 {
			i = len(made)
			made = append(made, newProcess(o, serves))
		}
		p := made[i]
		if !p.countsAll() {
			p.job.Streams++
		}
		e.flows = append(e.flows, &toolFlow{request: o, process: p, end: message.FlowEnd{ID: o.ID, Sends: o.Sends}})
	}
	e.processes = append(e.processes, made...)
	return made, nil
}

// processNamed returns the process that runs a flow.
func processNamed(all []*process, o message.FlowRequest) *process {
	return all[slices.IndexFunc(all, func(p *process) bool { return p.name == o.Process })]
}

func newProcess(o message.FlowRequest, serves bool) *process {
	p := &process{name: o.Process, serves: serves}
	made, known := tool.Find(o.Tool)
	if !known {
		p.wrong = bus.Coded(message.Unsupported, fmt.Errorf("tool %.40q is not known to this version", o.Tool.Name))
		return p
	}
	// a study was checked before, but the conductor may be another program
	if wrong := made.CheckArgs(o.ToolArgs); len(wrong) > 0 {
		p.wrong = bus.Coded(message.Unsupported, fmt.Errorf("tool_args %.40q: %s", o.ToolArgs[wrong[0].Index],
			wrong[0].Why))
		return p
	}
	p.tool = made
	p.job = tool.Job{Spec: o.Spec, Reads: o.Sends == serves}
	if !made.All {
		p.job.Streams = 0 // counted by take
	}
	name := made.Client
	if serves {
		name = made.Server
		p.job.Destination = netip.AddrPortFrom(o.Local, 0)
	} else {
		p.job.Source, p.job.Destination = o.Local, o.Remote
	}
	if name != "" && len(Missing([]string{name})) > 0 {
		p.wrong = bus.Coded(message.NotFound, errors.New(made.NotInstalled(name)))
	}
	return p
}

// listenTimeout limits the wait until servers listen: hundreds of them may start on a busy machine.
const listenTimeout = 20 * time.Second

// Listen starts the servers and returns when they listen.
func (e *Engine) Listen(ctx context.Context, requests []message.FlowRequest) []message.Listening {
	processes, err := e.take(requests, true)
	if err == nil {
		err = e.reserve(processes)
	}
	if err == nil {
		err = e.ignore(processes)
	}
	if err == nil {
		for _, p := range processes {
			if p.wrong == nil && p.tool.Server != "" {
				e.begin(p, p.tool.ServerWords(p.job), p.tool.Forks)
			}
		}
		err = e.await(ctx, processes)
	}
	out := make([]message.Listening, len(requests))
	for i, o := range requests {
		out[i].ID = o.ID
		if err != nil {
			out[i].Error = bus.Failure(err)
			continue
		}
		p := processNamed(processes, o)
		out[i].Local, out[i].Error = p.job.Destination, bus.Failure(p.wrong)
	}
	return out
}

// begin starts a process's program.
func (e *Engine) begin(p *process, command []string, alone bool) {
	var input []string
	if !p.serves {
		input = p.tool.Input(p.job)
	}
	started, err := e.launch.Start(command, alone, input...)
	e.mu.Lock()
	defer e.mu.Unlock()
	if p.Program = started; err != nil {
		p.wrong = err
	}
}

// fail records why the flows of a process cannot run.
func (e *Engine) fail(p *process, why error) {
	e.mu.Lock()
	defer e.mu.Unlock()
	p.wrong = why
}

// reserve finds unused ports. It binds all at the same time, so that no two servers get the same.
func (e *Engine) reserve(processes []*process) error {
	var all []io.Closer
	defer func() {
		for _, held := range all {
			held.Close()
		}
	}()
	hold := func(protocol string, addr netip.Addr, port uint16) (uint16, error) {
		held, port, err := socket.Hold(protocol, netip.AddrPortFrom(addr, port))
		if err == nil {
			all = append(all, held)
		}
		return port, err
	}
	const tries = 50
	for _, p := range processes {
		if p.wrong != nil {
			continue
		}
		addr := p.job.Destination.Addr()
		if p.tool.Port != 0 {
			e.serve(p, netip.AddrPortFrom(addr, p.tool.Port))
			continue
		}
		var port uint16
		var err error
		for range tries {
			if port, err = hold(flow.TCP, addr, 0); err != nil {
				break
			}
			switch {
			case p.tool.TwoPorts && port < 65535:
				_, err = hold(flow.TCP, addr, port+1)
			case p.job.Protocol == flow.UDP:
				_, err = hold(flow.UDP, addr, port)
			}
			if err == nil {
				break
			}
		}
		if err != nil {
			return fmt.Errorf("no port on %s for %s: %w", addr, p.tool.Server, err)
		}
		e.serve(p, netip.AddrPortFrom(addr, port))
	}
	return nil
}

// serve sets where a process serves, under the lock that handling an ended connection takes.
func (e *Engine) serve(p *process, at netip.AddrPort) {
	e.mu.Lock()
	defer e.mu.Unlock()
	p.job.Destination = at
}

// ignore excludes connections that already exist to a fixed port from the processes' counts.
func (e *Engine) ignore(processes []*process) error {
	if !slices.ContainsFunc(processes, func(p *process) bool { return p.countsAll() && p.tool.Port != 0 }) {
		return nil
	}
	e.mu.Lock()
	defer e.mu.Unlock()
	list, err := e.sockets.TCP(false)
	for _, p := range processes {
		p.tally.ignore(list)
	}
	return err
}

// await waits until every server listens, or has ended.
func (e *Engine) await(ctx context.Context, processes []*process) error {
	ctx, cancel := context.WithTimeout(ctx, listenTimeout)
	defer cancel()
	for {
		tcp, err := e.sockets.TCP(true)
		if err != nil {
			return err
		}
		udp, err := e.sockets.UDP()
		if err != nil {
			return err
		}
		open := map[uint16]bool{}
		for _, s := range append(tcp, udp...) {
			open[s.Local.Port()] = true
		}
		waiting := 0
		for _, p := range processes {
			if p.wrong != nil || open[p.job.Destination.Port()] {
				continue
			}
			if p.Program == nil { // another program listens, or none
				e.fail(p, fmt.Errorf("nothing listens on %s", p.job.Destination))
				continue
			}
			select {
			case <-p.Ended():
				e.fail(p, errors.New(p.Last()))
			default:
				waiting++
			}
		}
		if waiting == 0 {
			return nil
		}
		select {
		case <-ctx.Done():
			return fmt.Errorf("%d of %d servers did not listen within %v", waiting, len(processes), listenTimeout)
		case <-e.ctx.Done():
			return flowset.ErrClosed
		case <-time.After(2 * time.Millisecond):
		}
	}
}

// Connect prepares the clients. They connect when they are started.
func (e *Engine) Connect(_ context.Context, requests []message.FlowRequest, _ time.Duration) []message.Opened {
	processes, err := e.take(requests, false)
	if err == nil {
		err = e.ignore(processes)
	}
	out := make([]message.Opened, len(requests))
	for i, o := range requests {
		out[i] = message.Opened{ID: o.ID, Remote: o.Remote}
		if o.Local.IsValid() {
			out[i].Local = netip.AddrPortFrom(o.Local, 0)
		}
		if err != nil {
			out[i].Error = bus.Failure(err)
			continue
		}
		out[i].Error = bus.Failure(processNamed(processes, o).wrong)
	}
	return out
}

// Abandon does nothing: a program's connections open during the trial.
func (e *Engine) Abandon([]string) {}
func (e *Engine) Settled() bool    { return true }

// Shorten does nothing: a program's duration is an argument it was started with.
func (e *Engine) Shorten(int64, int64) {}

// Start schedules the clients, which start one after another at the trial's start.
func (e *Engine) Start(w message.WindowRequest) {
	e.mu.Lock()
	defer e.mu.Unlock()
	if e.started || e.ctx.Err() != nil {
		return
	}
	e.started, e.startNs = true, w.StartNs
	e.closing.Go(func() {
		select {
		case <-time.After(time.Duration(w.StartNs - sched.Now())):
		case <-e.ctx.Done():
			return
		}
		e.mu.Lock()
		processes := slices.Clone(e.processes)
		e.mu.Unlock()
		for _, p := range processes {
			if p.serves || p.wrong != nil || e.ctx.Err() != nil {
				continue
			}
			job := p.job
			job.Seconds = time.Duration(w.StopNs - w.StartNs).Seconds()
			e.begin(p, p.tool.ClientWords(job), p.tool.Described)
		}
		e.interrupt(processes, w.StopNs)
	})
	if slices.ContainsFunc(e.flows, func(f *toolFlow) bool { return f.request.Sends && !f.process.serves }) {
		e.closing.Go(func() { e.watch(w.StopNs) })
	}
}

// interrupt interrupts the clients that have no duration.
func (e *Engine) interrupt(processes []*process, stop int64) {
	select {
	case <-time.After(time.Duration(stop - sched.Now())):
	case <-e.ctx.Done():
		return
	}
	var ending sync.WaitGroup
	for _, p := range processes {
		if !p.serves && p.Program != nil && !p.tool.IsTimed() {
			ending.Go(p.Interrupt)
		}
	}
	ending.Wait()
}

// Flows returns the number of flows, Moved the bytes they had received and written at the latest reading.
func (e *Engine) Flows() int {
	e.mu.Lock()
	defer e.mu.Unlock()
	return len(e.flows)
}

func (e *Engine) Moved() (received, written int64) {
	e.mu.Lock()
	defer e.mu.Unlock()
	for _, f := range e.flows {
		received, written = received+f.end.ReceivedBytes, written+f.end.WrittenBytes
	}
	return received, written
}

// Busy returns nil: other processes do the work.
func (e *Engine) Busy() []int64 { return nil }

// Printed returns what the programs of one side have printed. It waits for clients up to the timeout, asks
// servers to end, and kills what does not end.
func (e *Engine) Printed(ctx context.Context, r message.ToolsRequest) []message.Printed {
	e.mu.Lock()
	mine := lists.Where(e.processes, func(p *process) bool { return p.serves == r.Servers && p.Program != nil })
	e.mu.Unlock()
	ctx, cancel := context.WithTimeout(ctx, time.Duration(r.TimeoutNs))
	defer cancel()
	var ending sync.WaitGroup
	for _, p := range mine {
		ending.Go(func() { p.End(ctx, r.Servers) })
	}
	ending.Wait()
	out := []message.Printed{}
	for _, p := range mine {
		out = append(out, p.Printed(p.name, program.MaxPrinted(len(mine))))
	}
	e.mu.Lock()
	defer e.mu.Unlock()
	for i, p := range mine {
		out[i].Lives = e.lives(p)
	}
	slices.SortFunc(out, func(a, b message.Printed) int { return cmp.Compare(a.Process, b.Process) })
	return out
}

// Close kills every program and waits until it is gone.
func (e *Engine) Close() {
	e.mu.Lock()
	e.cancel()
	sockets := e.sockets
	e.mu.Unlock()
	if sockets != nil {
		_ = sockets.Close()
	}
	e.closing.Wait()
	e.mu.Lock()
	started := slices.DeleteFunc(slices.Clone(e.processes), func(p *process) bool { return p.Program == nil })
	e.mu.Unlock()
	for _, p := range started {
		p.Kill()
	}
	for _, p := range started {
		<-p.Ended()
	}
	e.launch.Close()
}
