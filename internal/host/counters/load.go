package counters

import (
	"fmt"
	"time"

	"linerate/internal/kernel/proc"
	"linerate/internal/kernel/sched"
	"linerate/internal/model/netstate"
)

const (
	// mostLoads limits the samples of a window that have the machine's load, and mostCPUs the CPUs in each,
	// because a trial's record is stored.
	mostLoads, mostCPUs = 50, 64
	// loadShare is the maximum share of the time that reading the load may take.
	loadShare = 0.01
)

// Load reads the machine's CPU times, softirqs and interrupts during a window.
type Load struct {
	reader       *Reader
	every, since int // samples
	irqs         []int
	// Missing is why nothing is read; empty if it is.
	Missing string
}

// WatchLoad prepares the load readings of a window with samples at an interval. It omits them where one takes
// more than a hundredth of the time between two, as on machines with very many CPUs and interrupts.
func (r *Reader) WatchLoad(interval, window time.Duration) *Load {
	l := &Load{reader: r, every: 1}
	if interval <= 0 {
		l.Missing = "no samples"
		return l
	}
	l.every += int(window/interval) / mostLoads
	l.since = l.every - 1 // so that the first sample has the load
	if links, err := r.links(); err == nil {
		l.irqs = r.nics.Interrupts(links)
	}
	took := time.Hour
	for range 3 { // the first reading is slower
		began := sched.Now()
		var s netstate.Sample
		if l.Missing = l.read(&s); l.Missing != "" {
			return l
		}
		took = min(took, time.Duration(sched.Now()-began))
	}
	if between := interval * time.Duration(l.every); float64(took) > loadShare*float64(between) {
		l.Missing = fmt.Sprintf("a reading takes %v, more than 1 %% of the %v between two",
			took.Round(time.Microsecond), between)
	}
	return l
}

// Enter adds the load to every n-th sample.
func (l *Load) Enter(s *netstate.Sample) {
	if l == nil || l.Missing != "" {
		return
	}
	if l.since++; l.since < l.every {
		return
	}
	l.since = 0
	_ = l.read(s) // a failure shows in the readings at the edges
}

func (l *Load) read(s *netstate.Sample) (missing string) {
	var err error
	if s.CPU, err = l.reader.proc.CPUTimes(); err != nil {
		return err.Error()
	}
	if s.Events, s.IRQs, err = l.reader.proc.EventsAndIRQs(l.irqs); err != nil {
		return err.Error()
	}
	if len(s.Events) > mostCPUs {
		s.Events = nil
		for _, c := range s.CPU {
			if c.CPU == -1 {
				s.CPU = []netstate.CPUTimes{c}
				break
			}
		}
	}
	for i := range s.Events {
		kinds := map[string]uint64{}
		for _, kind := range []string{"NET_RX", "NET_TX"} {
			if n := s.Events[i].Softirqs[kind]; n > 0 {
				kinds[kind] = n
			}
		}
		s.Events[i].Softirqs = kinds
	}
	return ""
}

// Log collects the kernel's log messages about the network during a window.
type Log struct {
	log   *proc.KernelLog
	since int64 // when the log was last read
	lines netstate.KernelLog
}

// WatchLog starts with messages written from now on.
func WatchLog() *Log {
	log, err := proc.OpenKernelLog(true)
	l := &Log{log: log, since: sched.Now()}
	if err != nil {
		l.lines.Missing = err.Error()
	}
	return l
}

// Look reads the messages since the last call. Their times are limited to that interval, because the log's
// clock differs slightly from the monotonic clock.
func (l *Log) Look() {
	if l == nil || l.lines.Missing != "" {
		return
	}
	now := sched.Now()
	err := l.log.Read(func(line netstate.LogLine) {
		line.AtNs = max(l.since, min(line.AtNs, now))
		l.lines.Add(line)
	})
	if err != nil {
		l.lines.Missing = err.Error()
	}
	l.since = now
}

// Close stops and returns the messages; nil if the log cannot be read.
func (l *Log) Close() *netstate.KernelLog {
	if l == nil {
		return nil
	}
	l.log.Close()
	l.log = nil // so that Close may be called again
	lines := l.lines
	return &lines
}
