// Package budget is what the clients of a serving host may use: each of them, and all
// together. Whatever a request makes the host spend is taken from it before it is spent,
// and a request that asks for more is refused by the name of the bound.
//
// It holds no resource itself, and reads the machine's own limits (RLIMIT_NOFILE,
// RLIMIT_NPROC, cgroups) only to stay below them.
package budget

import (
	"fmt"
	"math"
	"net/netip"
	"strings"
	"sync"

	"linerate/internal/bus/greeting"
	"linerate/internal/model/message"
	"linerate/internal/model/unit"
)

// Resource is something that clients use up.
type Resource int

const (
	Clients     Resource = iota
	Flows                // of a trial
	Connections          // of a trial's flows
	Threads              // of transactional flows
	Polling              // threads that poll: a CPU each
	Buffers              // bytes of socket buffers that were requested
	Samples              // of a window
	Requests             // that are being answered
	Memory               // bytes of this process: for flows, requests and replies
	Descriptors          // open files
	Resources
)

// names are what each is called in a refusal.
var names = [Resources]string{
	"clients", "flows", "connections", "threads", "polling threads", "bytes of socket buffers",
	"samples in a window", "requests at a time", "bytes of memory", "descriptors",
}

func (r Resource) String() string { return names[r] }

// remedies are the flags of measure and serve by which a client uses less of each, or gets
// more.
var remedies = [Resources]string{
	Flows:       "fewer --streams, or there: linerate serve --max-flows",
	Connections: "fewer --connections, or there: linerate serve --max-connections",
	Threads:     "fewer --threads or --streams",
	Polling:     "fewer --threads, or no --poll",
	Buffers:     "a smaller --window, which both buffers of a flow have, or fewer --streams",
	Samples:     "a longer --interval",
}

// Use is an amount of each resource.
type Use [Resources]int64

// add is the sum, which is at most the largest number.
func (u Use) add(v Use) Use {
	for r := range u {
		if u[r] += v[r]; u[r] < 0 {
			u[r] = math.MaxInt64
		}
	}
	return u
}

func (u Use) sub(v Use) Use {
	for r := range u {
		u[r] -= v[r]
	}
	return u
}

// Exceeded is the refusal of what is more than a bound allows.
type Exceeded struct {
	Resource Resource
	Asked    int64
	Bound    int64
	// Used by all clients; below 0: the bound is that of one client.
	Used int64
	// Why is the limit of the machine that the bound follows from; empty: it is serve's own.
	Why string
}

func (e *Exceeded) Error() string {
	spell, name := func(n int64) string { return fmt.Sprint(n) }, e.Resource.String()
	if of, bytes := strings.CutPrefix(name, "bytes "); bytes {
		spell, name = func(n int64) string { return unit.Bytes(n).String() }, of
	}
	if e.Used < 0 {
		text := fmt.Sprintf("%s %s: this server allows a client %s", spell(e.Asked), name, spell(e.Bound))
		if remedy := remedies[e.Resource]; remedy != "" {
			text += "; expected " + remedy
		}
		return text
	}
	why := ""
	if e.Why != "" {
		why = " (" + e.Why + ")"
	}
	return fmt.Sprintf("%s %s: this server has %s for all clients%s, and %s are in use", spell(e.Asked), name,
		spell(e.Bound), why, spell(e.Used))
}

// Unwrap is the failure's code: a client that has asked for too much differs from a server
// that has no more.
func (e *Exceeded) Unwrap() error {
	if e.Used < 0 {
		return message.OutOfBounds
	}
	return message.Exhausted
}

// Budget is what all clients may use. Its methods, and those of its accounts and leases,
// may be called from several goroutines.
type Budget struct {
	// Each bounds every client, All all of them together; 0: no bound.
	Each, All Use
	// Room is what the machine has left of a resource; nil: it is not asked.
	Room func(Resource) (left int64, why string)
	// Why is the limit of the machine that a bound of All follows from.
	Why [Resources]string

	mu      sync.Mutex // held for arithmetic only
	used    Use
	refused Use                    // requests, by the bound that they exceeded
	sources map[netip.Prefix]int64 // clients by prefixes
}

// prefixes are those of a source that bounds are for, the longest first: of IPv6 also those
// that are delegated to one site (RFC 6177).
func prefixes(source netip.Addr) (list []netip.Prefix) {
	lengths := []int{64, 56, 48}
	if source.Is4() {
		lengths = []int{32}
	}
	for _, bits := range lengths {
		if p, err := source.Prefix(bits); err == nil {
			list = append(list, p)
		}
	}
	return list
}

