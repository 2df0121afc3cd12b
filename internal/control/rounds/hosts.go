package rounds

import (
	"context"
	"errors"
	"fmt"
	"net/netip"
	"os"
	"slices"
	"sync"
	"time"

	"linerate/internal/bus"
	"linerate/internal/control/reach"
	"linerate/internal/model/message"
	"linerate/internal/model/plain"
	"linerate/internal/model/record"
	"linerate/internal/model/topology"
)

// noAddress is the reason of a host without an address to measure on.
const noAddress reach.Reason = "no-address"

// node is a host's name on the bus.
func node(i int) string { return fmt.Sprintf("h%d", i+1) }

// present are the hosts that are not lost.
func (c *conductor) present() (list []int) {
	for i, a := range c.agents {
		if a != nil {
			list = append(list, i)
		}
	}
	return list
}

// missing is the number of the first round that is missing.
func (c *conductor) missing() int {
	order, _, _ := c.next()
	return order
}

// open reaches the agents of all hosts.
func (c *conductor) open(ctx context.Context) (err error) {
	list := make([]reach.Host, len(c.hosts))
	for i, h := range c.hosts {
		list[i] = h.Host
		list[i].Node = node(i)
	}
	var lost error
	c.reached, lost = reach.Open(ctx, list, reach.Measure, reach.Options{Self: c.options.Self})
	if c.reached == nil {
		return lost
	}
	defer func() {
		if err != nil {
			c.reached.Close()
		}
	}()
	if ctx.Err() != nil {
		return context.Cause(ctx)
	}
	for _, r := range c.reached.List() {
		i := slices.IndexFunc(list, func(h reach.Host) bool { return h.Node == r.Node })
		c.agents[i] = r
	}
	why := map[string]*reach.Error{}
	for _, one := range all(lost) {
		if e, is := errors.AsType[*reach.Error](one); is {
			why[e.Host] = e
		}
	}
	for i, h := range c.hosts {
		if c.agents[i] != nil {
			continue
		}
		e := why[h.Name]
		if e == nil {
			e = &reach.Error{Host: h.Name, Reason: reach.Ended, Err: errors.New("not reached")}
		}
		c.lose(i, c.missing(), e)
	}
	return c.enough()
}

// all are the errors that errors.Join joined.
func all(err error) []error {
	if joined, is := err.(interface{ Unwrap() []error }); is {
		var list []error
		for _, one := range joined.Unwrap() {
			list = append(list, all(one)...)
		}
		return list
	}
	return []error{err}
}

// mostError bounds the text of an error of a host or pair, in characters.
const mostError = 200

// lose leaves a host out from a round on.
func (c *conductor) lose(i, round int, why *reach.Error) {
	c.agents[i] = nil
	text := plain.Short(plain.Line(why.Error()), mostError)
	c.run.Mesh.Lost = append(c.run.Mesh.Lost, record.MeshLost{Host: c.hosts[i].Name, Round: round,
		Reason: string(why.Reason), Error: text})
	if len(c.run.Mesh.Lost) <= 10 { // the answer has all of them
		c.options.Say("lost " + text)
	}
}

func (c *conductor) enough() error {
	if n := len(c.present()); n < 2 {
		return fmt.Errorf("%w: %d of %d", ErrTooFew, n, len(c.hosts))
	}
	return nil
}

// blame finds the hosts because of which a round failed, and loses them: those whose agents have ended
// or do not answer or, if sure, those that errs name. It reports whether there are any.
func (c *conductor) blame(ctx context.Context, round int, hosts []int, errs []error, sure bool) bool {
	ctx, cancel := context.WithTimeoutCause(ctx, c.options.limit,
		bus.Coded(message.Deadline, fmt.Errorf("no answer within %v", c.options.limit)))
	defer cancel()
	why := make([]error, len(hosts))
	var asking sync.WaitGroup
	for k, i := range hosts {
		asking.Go(func() {
			_, why[k] = bus.Call(ctx, c.reached.Bus(), node(i), message.Clock, struct{}{})
		})
	}
	asking.Wait()
	for _, one := range errs {
		if k := slices.IndexFunc(hosts, func(i int) bool { return node(i) == nodeOf(one) }); sure && k >= 0 {
			why[k] = one
		}
	}
	blamed := false
	for k, i := range hosts {
		if why[k] == nil {
			continue
		}
		blamed = true
		lost := c.reached.Lost(ctx, node(i), why[k])
		e, is := errors.AsType[*reach.Error](lost)
		if !is {
			e = &reach.Error{Host: c.hosts[i].Name, Reason: reach.Refused, Err: why[k]}
		}
		c.lose(i, round, e)
	}
	return blamed
}

// restore returns the hosts and options of a saved run.
func restore(saved *record.Run, o Options) (hosts []Host, _ Options, err error) {
	plan := &saved.Mesh.Plan
	own, err := os.Executable()
	if err != nil {
		return nil, o, err
	}
	for _, h := range plan.Hosts {
		t, is := saved.Topology.Host(h.Name)
		if !is || len(t.Via) == 0 {
			return nil, o, fmt.Errorf("the run does not say how %s is reached", plain.Short(h.Name, 60))
		}
		one := Host{Host: reach.Host{Name: h.Name, Called: h.Name, Via: t.Via, Agent: t.Agent}}
		switch {
		case len(t.Via) == 1 && t.Via[0] == here:
			one.Via, one.Here = nil, true
		case t.Via[0] == ofLab && len(t.Via) == 7:
			one.Via = append([]string{own}, t.Via[1:]...)
		}
		for _, p := range t.Interfaces {
			for _, a := range p.Addresses {
				one.Address = a.First
			}
		}
		hosts = append(hosts, one)
	}
	if err := o.restore(saved.Design.Options); err != nil {
		return nil, o, err
	}
	return hosts, o, check(plan, hosts, o)
}

// First words of Via in a saved run, of this host and of a host of a lab, which have no command.
const (
	here  = "linerate-here"
	ofLab = "linerate"
)

// Topology has how hosts are reached, as the record of a run keeps it.
func Topology(hosts []Host) topology.Topology { return topology.Topology{Hosts: addressed(hosts)} }

func addressed(hosts []Host) (list []topology.Host) {
	for _, h := range hosts {
		one := topology.Host{Name: h.Name, Via: h.Via, Agent: h.Agent}
		switch {
		case h.Here:
			one.Via = []string{here}
		case h.Lab != "":
			one.Via = []string{ofLab, "lab", "exec", "--lab", h.Lab, h.Host.Name, "--"}
		}
		list = append(list, one)
	}
	return list
}

// measuredOn adds the addresses on which hosts are measured.
func measuredOn(hosts []topology.Host, places []place) []topology.Host {
	for i := range hosts {
		p := places[i]
		if !p.address.IsValid() {
			continue
		}
		at := netip.PrefixFrom(p.address, p.address.BitLen())
		hosts[i].Interfaces = []topology.Interface{{Name: p.port,
			Addresses: []topology.Address{{First: at.Addr(), Last: at.Addr(), Bits: at.Bits()}}}}
	}
	return hosts
}

// patient returns a context for what is done after ctx has ended.
func patient(ctx context.Context, d time.Duration) (context.Context, context.CancelFunc) {
	return context.WithTimeout(context.WithoutCancel(ctx), d)
}
