// Package agent is linerate on a host: it answers a conductor's requests to change settings,
// generate traffic and read counters, and reverts every change when the conductor is done or
// gone. The same program serves on hosts that linerate created and on real ones.
package agent

import (
	"context"
	"errors"
	"math"
	"net"
	"runtime"
	"slices"
	"sync"
	"sync/atomic"
	"time"

	"linerate/internal/bus"
	"linerate/internal/host/apply"
	"linerate/internal/host/attack"
	"linerate/internal/host/bgp"
	"linerate/internal/host/counters"
	"linerate/internal/host/foreign"
	"linerate/internal/host/hoststate"
	"linerate/internal/host/iperf3/client"
	"linerate/internal/host/service"
	"linerate/internal/host/snmpd"
	"linerate/internal/host/socket"
	"linerate/internal/host/traffic"
	"linerate/internal/kernel/file"
	"linerate/internal/kernel/proc"
	"linerate/internal/kernel/sched"
	"linerate/internal/model/message"
	"linerate/internal/model/netstate"
	"linerate/internal/model/record"
	"linerate/internal/model/syntax"
	"linerate/internal/version"
)

// Options of Serve.
type Options struct {
	// Node is the host's name in the topology.
	Node string
	// Journal is the path of the undo journal; empty: changes are kept in memory only, for hosts
	// that end with their agent.
	Journal string
	// Lease is how long settings stay changed without a sign of life from the conductor. It has
	// no effect without Journal: settings then stay as long as the agent lives.
	Lease time.Duration
	// Access says which requests are permitted, besides those that Lab permits. Without
	// message.Change, the agent changes no setting, opens no journal and takes no lock.
	Access message.Access
	// Lab says which lab's init process made the host; nil: none did. Only a host of a lab
	// attacks others.
	Lab *message.Membership
}

// RealHost completes the options of an agent that changes a real host: it names the host's own journal.
func (o *Options) RealHost() (err error) {
	if o.Access&message.Change != 0 && o.Journal == "" {
		o.Journal, err = apply.DefaultJournal(o.Node)
	}
	return err
}

// agent is one host's state between requests.
type agent struct {
	node     string
	reader   *counters.Reader
	manager  *apply.Manager // nil: the host's settings are not changed
	bgp      bgp.Daemon
	snmpd    snmpd.Daemon
	services service.Set
	attacks  *attack.Engine // nil: the host is not a lab's
	client   *Client        // set where the conductor is not the host's own
	access   socket.Access  // of worker processes

	sampling sync.Mutex // held while a sample is waited for
	sampler  *hoststate.Sampler
	every    time.Duration // of sampler

	oneCPU atomic.Bool // see useCPUs

	engineMu          sync.Mutex
	engine            *traffic.Engine                // the current trial's; nil between trials
	test              *client.Test                   // its flows' with an iperf3 server; nil: they have none
	received, written int64                          // by the flows of earlier trials
	cutWindow         func(message.CutRequest) error // ends the window that is open; nil: none is
}

// Serve answers requests over a stream until the stream or ctx ends, and then reverts all
// changes that still apply.
func Serve(ctx context.Context, stream net.Conn, options Options) (err error) {
	reader, err := counters.New()
	if err != nil {
		return err
	}
	defer reader.Close()
	a := &agent{node: options.Node, reader: reader}
	access := options.Access
	if options.Lab != nil {
		a.attacks = attack.New(*options.Lab)
		access |= message.Lab
		a.oneCPU.Store(options.Lab.OneCPU)
	}
	var unable error
	if access&message.Change != 0 {
		if a.manager, unable = apply.Open(options.Journal, options.Lease); unable != nil {
			access = 0
		}
	}
	defer func() { err = errors.Join(err, a.leave()) }()
	hello, err := a.hello()
	if err != nil {
		return err
	}
	hello.Error = bus.Failure(coded(unable))
	// A host that ends with its agent keeps no settings, and its conductor is on this
	// machine: it may be stopped for any time. Others revert their settings before the
	// lease ends.
	silence, renew := options.Lease-options.Lease/4, func() { a.manager.Renew() }
	if options.Journal == "" || a.manager == nil {
		silence, renew = 0, func() {}
	}
	return errors.Join(unable,
		answer(ctx, stream, silence, renew, permitted(a.handlings(), access), bus.Gate{}, hello))
}

