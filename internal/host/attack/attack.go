// Package attack makes what a study has a host of a lab do to another: floods of Ethernet
// frames with random source addresses, and TCP connections that are kept open. The question
// is what honest clients get meanwhile, so that the attacker is counted and nothing is judged
// by it.
//
// It works in labs alone. An Engine is made from the membership that a lab's init process
// hands to the agents of its hosts, and refuses in any network namespace that this process did
// not make, or that has an interface of hardware. See docs/decisions/0047.
//
// Frames are made by a template of their kind and transmitted by package packet; packets and
// connections are due by an absolute schedule (package pace). Everything ends at the window's
// stop, and with Close.
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

// An Engine makes the attacks of one host. All methods may be called from several goroutines.
type Engine struct {
	membership message.Membership

	mu      sync.Mutex // guards the following; nothing else runs while it is held
	attacks []*running // of the next or the current window
}

// New makes an engine for a host of a lab.
func New(m message.Membership) *Engine { return &Engine{membership: m} }

// running is an attack that is prepared.
type running struct {
	signals
	do   func(*signals) record.AttackCounts // until it is to stop
	free func()                             // gives back what preparing has taken
	over chan struct{}                      // closed when do and free have returned
	// counts are what do returned; to be read once over is closed.
	counts  record.AttackCounts
	started bool
}

// signals are the instants of a window, in ns of sched.Now, which can be brought forward.
type signals struct {
	start, begin int64
	end, stop    atomic.Int64
	quit         chan struct{} // closed: at once
	quitOnce     sync.Once
}

func (s *signals) leave() { s.quitOnce.Do(func() { close(s.quit) }) }

// left reports whether the attack is to end at this instant.
func (s *signals) left(at int64) bool {
	select {
	case <-s.quit:
		return true
	default:
		return at >= s.stop.Load()
	}
}

// within reports whether an instant is in the window.
func (s *signals) within(at int64) bool { return at >= s.begin && at < s.end.Load() }

// seconds is how long the window was.
func (s *signals) seconds() float64 { return float64(s.end.Load()-s.begin) / 1e9 }

// Prepare gets attacks ready for the next window, in place of others. It refuses unless the
// request is that of the lab's own conductor, and this host is one that the lab's init process
// has made.
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

// permitted is nil if this is a host of the lab with the key.
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

// virtual is nil if all interfaces that are up are of kinds that a lab has.
func virtual(links []netlink.Link) error {
	for _, l := range links {
		if l.Up && !l.Loopback && !slices.Contains(ownKinds, l.Kind) {
			return fmt.Errorf("interface %s, of kind %q, is not one that a lab has", l.Name, l.Kind)
		}
	}
	return nil
}

// ownKinds are the kinds of interface that a lab has (IFLA_INFO_KIND). Hardware has none.
var ownKinds = []string{"veth", "tun", "bridge", "bond", "vlan", "vxlan", "macvlan", "vrf", "dummy"}

// prepare gets one attack ready.
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

// Start schedules what was prepared and returns at once. Only the first call counts.
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

// list is every attack; starting: those that have not been started, which now are.
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

// Shorten brings forward the window's end and the stop.
func (e *Engine) Shorten(endNs, stopNs int64) {
	for _, a := range e.list(false) {
		a.end.Store(endNs)
		a.stop.Store(stopNs)
	}
}

// Results are what was done in the window, in the order of the request. It waits for the
// attacks to end, which they do at the window's stop; an attack that lasts longer than ctx has
// no counts.
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

// Close ends all attacks and waits until nothing is left of them.
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

// now is the clock of all instants here.
func now() int64 { return sched.Now() }
