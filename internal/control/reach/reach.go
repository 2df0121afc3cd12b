// Package reach gets at agents, the same way for every verb of the command line: at the agent of
// this host, and at those that a command starts on other hosts, in containers, in namespaces and
// in the hosts of a lab that is up. It says why a host was not reached (Error). What runs behind
// a command is decided here (Program); serving hosts are greeted by package greeting.
package reach

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"net"
	"os"
	"slices"
	"sync"
	"time"

	"linerate/internal/bus"
	"linerate/internal/model/message"
	"linerate/internal/model/record"
	"linerate/internal/model/topology"
)

// Host is one to be reached, by exactly one of Here, Via and Lab.
type Host struct {
	Name string // in errors; empty: left out of them
	Node string // on the bus; empty: made up
	// Called is the host's name in its snapshots; empty: as it calls itself.
	Called string
	Here   bool     // this host: Options.Self starts its agent
	Via    []string // what executes the words that follow on the host: ssh nas, ip netns exec a
	Lab    string   // a lab that is up, whose host Name it is
	// Agent is linerate on the host, for Via; empty: as Program says.
	Agent string
}

// Purpose is what an agent is reached for.
type Purpose string

const (
	// Change is for settings and all else. The agent does not start while the journal of one that
	// was killed has changes, and reverts its own when its stream ends.
	Change Purpose = ""
	// Measure is for traffic and counters, Read for snapshots and samples: the agent opens no
	// journal and takes no lock.
	Measure Purpose = "measure"
	Read    Purpose = "read"
)

// Options of Open.
type Options struct {
	// Within is how long agents have to start; 0: a minute.
	Within time.Duration
	// Self starts this host's agent, with what it may be asked; its stream ends it.
	Self func(node string, access message.Access) net.Conn
}

// startTimeout bounds starting an agent: a host behind ssh may need seconds.
const startTimeout = time.Minute

// mostReply bounds a reply of an agent for Read, in bytes: a snapshot and what is around it.
const mostReply = record.LargestHostSnapshot + 1<<10

// Hosts are agents on a bus.
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
}

// Start starts agents and attaches them to a bus, where the caller awaits them. Of hosts whose
// command cannot be started the error has an *Error each. End ends what was started.
func Start(b *bus.Bus, list []Host, p Purpose, o Options) (*Hosts, error) {
	h := &Hosts{bus: b, purpose: p}
	var errs []error
	for i, one := range list {
		if one.Node == "" {
			one.Node = fmt.Sprint("host", i+1)
		}
		if p == Read {
			b.Bound(one.Node, mostReply)
		}
		r := &Reached{Host: one, bus: b, purpose: p}
		if one.Here {
			b.Attach(one.Node, o.Self(one.Node, message.Client|message.Own))
		} else if err := r.start(); err != nil {
			errs = append(errs, err)
			continue
		}
		h.list = append(h.list, r)
	}
	return h, errors.Join(errs...)
}

// start executes the command.
func (r *Reached) start() error {
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
	r.command, err = startCommand(via, words)
	if err != nil {
		return notStarted(r.Name, via, err)
	}
	r.bus.Attach(r.Node, bus.Pipes(r.command.out, r.command.in))
	return nil
}

// Open reaches hosts, all at once. Of those that were not reached the error has an *Error each, in
// the order of the list; the others can be asked. Close ends all.
func Open(ctx context.Context, list []Host, p Purpose, o Options) (*Hosts, error) {
	b, err := bus.Start()
	if err != nil {
		return nil, err
	}
	h, err := Start(b, list, p, o)
	within := cmp.Or(o.Within, startTimeout)
	errs := make([]error, len(h.list))
	ctx, cancel := context.WithTimeoutCause(ctx, within, fmt.Errorf("%w within %s", errSilent, within))
	defer cancel()
	var waiting sync.WaitGroup
	for i, r := range h.list {
		waiting.Go(func() {
			hellos, err := b.Hellos(ctx, []string{r.Node})
			if err == nil {
				err = r.accept(hellos[r.Node])
			}
			errs[i] = r.failed(ctx, err)
		})
	}
	waiting.Wait()
	all := h.list
	h.list = nil
	var lost []*Reached
	for i, r := range all {
		if errs[i] == nil {
			h.list = append(h.list, r)
		} else {
			lost = append(lost, r)
		}
	}
	(&Hosts{list: lost}).End()
	return h, errors.Join(slices.Concat([]error{err}, errs)...)
}

// List are the hosts that were reached, in the order in which they were given.
func (h *Hosts) List() []*Reached {
	if h == nil {
		return nil
	}
	return h.list
}

// Accept is an error if a host's agent, by its hello, is of another version, or cannot serve.
// Hosts that are not of h are passed over.
func (h *Hosts) Accept(hellos map[string]message.Hello) error {
	for _, r := range h.List() {
		if hello, is := hellos[r.Node]; is {
			if err := r.accept(hello); err != nil {
				return r.failed(context.Background(), err)
			}
		}
	}
	return nil
}

// Lost says why the agent of a node could not be awaited, given the bus' error; of a node that is
// not of h it returns nil.
func (h *Hosts) Lost(ctx context.Context, node string, err error) error {
	for _, r := range h.List() {
		if r.Node == node {
			return r.failed(ctx, err)
		}
	}
	return nil
}

// End ends the agents, and waits for them. The errors are those of hosts whose settings may not be
// reverted, by node.
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

// Close ends the agents and the bus of Open.
func (h *Hosts) Close() {
	h.End()
	h.bus.Close()
}

// Call asks a host. The error is an *Error.
func Call[Request, Reply any](ctx context.Context, r *Reached, v message.Verb[Request, Reply],
	request Request) (Reply, error) {
	reply, err := bus.Call(ctx, r.bus, r.Node, v, request)
	return reply, r.failed(ctx, err)
}

// Snapshots takes a snapshot of each host, of all at once. Of those without one the error has an
// *Error each.
func Snapshots(ctx context.Context, h *Hosts, q message.SnapshotRequest) ([]record.HostSnapshot, error) {
	list, errs := make([]*record.HostSnapshot, len(h.list)), make([]error, len(h.list))
	var asking sync.WaitGroup
	for i, r := range h.list {
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
	var taken []record.HostSnapshot
	for _, s := range list {
		if s != nil {
			taken = append(taken, *s)
		}
	}
	return taken, errors.Join(errs...)
}
