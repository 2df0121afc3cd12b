package transaction

import (
	"context"
	"encoding/json"
	"errors"
	"io"
	"runtime/debug"
	"time"

	"linerate/internal/kernel/proc"
	"linerate/internal/kernel/sock"
)

// RunWorker is the life of a hand: it carries out what comes in, until there is no
// more.
func RunWorker(in io.Reader, out io.Writer) error {
	debug.SetGCPercent(20) // next to nothing is allocated once the connections are open
	e := New()
	e.isWorker = true
	defer e.Close()
	from, to := json.NewDecoder(in), json.NewEncoder(out)
	for {
		var t task
		if err := from.Decode(&t); err != nil {
			if errors.Is(err, io.EOF) {
				err = nil
			}
			return err
		}
		if err := to.Encode(e.handle(t)); err != nil {
			return err
		}
	}
}

// handle does what a hand is asked.
func (e *Engine) handle(t task) (r report) {
	ctx := context.Background()
	switch {
	case t.Listen != nil:
		r.Listening = e.listen(ctx, t.Listen.Order, partOf(t.Listen))
	case t.Connect != nil:
		r.Opened = e.connect(ctx, t.Connect.Order, partOf(t.Connect), time.Duration(t.Connect.TimeoutNs), func() {})
	case t.Abandon:
		for _, f := range e.books.All() {
			f.abandon()
		}
	case t.Start != nil:
		e.Start(*t.Start)
	case t.Light:
		for _, s := range e.Light() {
			r.Sample = s
		}
	}
	if t.Read {
		for _, end := range e.Read() {
			r.End = end
		}
		r.BusyNs, r.CPUNs = e.Busy(), int64(sock.ProcessCPU())
		r.MemoryBytes = proc.OwnMemory()
	}
	r.Settled = e.Settled()
	return r
}

func partOf(a *assignment) part {
	return part{a.First, max(1, a.Step), int64(max(1, a.Order.Connections))}
}
