// Package reach connects to agents, in the same way for every verb of the command line: to the
// agent of this host, and to agents that a command starts on other hosts, in containers, in
// namespaces and on the hosts of a lab that is up. It says why a host was not reached (Error), and
// decides what the command executes (Program). Package greeting connects to serving hosts instead.
package reach

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"io"
	"net"
	"os"
	"sync"
	"time"

	"linerate/internal/bus"
	"linerate/internal/bus/hub"
	"linerate/internal/model/message"
	"linerate/internal/model/netstate"
	"linerate/internal/model/topology"
)

// Host is a host to reach. Exactly one of Here, Via and Lab is set.
type Host struct {
	Name string // for errors; empty: they name no host
	Node string // name on the bus; empty: made up
	// Called replaces the name of the host in its snapshots; empty: the host's own name.
	Called string
	Here   bool     // it is this host: Options.Self starts its agent
	Via    []string // command prefix that executes words on the host: ssh nas, or ip netns exec a
	Lab    string   // name of a lab that is up, which has the host Name
	// Agent is the linerate program on the host, for Via; empty: see Program, and Install.
	Agent string
	// Install is for Via; empty: Temporary.
	Install Install
}

// Purpose says what an agent is reached for.
type Purpose = message.Purpose

// The purposes of package message.
const (
	Change  = message.ForChange
	Measure = message.ForMeasure
	Read    = message.ForRead
)

// Options of Open.
type Options struct {
	// Within is how long each agent may take to start; 0: one minute. The time to carry one to its host is not counted.
	Within time.Duration
	// Self starts the agent of this host, which answers the requests that access permits, and
	// returns its stream. The agent ends with the stream.
	Self func(node string, access message.Access) net.Conn
}

// startTimeout bounds starting an agent: a host behind ssh may need seconds.
const startTimeout = time.Minute

// mostReply bounds a reply of an agent for Read, in bytes: a snapshot and what is around it.
const mostReply = netstate.LargestHostSnapshot + 1<<10

// Hosts is a set of hosts with their agents on a bus.
type Hosts struct {
	bus     *bus.Bus
	purpose Purpose
	list    []*Reached
}

// Reached is a host with an agent on the bus.
type Reached struct {
	Host
	bus     *bus.Bus
	purpose Purpose
	command *command // nil: the agent is in this process
	noShell bool     // there is none that brings the agent
}

// otherErrors is how long further hosts are waited for once one of all that are needed is not reached: many are
// not reached for one reason.
const otherErrors = 5 * time.Second

var errGivenUp = errors.New("another host was not reached")

// starting has an element for each host of a command that is being reached.
var starting = make(chan struct{}, 32)

// Start reaches all hosts, at most 32 at the same time, and attaches them to b. The error joins an *Error for each
// host that was not reached, in the order of the list; the other hosts are returned nevertheless. To change hosts, all
// are needed: soon after one is not reached, those that have not answered are given up, without an error each. End ends
// the agents.
func Start(ctx context.Context, b *bus.Bus, list []Host, p Purpose, o Options) (*Hosts, error) {
	all, errs := make([]*Reached, len(list)), make([]error, len(list))
	ctx, giveUp := context.WithCancelCause(ctx)
	defer giveUp(nil)
	var waiting sync.WaitGroup
	for i, one := range list {
		if one.Node == "" {
			one.Node = fmt.Sprint("host", i+1)
		}
		if p == Read {
			b.Bound(one.Node, mostReply)
		}
		r := &Reached{Host: one, bus: b, purpose: p}
		all[i] = r
		waiting.Go(func() {
			if errs[i] = r.failed(ctx, r.reach(ctx, o)); errs[i] != nil && p == Change {
				time.AfterFunc(otherErrors, func() { giveUp(errGivenUp) })
			}
		})
	}
	waiting.Wait()
	h, lost := &Hosts{bus: b, purpose: p}, &Hosts{}
	for i, r := range all {
		if errs[i] == nil {
			h.list = append(h.list, r)
		} else {
			lost.list = append(lost.list, r)
		}
		if errors.Is(errs[i], errGivenUp) {
			errs[i] = nil
		}
	}
	lost.End()
	return h, errors.Join(errs...)
}

// reach starts the agent, and waits for its first message.
func (r *Reached) reach(ctx context.Context, o Options) error {
	if !r.Here {
		select {
		case starting <- struct{}{}:
			defer func() { <-starting }()
		case <-ctx.Done():
			return context.Cause(ctx)
		}
	}
	within := cmp.Or(o.Within, startTimeout)
	ctx, cancel := context.WithCancelCause(ctx)
	defer cancel(nil)
	late := time.AfterFunc(within, func() { cancel(fmt.Errorf("%w within %s", errSilent, within)) })
	defer late.Stop()
	if r.Here {
		r.bus.Attach(r.Node, o.Self(r.Node, message.Client|message.Own))
	} else if err := r.start(ctx, func(takes time.Duration) { late.Reset(within + takes) }); err != nil {
		return err
	}
	hellos, err := r.bus.Hellos(ctx, []string{r.Node})
	if err != nil {
		return err
	}
	return r.accept(hellos[r.Node])
}