// shown is a prefix as messages have it: an address of IPv4 without its length.
func shown(p netip.Prefix) string {
	if p.IsSingleIP() {
		return p.Addr().String()
	}
	return p.String()
}

// Admit accepts a client, unless all places are taken or one of its prefixes has its share.
func (b *Budget) Admit(from netip.Addr) (*Account, error) {
	source := greeting.Source(from)
	b.mu.Lock()
	defer b.mu.Unlock()
	free, sources := b.All[Clients]-b.used[Clients], prefixes(source)
	if free <= 0 {
		b.refused[Clients]++
		return nil, fmt.Errorf("the server is full: it serves %d clients at a time", b.All[Clients])
	}
	for _, p := range sources {
		if has := b.sources[p]; has > free {
			b.refused[Clients]++
			return nil,
				fmt.Errorf(
					"%s has %d of the %d clients that this server serves at a time, and %d places are left to others",
					shown(p), has, b.All[Clients], free)
		}
	}
	if b.sources == nil {
		b.sources = map[netip.Prefix]int64{}
	}
	for _, p := range sources {
		b.sources[p]++
	}
	b.used[Clients]++
	return &Account{budget: b, sources: sources}, nil
}

// Used is what all clients use at this moment.
func (b *Budget) Used() Use {
	b.mu.Lock()
	defer b.mu.Unlock()
	return b.used
}

// Refused is how many clients and requests were refused so far, by the bound that they
// exceeded.
func (b *Budget) Refused() Use {
	b.mu.Lock()
	defer b.mu.Unlock()
	return b.refused
}

// Account is one client's.
type Account struct {
	budget  *Budget
	sources []netip.Prefix
	used    Use // guarded by the budget's mutex, as is closed
	closed  bool
}

// Close gives the client's place back, and everything that it still has.
func (a *Account) Close() {
	b := a.budget
	b.mu.Lock()
	defer b.mu.Unlock()
	if a.closed {
		return
	}
	a.closed = true
	b.used = b.used.sub(a.used)
	b.used[Clients]--
	for _, p := range a.sources {
		if b.sources[p]--; b.sources[p] == 0 {
			delete(b.sources, p)
		}
	}
	a.used = Use{}
}

// Lease begins with nothing taken.
func (a *Account) Lease() *Lease { return &Lease{account: a} }

// Lease is what one request, or one trial, has taken.
type Lease struct {
	account *Account
	used    Use // guarded by the budget's mutex
}

// Take takes all of an amount, or nothing and returns an *Exceeded.
func (l *Lease) Take(u Use) error {
	b := l.account.budget
	rooms := b.rooms(u) // may read files
	b.mu.Lock()
	defer b.mu.Unlock()
	each, all := l.account.used.add(u), b.used.add(u)
	for r := range Resources {
		var e *Exceeded
		switch {
		case u[r] <= 0:
		case b.Each[r] > 0 && each[r] > b.Each[r]:
			e = &Exceeded{Resource: r, Asked: u[r], Bound: b.Each[r], Used: -1}
		case b.All[r] > 0 && all[r] > b.All[r]:
			e = &Exceeded{Resource: r, Asked: u[r], Bound: b.All[r], Used: b.used[r], Why: b.Why[r]}
		case rooms[r].why != "" && u[r] > rooms[r].left:
			e = &Exceeded{Resource: r, Asked: u[r], Bound: b.used[r] + max(0, rooms[r].left), Used: b.used[r],
				Why: rooms[r].why}
		}
		if e != nil {
			b.refused[r]++
			return e
		}
	}
	if !l.account.closed { // a client that has left has nothing to give back
		b.used, l.account.used, l.used = all, each, l.used.add(u)
	}
	return nil
}

// Raise takes what is missing to an amount, or nothing and returns an *Exceeded.
func (l *Lease) Raise(u Use) error {
	l.account.budget.mu.Lock()
	missing := u.sub(l.used)
	l.account.budget.mu.Unlock()
	for r := range missing {
		missing[r] = max(0, missing[r])
	}
	return l.Take(missing)
}

type room struct {
	left int64
	why  string // empty: unbounded
}

func (b *Budget) rooms(u Use) (list [Resources]room) {
	for r := range Resources {
		if b.Room != nil && u[r] > 0 {
			list[r].left, list[r].why = b.Room(r)
		}
	}
	return list
}

// End gives everything back. It may be called more than once.
func (l *Lease) End() {
	b := l.account.budget
	b.mu.Lock()
	defer b.mu.Unlock()
	if !l.account.closed {
		b.used, l.account.used = b.used.sub(l.used), l.account.used.sub(l.used)
	}
	l.used = Use{}
}
