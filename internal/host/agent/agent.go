// Package agent is linerate on a host: it answers a conductor's requests to
// change settings, make traffic and read counters, and reverts every change
// when the conductor is done or gone. It is the same program for a host that
// linerate made and for a real one.
package agent

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"maps"
	"net"
	"runtime"
	"sync"
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
	"linerate/internal/model/record"
	"linerate/internal/version"
)

// Options of Serve.
type Options struct {
	// Node is the host's name in the topology.
	Node string
	// Journal is where undo entries are kept; empty: in memory only, for hosts
	// that end with their agent.
	Journal string
	// Lease is how long settings stay changed without a sign of life from the conductor;
	// with a journal in memory: as long as the agent lives.
	Lease time.Duration
	// TrafficOnly leaves the host as it is: no settings, nothing flushed.
	TrafficOnly bool
	// Lab says that a lab's init process made the host, and for which lab; nil: none did. Such
	// a host alone attacks others.
	Lab *message.Membership
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

	engineMu          sync.Mutex
	engine            *traffic.Engine                // the current trial's; nil between trials
	test              *client.Test                   // its flows' with an iperf3 server; nil: they have none
	received, written int64                          // by the flows of earlier trials
	cutWindow         func(message.CutRequest) error // ends the window that is open; nil: none is
}

// Serve answers requests over a stream until the stream or ctx ends, and then
// reverts what is still changed.
func Serve(ctx context.Context, stream net.Conn, options Options) (err error) {
	reader, err := counters.New()
	if err != nil {
		return err
	}
	defer reader.Close()
	a := &agent{node: options.Node, reader: reader}
	handlers := a.traffic()
	// Only a host's own conductor may have it open connections to an iperf3 server, and see
	// all of its network state.
	handlers["iperf3"], handlers["iperf3-end"] = handle(a.openIperf3), handle(a.endIperf3)
	handlers["snapshot"] = handle(a.hostState)
	if options.Lab != nil {
		a.attacks = attack.New(*options.Lab)
		handlers["attacks"] = handle(a.prepareAttacks)
	}
	if !options.TrafficOnly {
		if a.manager, err = apply.Open(options.Journal, options.Lease); err != nil {
			return err
		}
		maps.Copy(handlers, a.settings())
	}
	defer func() { err = errors.Join(err, a.leave()) }()
	hello, err := a.hello()
	if err != nil {
		return err
	}
	// A host that ends with its agent keeps no settings, and its conductor is on this
	// machine: it may be stopped for any time. Others revert their settings before the
	// lease ends.
	silence, renew := options.Lease-options.Lease/4, func() { a.manager.Renew() }
	if options.Journal == "" {
		silence, renew = 0, func() {}
	}
	return answer(ctx, stream, silence, renew, handlers, bus.Gate{}, hello)
}

// answer joins the bus over a stream and serves until the stream or ctx ends; a stream that
// ends by a silence is an error. It calls heard while something arrives.
func answer(ctx context.Context, stream net.Conn, silence time.Duration, heard func(), handlers map[string]bus.Handler,
	gate bus.Gate, hello message.Hello) error {
	conn, err := bus.Join(hello.Node, stream, silence)
	if err != nil {
		return err
	}
	defer conn.Close()
	ctx, cancel := context.WithCancel(ctx)
	defer cancel()
	if err := conn.Serve(ctx, handlers, gate); err != nil {
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
	if a.manager == nil {
		return nil
	}
	return a.manager.End()
}

// settings are the verbs that change the host or depend on that, that have to do with
// other programs, or that show more of the host than clients may see.
func (a *agent) settings() map[string]bus.Handler {
	return map[string]bus.Handler{
		"programs": handle(a.programs),
		"tools":    handle(a.tools),
		"apply":    handle(a.manager.Apply),
		"hold":     handle(a.manager.Hold),
		"revert":   handle(a.revert),
		"flush":    handle(a.flush),
		"drain":    handle(a.drain),
		"links":    handle(a.links),
		"lookup":   handle(a.lookup),
		"ports":    handle(a.ports),
		"memory":   handle(a.memory),
		// The routing daemon: which the host has, start it unless it runs, and wait for
		// its routes.
		"bgp-daemon": handle(a.bgp.Probe),
		"bgp":        handle(a.bgp.Start),
		"routes":     handle(a.bgp.Await),
		// The SNMP agent of a lab's switch: start it unless it runs, and ask it.
		"snmpd": handle(a.snmpd.Start),
		"snmp":  handle(a.snmpd.Exchange),
		// The services of a lab's host: start those that do not run.
		"services": handle(a.services.Start),
	}
}

// traffic are the verbs that make traffic and read counters.
func (a *agent) traffic() map[string]bus.Handler {
	return map[string]bus.Handler{
		"clock":    handle(a.clock),
		"listen":   handle(a.listen),
		"connect":  handle(a.connect),
		"ready":    handle(a.ready),
		"window":   handle(a.window),
		"cut":      handle(a.cut),
		"progress": handle(a.progress),
		"close":    handle(a.close),
	}
}

// handle decodes a verb's request for its method.
func handle[Request, Reply any](f func(context.Context, Request) (Reply, error)) bus.Handler {
	return func(ctx context.Context, data []byte) (any, error) {
		var request Request
		if err := json.Unmarshal(data, &request); err != nil {
			return nil, bus.Coded(message.Invalid, fmt.Errorf("unreadable request: %w", err))
		}
		reply, err := f(ctx, request)
		return reply, coded(err)
	}
}

// coded gives failures of the agent's own packages the code that a caller can ask for;
// errnos have theirs.
func coded(err error) error {
	if errors.Is(err, apply.ErrChanged) || errors.Is(err, file.ErrLocked) {
		return bus.Coded(message.Busy, err)
	}
	return err
}

func (a *agent) hello() (message.Hello, error) {
	ports, err := a.reader.Interfaces()
	var counts record.Reading
	a.reader.Counts(&counts)
	return message.Hello{
		Node:       a.node,
		Version:    version.String(),
		Interfaces: ports,
		Counted:    len(counts.Interfaces) + len(counts.Qdiscs),
		Environment: record.HostEnvironment{
			Host:    a.node,
			OS:      runtime.GOOS,
			Kernel:  proc.Release(),
			Arch:    runtime.GOARCH,
			CPUs:    proc.Proc{}.CPUs(),
			Missing: counters.NotRead(),
		},
	}, err
}

// hostState reads the host's network state as linerate snapshot does, with counters since boot.
func (a *agent) hostState(ctx context.Context, _ struct{}) (record.HostSnapshot, error) {
	return hoststate.Read(ctx, hoststate.Options{Name: a.node})
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

// trial is the current engine; the first request of a trial makes it.
func (a *agent) trial() *traffic.Engine {
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

func (a *agent) listen(ctx context.Context, requests []message.FlowRequest) ([]message.Listening, error) {
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