// start executes the command. It calls sending as carry does.
func (r *Reached) start(ctx context.Context, sending func(time.Duration)) error {
	own, err := os.Executable()
	if err != nil {
		return err
	}
	via, agent := r.Via, r.Agent
	if r.Lab != "" {
		via = []string{own, "lab", "exec", "--lab", r.Lab, r.Name, "--"}
	}
	if agent == "" {
		agent = Program(via, own)
	}
	words := topology.AgentWords(agent, r.Node)
	if r.purpose != Change {
		words = append(words, "--for", string(r.purpose))
	}
	execute := func(words ...string) (err error) {
		if r.command, err = startCommand(via, words); err != nil {
			return notStarted(r.Name, via, err)
		}
		return nil
	}
	var out io.Reader
	carries := r.Agent == "" && agent != own && r.Install != Never
	if carries {
		if err := execute("sh", "-s"); err != nil {
			return err
		}
		if out, err = r.command.carry(ctx, words[1:], cmp.Or(r.Install, Temporary), sending); err != nil {
			r.command.in.Close()
			r.command.out.Close()
		}
		if r.noShell = errors.Is(err, errNoShell); err != nil && !r.noShell {
			return err
		}
	}
	if !carries || r.noShell {
		if err := execute(words...); err != nil {
			return err
		}
		out = r.command.out
	}
	r.bus.Attach(r.Node, bus.Pipes(following{out, r.command.out}, r.command.in))
	return nil
}

// following reads what follows on a file of which a part was read.
type following struct {
	io.Reader
	io.Closer
}

// Open is Start on a bus of its own, which Close closes.
func Open(ctx context.Context, list []Host, p Purpose, o Options) (*Hosts, error) {
	b, err := hub.Start()
	if err != nil {
		return nil, err
	}
	return Start(ctx, b, list, p, o)
}

// Bus returns the bus of the agents, on which each has the name of its host's Node.
func (h *Hosts) Bus() *bus.Bus { return h.bus }

// List returns the hosts that were reached, in the given order.
func (h *Hosts) List() []*Reached {
	if h == nil {
		return nil
	}
	return h.list
}

// Lost returns an *Error that says why the agent of a node is lost, given the error of the
// bus; nil if the node is not in h.
func (h *Hosts) Lost(ctx context.Context, node string, err error) error {
	for _, r := range h.List() {
		if r.Node == node {
			return r.failed(ctx, err)
		}
	}
	return nil
}

// End ends the agents and waits for them. It returns, by node, the errors of hosts whose settings
// may not have been reverted.
func (h *Hosts) End() map[string]error {
	var ending sync.WaitGroup
	list := h.List()
	errs := make([]error, len(list))
	for i, r := range list {
		if r.command != nil {
			ending.Go(func() { errs[i] = r.end() })
		}
	}
	ending.Wait()
	failed := map[string]error{}
	for i, r := range list {
		if errs[i] != nil {
			failed[r.Node] = errs[i]
		}
	}
	return failed
}

// Close ends the agents and closes the bus that Open made.
func (h *Hosts) Close() {
	h.End()
	h.bus.Close()
}

// Call sends a request to a host and returns its reply. The error is an *Error.
func Call[Request, Reply any](ctx context.Context, r *Reached, v message.Verb[Request, Reply],
	request Request) (Reply, error) {
	reply, err := bus.Call(ctx, r.bus, r.Node, v, request)
	return reply, r.failed(ctx, err)
}

// Snapshots takes a snapshot of all hosts concurrently and returns them in the order of the hosts.
// The error joins an *Error for each host that is missing.
func Snapshots(ctx context.Context, h *Hosts, q message.SnapshotRequest) ([]netstate.HostSnapshot, error) {
	return h.SnapshotsOf(ctx, h.list, q)
}

// SnapshotsOf is Snapshots of some of the hosts.
func (h *Hosts) SnapshotsOf(ctx context.Context, some []*Reached, q message.SnapshotRequest) (
	[]netstate.HostSnapshot, error) {
	list, errs := make([]*netstate.HostSnapshot, len(some)), make([]error, len(some))
	var asking sync.WaitGroup
	for i, r := range some {
		asking.Go(func() {
			s, err := Call(ctx, r, message.Snapshot, q)
			if err == nil {
				s.Reading.Host = cmp.Or(r.Called, s.Reading.Host)
				err = r.failed(ctx, bus.Coded(message.Invalid, s.Check()))
			}
			if list[i], errs[i] = &s, err; err != nil {
				list[i] = nil
			}
		})
	}
	asking.Wait()
	var taken []netstate.HostSnapshot
	for _, s := range list {
		if s != nil {
			taken = append(taken, *s)
		}
	}
	return taken, errors.Join(errs...)
}
