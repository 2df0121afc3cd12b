package replay

import (
	"sync/atomic"

	"linerate/internal/kernel/packet"
	"linerate/internal/kernel/sched"
)

// watcher receives at the other interface while frames are sent.
type watcher struct {
	*matcher
	from   *packet.Receiver
	most   int          // size of the largest frame
	sent   atomic.Int64 // when the last frame was sent; 0: not all are sent
	failed error
}

func newWatcher(frames []Frame, name string, most int) (*watcher, error) {
	from, err := packet.OpenReceiver(name, packet.Match{})
	if err != nil {
		return nil, err
	}
	return &watcher{matcher: newMatcher(frames), from: from, most: most}, nil
}

// tags is the size of two VLAN tags.
const tags = 8

// receive matches incoming frames until all have arrived, or none has for a while after the last was sent.
func (w *watcher) receive() {
	latest := sched.Now()
	for {
		n, err := w.from.Receive(check)
		if err != nil {
			w.failed = err
			return
		}
		before := w.counts.Received
		for i := range n {
			m := w.from.Frame(i)
			w.counts.Overrun = max(w.counts.Overrun, int64(m.Dropped))
			switch {
			case m.Bytes > max(w.most, 60)+tags:
				w.counts.Merged++
			default:
				w.arrived(m.Data, m.AtNs)
			}
		}
		now := sched.Now()
		if w.counts.Received > before {
			latest = now
		}
		sent := w.sent.Load()
		if sent != 0 && (w.counts.Received == int64(len(w.received)) ||
			now-max(latest, sent) > int64(quiet) || now-sent > int64(patience)) {
			return
		}
	}
}
