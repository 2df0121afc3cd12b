package lab

import (
	"context"
	"crypto/rand"
	"errors"
	"fmt"
	"strings"
	"time"

	"linerate/internal/bus"
	"linerate/internal/control/reach"
	"linerate/internal/model/message"
	"linerate/internal/model/record"
	"linerate/internal/model/study"
	"linerate/internal/model/topology"
)

// Options of Up. The zero value is what a run uses.
type Options struct {
	// Name is the name of the lab for `lab exec` and `lab shell`; empty: none.
	Name string
	// AllowMachine permits machine-wide settings in the topology.
	AllowMachine bool
	// Install is for real hosts that do not have linerate.
	Install reach.Install
	// Treatments are the topology with the settings of treatments, which can change MTUs.
	Treatments []*topology.Topology
}

// Lab is a topology with an agent on every host and managed switch.
type Lab struct {
	topology   *topology.Topology
	bus        *bus.Bus
	options    Options
	init       *initProcess
	reached    *reach.Hosts // those of a via
	rootless   bool
	impairedBy string // what applies delay, loss and marks of links
	routing    *record.Routing
	services   []record.Service
	hellos     map[string]message.Hello // by node, once awaitHellos has returned
	key        string                   // that the agents of its hosts have from the init process
}

// readyTimeout bounds the wait for the agents of the lab's own hosts: slow machines with hundreds of
// hosts need seconds.
const readyTimeout = 60 * time.Second

// Up makes the virtual part of a topology, starts the agents of the real part, and
// configures all hosts. If it fails, nothing is left.
func Up(ctx context.Context, t *topology.Topology, b *bus.Bus, options Options) (_ *Lab, err error) {
	l := &Lab{topology: t, bus: b, options: options}
	defer func() {
		if err != nil {
			err = errors.Join(err, l.Down())
		}
	}()
	p := planOf(t)
	for _, other := range options.Treatments {
		p.segment(other)
	}
	p.Key = rand.Text() + rand.Text() // of 128 bits and more each
	l.key = p.Key
	if len(p.Nodes) > 0 {
		if err := l.startInit(p); err != nil {
			return nil, err
		}
	}
	if l.reached, err = reach.Start(ctx, b, realHosts(t, options.Install), reach.Change, reach.Options{}); err != nil {
		return nil, err
	}
	if err := l.awaitHellos(ctx); err != nil {
		return nil, err
	}
	if err := l.probeRouting(ctx); err != nil {
		return nil, err
	}
	if err := l.configure(ctx); err != nil {
		return nil, err
	}
	took, err := l.Converge(ctx)
	if l.daemons() {
		l.routing.ConvergedS = took.Seconds()
	}
	if err != nil {
		return l, err
	}
	return l, l.StartServices(ctx, nil)
}

// Nodes returns the names of all hosts and switches that have an agent, hosts first, in the
// order of the file.
func (l *Lab) Nodes() []string {
	names := l.Hosts()
	for _, s := range l.topology.Switches {
		if !s.Agentless() {
			names = append(names, s.Name)
		}
	}
	return names
}

// Hello returns the first message of the agent of a node.
func (l *Lab) Hello(node string) message.Hello { return l.hellos[node] }

// AttackKey returns the key that an agent of the lab requires before it attacks another
// host. It fails unless linerate made the whole topology: otherwise no host may attack.
func (l *Lab) AttackKey() (string, error) {
	if node, why := study.NotMade(l.topology); node != "" {
		return "", fmt.Errorf("attacks are made in labs alone, and %s is not made by linerate: %s", node, why)
	}
	if len(l.reached.List()) > 0 || l.init == nil {
		return "", errors.New("attacks are made in labs alone, and this one has hosts that linerate did not make")
	}
	return l.key, nil
}

// ImpairedBy names what applies the delay, loss and marks of links; empty: no link has any.
func (l *Lab) ImpairedBy() string { return l.impairedBy }

// Mode describes how the topology was made: "lab as root" or "lab, rootless", "real hosts",
// or both joined by " with ". For a lab it also names what applies the delay and loss of
// links, if any has them.
func (l *Lab) Mode() string {
	var modes []string
	if l.init != nil {
		if l.rootless {
			modes = append(modes, "lab, rootless")
		} else {
			modes = append(modes, "lab as root")
		}
		if l.impairedBy != "" {
			modes[0] += ", " + l.impairedBy
		}
	}
	if len(l.reached.List()) > 0 {
		modes = append(modes, "real hosts")
	}
	return strings.Join(modes, " with ")
}

func (l *Lab) awaitHellos(ctx context.Context) (err error) {
	ctx, cancel := context.WithTimeoutCause(ctx, readyTimeout, bus.Coded(message.Deadline,
		fmt.Errorf("no message from its agent within %v: %w", readyTimeout, context.DeadlineExceeded)))
	defer cancel()
	l.hellos, err = l.bus.Hellos(ctx, l.Nodes())
	if !errors.Is(err, context.DeadlineExceeded) {
		return err
	}
	var errs []error
	for _, name := range l.Nodes() {
		if _, here := l.hellos[name]; !here {
			errs = append(errs, fmt.Errorf("%s: no message from its agent within %v", name, readyTimeout))
		}
	}
	return errors.Join(errs...)
}

// realHosts are the hosts and switches that a command reaches.
func realHosts(t *topology.Topology, install reach.Install) (list []reach.Host) {
	add := func(name string, via []string, agent string) {
		if len(via) > 0 {
			list = append(list, reach.Host{Name: name, Node: name, Via: via, Agent: agent, Install: install})
		}
	}
	for _, h := range t.Hosts {
		add(h.Name, h.Via, h.Agent)
	}
	for _, s := range t.Switches {
		add(s.Name, s.Via, s.Agent)
	}
	return list
}

// NotRevertedError lists, by an error each, the real hosts whose settings may not have been
// reverted.
type NotRevertedError struct{ Hosts []error }

func (e *NotRevertedError) Error() string { return errors.Join(e.Hosts...).Error() }

func (e *NotRevertedError) Unwrap() []error { return e.Hosts }

// Down ends the lab. The agents of real hosts revert their settings when their stream ends,
// and Down waits for them. The error is a *NotRevertedError with the hosts where that
// failed.
func (l *Lab) Down() error {
	ended := make(chan struct{})
	go func() {
		defer close(ended)
		if l.init != nil {
			l.init.end()
		}
	}()
	errs := l.reached.End()
	<-ended
	var failed []error
	for _, node := range l.Nodes() {
		_, served := l.hellos[node]
		if err := errs[node]; err != nil && served { // an agent that never connected has changed nothing
			failed = append(failed, err)
		}
	}
	if failed == nil {
		return nil
	}
	return &NotRevertedError{failed}
}

// Hosts returns the names of all hosts.
func (l *Lab) Hosts() []string { return l.topology.HostNames() }
