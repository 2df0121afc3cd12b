// Package attack sends hostile traffic from one host of a lab to another: floods of Ethernet frames with random
// source addresses, and TCP connections that are kept open. A study measures what honest clients still get; the
// attack itself is only counted.
//
// It works in labs only. An Engine is created from the membership that a lab's init process gives the agents of
// its hosts. It refuses to run in a network namespace that this process did not create, or that has a hardware
// interface. See docs/decisions/0047.
//
// Frames are built from one template per kind and transmitted by package packet; package pace schedules packets
// and connections at absolute times. Everything ends when the window stops, or with Close.
package attack

import (
	"context"
	"crypto/subtle"
	"errors"
	"fmt"
	"slices"
	"sync"
	"sync/atomic"

	"linerate/internal/bus"
	"linerate/internal/kernel/netlink"
	"linerate/internal/kernel/sched"
	"linerate/internal/model/attacks"
	"linerate/internal/model/message"
	"linerate/internal/model/record"
)

// Engine runs the attacks of one host. Its methods are safe for concurrent use.
type Engine struct {
	membership message.Membership

	mu      sync.Mutex // guards the fields below; held for assignments only
	attacks []*running // for the next or the current window
}

// New returns an engine for the lab host with membership m.
func New(m message.Membership) *Engine { return &Engine{membership: m} }

// running is an attack that has been prepared and perhaps started.
type running struct {
	signals
	do   func(*signals) record.AttackCounts // runs the attack until its stop
	free func()                             // releases what prepare acquired
	over chan struct{}                      // closed when do and free have returned
	// counts is the result of do; read it only after over is closed.
	counts  record.AttackCounts
	started bool
}

// signals holds the times of a window, in ns of sched.Now; Shorten can bring them forward.
type signals struct {
	start, begin int64
	end, stop    atomic.Int64
	quit         chan struct{} // closed: stop at once
	quitOnce     sync.Once
}

func (s *signals) leave() { s.quitOnce.Do(func() { close(s.quit) }) }

// left reports whether the attack must have ended at time at.
func (s *signals) left(at int64) bool {
	select {
	case <-s.quit:
		return true
	default:
		return at >= s.stop.Load()
	}
}

// within reports whether time at lies in the window.
func (s *signals) within(at int64) bool { return at >= s.begin && at < s.end.Load() }

// seconds returns the length of the window.
func (s *signals) seconds() float64 { return float64(s.end.Load()-s.begin) / 1e9 }

// Prepare replaces the prepared attacks by those of r, for the next window. It returns an error unless the
// request comes from the lab's own conductor and the lab's init process made this host.
func (e *Engine) Prepare(ctx context.Context, r message.AttacksRequest) error {
	if err := e.permitted(r.Key); err != nil {
		return bus.Coded(message.NotPermitted, fmt.Errorf("attacks are made in labs alone: %w", err))
	}
	e.Close()
	if len(r.Attacks) > attacks.MaxAttacks {
		return bus.Coded(message.OutOfBounds, fmt.Errorf("%d attacks: expected at most %d", len(r.Attacks),
			attacks.MaxAttacks))
	}
	var list []*running
	for _, request := range r.Attacks {
		one, err := prepare(ctx, request)
		if err != nil {
			for _, other := range list {
				other.free()
			}
			return fmt.Errorf("%s of %s: %w", request.Kind, request.Target, err)
		}
		list = append(list, one)
	}
	e.mu.Lock()
	e.attacks = list
	e.mu.Unlock()
	return nil
}

// permitted returns nil if this is a host of the lab with this key.
func (e *Engine) permitted(key string) error {
	const shortest = 32 // hexadecimal digits
	m := e.membership
	if len(m.Key) < shortest || subtle.ConstantTimeCompare([]byte(m.Key), []byte(key)) != 1 {
		return errors.New("this host is not one of the conductor's lab")
	}
	own, err := netlink.CurrentNetNS()
	if err != nil {
		return err
	}
	if m.Inode == 0 || !own.Equal(netlink.NetNS{Inode: m.Inode, Cookie: m.Cookie}) {
		return fmt.Errorf("the lab's init process did not make the network namespace %s", own)
	}
	c, err := netlink.Dial()
	if err != nil {
		return err
	}
	defer c.Close()
	links, err := c.Links()
	if err != nil {
		return err
	}
	return virtual(links)
}

