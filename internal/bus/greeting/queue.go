package greeting

import (
	"container/list"
	"net/netip"
	"sync"
)

// Queue holds connections that have not identified themselves yet, with a bound for all
// together and one per source. A connection beyond a bound replaces the oldest one: of the
// same source if that has reached its bound, otherwise of the source with the most. Neither
// one silent host nor many can therefore keep out others, since a peer that identifies itself
// leaves the queue within moments. (OpenSSH's MaxStartups and PerSourceMaxStartups,
// sshd_config(5), refuse the newest instead.)
//
// Its methods may be called from several goroutines.
type Queue struct {
	most, perSource int

	mu      sync.Mutex // held for assignments only
	waiting int
	sources map[netip.Addr]*list.List // of *Waiter, the oldest first
}

// Waiter is a connection in a Queue.
type Waiter struct {
	queue  *Queue
	source netip.Addr
	place  *list.Element // nil: it has left
	end    func()
}

// NewQueue returns a queue for at most this many connections, a quarter of them from one
// source.
func NewQueue(most int) *Queue {
	return &Queue{most: most, perSource: max(1, most/4), sources: map[netip.Addr]*list.List{}}
}

// Enter adds a connection from an address. end is called as soon as another connection
// replaces it.
func (q *Queue) Enter(from netip.Addr, end func()) *Waiter {
	w := &Waiter{queue: q, source: Source(from), end: end}
	if replaced := q.enter(w); replaced != nil {
		replaced.end()
	}
	return w
}

func (q *Queue) enter(w *Waiter) (replaced *Waiter) {
	q.mu.Lock()
	defer q.mu.Unlock()
	own := q.sources[w.source]
	switch {
	case own != nil && own.Len() >= q.perSource:
		replaced = own.Front().Value.(*Waiter)
	case q.waiting >= q.most:
		replaced = q.largest().Front().Value.(*Waiter)
	}
	if replaced != nil {
		q.remove(replaced)
	}
	if own = q.sources[w.source]; own == nil {
		own = list.New()
		q.sources[w.source] = own
	}
	w.place = own.PushBack(w)
	q.waiting++
	return replaced
}

// largest is what the source with the most connections has. It looks at all sources, which
// are no more than connections.
func (q *Queue) largest() (most *list.List) {
	for _, l := range q.sources {
		if most == nil || l.Len() > most.Len() {
			most = l
		}
	}
	return most
}

func (q *Queue) remove(w *Waiter) {
	own := q.sources[w.source]
	own.Remove(w.place)
	w.place = nil
	q.waiting--
	if own.Len() == 0 {
		delete(q.sources, w.source)
	}
}

// Leave removes a connection that has identified itself or has ended. It returns false if the
// connection had been replaced.
func (w *Waiter) Leave() bool {
	w.queue.mu.Lock()
	defer w.queue.mu.Unlock()
	there := w.place != nil
	if there {
		w.queue.remove(w)
	}
	return there
}

// Len returns the number of waiting connections.
func (q *Queue) Len() int {
	q.mu.Lock()
	defer q.mu.Unlock()
	return q.waiting
}

// Source returns the source of which a Queue counts the connections: an IPv4 address, or the
// /64 prefix of an IPv6 address, since one host may have all addresses of it.
func Source(a netip.Addr) netip.Addr {
	a = a.Unmap().WithZone("")
	if a.Is6() {
		if p, err := a.Prefix(64); err == nil {
			return p.Addr()
		}
	}
	return a
}