// answer joins the bus over a stream and serves until the stream or ctx ends; a stream that
// ends by a silence is an error. It calls heard while something arrives.
func answer(ctx context.Context, stream net.Conn, silence time.Duration, heard func(), list []bus.Handling,
	gate bus.Gate, hello message.Hello) error {
	conn, err := bus.Join(hello.Node, stream, silence)
	if err != nil {
		return err
	}
	defer conn.Close()
	ctx, cancel := context.WithCancel(ctx)
	defer cancel()
	if err := conn.Serve(ctx, list, gate); err != nil {
		return err
	}
	if err := conn.Announce(hello); err != nil {
		return err
	}
	for {
		select {
		case <-conn.Heard():
			heard()
		case <-conn.Done():
			return conn.Err()
		case <-ctx.Done():
			return nil
		}
	}
}

// leave ends the traffic and reverts every setting, newest first.
func (a *agent) leave() error {
	a.closeEngine()
	a.closeAttacks()
	a.bgp.Close()
	a.snmpd.Close()
	a.services.Close()
	if a.sampler != nil {
		a.sampler.Close()
	}
	if a.manager == nil {
		return nil
	}
	return a.manager.End()
}

// trialHost carries out what a client may ask for: an agent, or a Client within its bounds.
type trialHost interface {
	listen(context.Context, []byte) ([]message.Listening, error)
	ready(context.Context, message.ReadyRequest) ([]message.FlowEnd, error)
	window(context.Context, message.WindowRequest) (message.WindowReply, error)
	close(context.Context, struct{}) (struct{}, error)
}

// handlings are all verbs with their handlers. Which of them a stream may ask follows from
// their access (permitted).
func (a *agent) handlings() []bus.Handling {
	var t trialHost = a
	if a.client != nil {
		t = a.client
	}
	list := []bus.Handling{
		bus.Handle(message.Clock, a.clock),
		bus.Handle(message.Progress, a.progress),
		bus.HandleEncoded(message.Listen, t.listen),
		bus.Handle(message.Ready, t.ready),
		bus.Handle(message.Window, t.window),
		bus.Handle(message.Cut, a.cut),
		bus.Handle(message.Close, t.close),
		bus.Handle(message.Connect, a.connect),
		bus.Handle(message.Iperf3, a.openIperf3),
		bus.Handle(message.Iperf3End, a.endIperf3),
		bus.Handle(message.Snapshot, a.hostState),
		bus.Handle(message.Sample, a.sampleHost),
		bus.Handle(message.Programs, a.programs),
		bus.Handle(message.Tools, a.tools),
		bus.Handle(message.Apply, a.manager.Apply),
		bus.Handle(message.Hold, a.manager.Hold),
		bus.Handle(message.Revert, a.revert),
		bus.Handle(message.Flush, a.flush),
		bus.Handle(message.Drain, a.drain),
		bus.Handle(message.Links, a.links),
		bus.Handle(message.Lookup, a.lookup),
		bus.Handle(message.Ports, a.ports),
		bus.Handle(message.Memory, a.memory),
		bus.Handle(message.ProbeBGP, a.bgp.Probe),
		bus.Handle(message.StartBGP, a.bgp.Start),
		bus.Handle(message.Routes, a.bgp.Await),
		bus.Handle(message.StartSNMP, a.snmpd.Start),
		bus.Handle(message.SNMP, a.snmpd.Exchange),
		bus.Handle(message.Services, a.services.Start),
		bus.Handle(message.Attacks, a.prepareAttacks),
	}
	for i, h := range list {
		list[i].Handler = func(ctx context.Context, data []byte) (any, error) {
			reply, err := h.Handler(ctx, data)
			return reply, coded(err)
		}
	}
	return list
}

// permitted are those verbs of a list which may be asked over a stream with that access.
func permitted(list []bus.Handling, access message.Access) []bus.Handling {
	return slices.DeleteFunc(list, func(h bus.Handling) bool { return h.Access&access == 0 })
}

// coded gives failures of the agent's own packages the code that a caller can ask for;
// errnos have theirs.
func coded(err error) error {
	if _, left := errors.AsType[*apply.LeftoverError](err); left {
		return bus.Coded(message.Leftover, err)
	}
	if errors.Is(err, apply.ErrChanged) || errors.Is(err, file.ErrLocked) {
		return bus.Coded(message.Busy, err)
	}
	return err
}

func (a *agent) hello() (message.Hello, error) {
	ports, err := a.reader.Interfaces()
	var counts netstate.Reading
	a.reader.Counts(&counts)
	hello := message.Hello{
		Node:       a.node,
		Version:    version.String(),
		Interfaces: ports,
		Counted:    len(counts.Interfaces) + len(counts.Qdiscs),
		Environment: netstate.HostEnvironment{
			Host:    a.node,
			OS:      runtime.GOOS,
			Kernel:  proc.Release(),
			Arch:    runtime.GOARCH,
			CPUs:    proc.Proc{}.CPUs(),
			Missing: counters.NotRead(),
		},
	}
	syntax.Prune(&hello) // each window says what this was
	return hello, err
}