// virtual returns nil if every interface that is up has a kind listed in ownKinds.
func virtual(links []netlink.Link) error {
	for _, l := range links {
		if l.Up && !l.Loopback && !slices.Contains(ownKinds, l.Kind) {
			return fmt.Errorf("interface %s, of kind %q, is not one that a lab has", l.Name, l.Kind)
		}
	}
	return nil
}

// ownKinds lists the kinds of interface a lab has (IFLA_INFO_KIND); hardware has no kind.
var ownKinds = []string{"veth", "tun", "bridge", "bond", "vlan", "vxlan", "macvlan", "vrf", "dummy"}

func prepare(ctx context.Context, r message.AttackRequest) (*running, error) {
	k, known := attacks.Find(r.Kind)
	most := attacks.MaxRate
	if k.Connects {
		most = attacks.MaxConnectRate
	}
	switch {
	case !known:
		return nil, fmt.Errorf("there is no attack of kind %.40q", r.Kind)
	case !r.Target.Addr().IsValid() || r.Target.Addr().IsLoopback() || r.Target.Addr().IsUnspecified():
		return nil, errors.New("it has no address of another host")
	case k.Transport != "" && r.Target.Port() == 0:
		return nil, errors.New("it has no port")
	case r.PerSecond < 1 || r.PerSecond > most:
		return nil, fmt.Errorf("%d per second: expected 1 to %d", r.PerSecond, most)
	case k.Connects && (r.Connections < 1 || r.Connections > attacks.MaxConnections):
		return nil, fmt.Errorf("%d connections: expected 1 to %d", r.Connections, attacks.MaxConnections)
	case r.Payload < 0 || r.Payload > attacks.MaxPayload:
		return nil, fmt.Errorf("%d bytes: expected %d at most", r.Payload, attacks.MaxPayload)
	}
	one := &running{free: func() {}, over: make(chan struct{}), signals: signals{quit: make(chan struct{})}}
	if k.Connects {
		one.do = newConnector(r).run
		return one, nil
	}
	f, err := newFlood(ctx, r)
	if err != nil {
		return nil, err
	}
	one.do, one.free = f.run, f.close
	return one, nil
}

// Start schedules the prepared attacks for window w and returns at once. Only the first call has an effect.
func (e *Engine) Start(w message.WindowRequest) {
	for _, a := range e.list(true) {
		a.start, a.begin = w.StartNs, w.BeginNs
		a.end.Store(w.EndNs)
		a.stop.Store(w.StopNs)
		go func() {
			defer close(a.over)
			defer a.free()
			a.counts = a.do(&a.signals)
			if s := a.seconds(); s > 0 {
				a.counts.SentPerS = float64(a.counts.Sent) / s
			}
		}()
	}
}

// list returns all attacks or, if starting is true, those not started yet, which it marks as started.
func (e *Engine) list(starting bool) []*running {
	e.mu.Lock()
	defer e.mu.Unlock()
	list := slices.Clone(e.attacks)
	if starting {
		list = slices.DeleteFunc(list, func(a *running) bool { return a.started })
		for _, a := range list {
			a.started = true
		}
	}
	return list
}

func (e *Engine) Shorten(endNs, stopNs int64) {
	for _, a := range e.list(false) {
		a.end.Store(endNs)
		a.stop.Store(stopNs)
	}
}

// Results returns the counts of the window, in the order of the request. It waits until the attacks end, at the
// window's stop; an attack that has not ended when ctx does has no counts.
func (e *Engine) Results(ctx context.Context) (counts []record.AttackCounts) {
	e.mu.Lock()
	list := slices.Clone(e.attacks)
	e.mu.Unlock()
	for _, a := range list {
		select {
		case <-a.over:
			counts = append(counts, a.counts)
		case <-ctx.Done():
			counts = append(counts, record.AttackCounts{Error: "it did not end in time"})
		}
	}
	return counts
}

// Close stops all attacks and waits until they have released everything.
func (e *Engine) Close() {
	e.mu.Lock()
	list := e.attacks
	e.attacks = nil
	e.mu.Unlock()
	for _, a := range list {
		a.leave()
	}
	for _, a := range list {
		if a.begun(e) {
			<-a.over
			continue
		}
		a.free()
	}
}

// begun reports whether the attack was started.
func (a *running) begun(e *Engine) bool {
	e.mu.Lock()
	defer e.mu.Unlock()
	return a.started
}

// now returns the time on the clock of all times here, in ns.
func now() int64 { return sched.Now() }
