// Package budget limits what the clients of a serving host may use, each of them and all together. What a
// request makes the host spend is taken from the budget first; a request that exceeds a limit is refused with
// the name of the limit.
//
// It holds no resource itself. It reads the machine's limits (RLIMIT_NOFILE, RLIMIT_NPROC, cgroups) only to
// stay below them.
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

// Resource is a kind of resource that clients use.
type Resource int

const (
	Clients     Resource = iota
	Flows                // of a trial
	Connections          // of a trial's flows
	Threads              // of transactional flows
	Polling              // threads that poll: one CPU each
	Buffers              // bytes of requested socket buffers
	Samples              // per window
	Requests             // being answered
	Memory               // bytes in this process: for flows, requests and replies
	Descriptors          // open files
	Resources
)

// names are the names of resources in refusals.
var names = [Resources]string{
	"clients", "flows", "connections", "threads", "polling threads", "bytes of socket buffers",
	"samples in a window", "requests at a time", "bytes of memory", "descriptors",
}

func (r Resource) String() string { return names[r] }

// remedies are the flags of measure and serve with which a client uses less of a resource, or gets more.
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

// add returns the sum, limited to the largest int64.
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

// Exceeded is the error of a request that exceeds a limit.
type Exceeded struct {
	Resource Resource
	Asked    int64
	Bound    int64
	// Used by all clients; negative: the limit is for one client.
	Used int64
	// Why is the machine's limit that the limit follows from; empty: serve's own.
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

// Unwrap returns message.OutOfBounds if the client asked for more than one client may have, and
// message.Exhausted if the server has too little left.
func (e *Exceeded) Unwrap() error {
	if e.Used < 0 {
		return message.OutOfBounds
	}
	return message.Exhausted
}

// Budget is what clients may use. Its methods, and those of its accounts and leases, are safe for concurrent
// use.
type Budget struct {
	// Each limits every client, All all of them together; 0: no limit.
	Each, All Use
	// Room returns what the machine has left of a resource; nil: unlimited.
	Room func(Resource) (left int64, why string)
	// Why is the machine's limit that a limit in All follows from.
	Why [Resources]string

	mu      sync.Mutex // held for arithmetic only
	used    Use
	refused Use                    // refused requests by exceeded limit
	sources map[netip.Prefix]int64 // number of clients by prefix
}

// prefixes returns the prefixes of a source that have limits, the longest first; for IPv6 also those delegated
// to one site (RFC 6177).
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

// shown formats a prefix for messages: an IPv4 address without its length.
func shown(p netip.Prefix) string {
	if p.IsSingleIP() {
		return p.Addr().String()
	}
	return p.String()
}

// Admit accepts a client unless all places are taken or one of its prefixes has used up its share.
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

// Used returns what all clients use now.
func (b *Budget) Used() Use {
	b.mu.Lock()
	defer b.mu.Unlock()
	return b.used
}

// Refused returns how many clients and requests were refused so far, by exceeded limit.
func (b *Budget) Refused() Use {
	b.mu.Lock()
	defer b.mu.Unlock()
	return b.refused
}

// Account is the use of one client.
type Account struct {
	budget  *Budget
	sources []netip.Prefix
	used    Use // guarded by the budget's mutex, like closed
	closed  bool
}

// Close returns the client's place and everything it still holds.
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

// Lease returns an empty lease.
func (a *Account) Lease() *Lease { return &Lease{account: a} }

// Lease is what one request or trial holds.
type Lease struct {
	account *Account
	used    Use // guarded by the budget's mutex
}

// Take takes the whole amount, or takes nothing and returns an *Exceeded.
func (l *Lease) Take(u Use) error {
	b := l.account.budget
	rooms := b.rooms(u) // outside the lock: may read files
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
	if !l.account.closed { // a closed account has returned everything
		b.used, l.account.used, l.used = all, each, l.used.add(u)
	}
	return nil
}

// Raise increases the lease to the amount, or takes nothing and returns an *Exceeded.
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
	why  string // empty: unlimited
}

func (b *Budget) rooms(u Use) (list [Resources]room) {
	for r := range Resources {
		if b.Room != nil && u[r] > 0 {
			list[r].left, list[r].why = b.Room(r)
		}
	}
	return list
}

// End returns everything. It may be called more than once.
func (l *Lease) End() {
	b := l.account.budget
	b.mu.Lock()
	defer b.mu.Unlock()
	if !l.account.closed {
		b.used, l.account.used = b.used.sub(l.used), l.account.used.sub(l.used)
	}
	l.used = Use{}
}