func (a *agent) clock(context.Context, struct{}) (message.ClockReply, error) {
	return message.ClockReply{NowNs: sched.Now()}, nil
}

// memory reads the kernel's memory on the host's machine.
func (a *agent) memory(context.Context, struct{}) (record.KernelMemory, error) {
	return proc.Proc{}.KernelMemory()
}

func (a *agent) revert(_ context.Context, r message.Mark) (struct{}, error) {
	return struct{}{}, a.manager.RevertTo(r.Mark)
}

func (a *agent) flush(_ context.Context, r message.FlushRequest) (struct{}, error) {
	return struct{}{}, a.manager.Flush(r)
}

// drain waits until no frame waits in the host's queues any more, or the time is
// over: a host that others use may never be idle.
func (a *agent) drain(ctx context.Context, r message.DrainRequest) (struct{}, error) {
	const pause = 2 * time.Millisecond
	for end := sched.Now() + r.TimeoutNs; ; {
		waiting, err := a.reader.Backlog()
		if err != nil || waiting == 0 || sched.Now() > end {
			return struct{}{}, err
		}
		select {
		case <-time.After(pause):
		case <-ctx.Done():
			return struct{}{}, ctx.Err()
		}
	}
}

func (a *agent) links(_ context.Context, r message.LinksRequest) ([]message.LinkState, error) {
	return a.reader.LinkStates(r.Interfaces)
}

// useCPUs lets the runtime of an agent that was started with one CPU use all from now on. It is called before there
// is traffic.
func (a *agent) useCPUs() {
	if a.oneCPU.CompareAndSwap(true, false) {
		runtime.SetDefaultGOMAXPROCS()
	}
}

// trial is the current engine; the first request of a trial makes it.
func (a *agent) trial() *traffic.Engine {
	a.useCPUs()
	a.engineMu.Lock()
	defer a.engineMu.Unlock()
	if a.engine == nil {
		a.engine = traffic.New()
		if a.manager != nil { // the host is the conductor's own
			a.engine.WithTools()
		}
		a.engine.WithAccess(a.access)
	}
	return a.engine
}

// current is the current trial's engine; nil: there is none.
func (a *agent) current() *traffic.Engine {
	a.engineMu.Lock()
	defer a.engineMu.Unlock()
	return a.engine
}

// closeEngine ends the current trial's flows and adds what they moved to the
// total. It may be called from several goroutines.
func (a *agent) closeEngine() {
	engine := a.current()
	if engine == nil {
		return
	}
	engine.Close()
	received, written := engine.Moved()
	a.engineMu.Lock()
	defer a.engineMu.Unlock()
	if a.engine == engine {
		a.received, a.written = a.received+received, a.written+written
		a.engine, a.test = nil, nil
	}
}

func (a *agent) listen(ctx context.Context, data []byte) ([]message.Listening, error) {
	requests, err := decodeFlows(data, math.MaxInt)
	if err != nil {
		return nil, err
	}
	return a.trial().Listen(ctx, requests), nil
}

func (a *agent) connect(ctx context.Context, r message.ConnectRequest) ([]message.Opened, error) {
	return a.trial().Connect(ctx, r.Flows, time.Duration(r.TimeoutNs)), nil
}

func (a *agent) ready(ctx context.Context, r message.ReadyRequest) ([]message.FlowEnd, error) {
	return a.trial().Ready(ctx, time.Duration(r.TimeoutNs), r.Unused...), nil
}

// progress reads the flows during a window, to show its progress.
func (a *agent) progress(context.Context, struct{}) (message.FlowProgress, error) {
	reading := message.FlowProgress{AtNs: sched.Now()}
	if engine := a.current(); engine != nil {
		reading.Flows = engine.Light()
	}
	return reading, nil
}

// programs says which of some programs are not installed.
func (a *agent) programs(_ context.Context, r message.ProgramsRequest) (message.ProgramsReply, error) {
	return message.ProgramsReply{Missing: foreign.Missing(r.Programs)}, nil
}

// tools hands over what the trial's other programs have printed.
func (a *agent) tools(ctx context.Context, r message.ToolsRequest) ([]message.Printed, error) {
	return a.trial().Printed(ctx, r), nil
}

func (a *agent) close(context.Context, struct{}) (struct{}, error) {
	a.closeEngine()
	a.closeAttacks()
	return struct{}{}, nil
}
