package counters

import (
	"fmt"
	"time"

	"linerate/internal/kernel/proc"
	"linerate/internal/kernel/sched"
	"linerate/internal/model/record"
)

const (
	// mostLoads bounds the samples of a window that have the machine's load, and mostCPUs the
	// CPUs of each: a trial's record is kept.
	mostLoads, mostCPUs = 50, 64
	// loadShare is the most of the time between two readings of the load that one may take.
	loadShare = 0.01
)

// Load reads what the machine does inside a window: CPU times, softirqs and interrupts.
type Load struct {
	reader       *Reader
	every, since int // samples
	irqs         []int
	// Missing is why nothing is read; empty: it is.
	Missing string
}

// WatchLoad prepares the readings of a window that has samples at an interval. They are left
// out where one takes more than a hundredth of the time between two: on machines with very
// many CPUs and interrupts.
func (r *Reader) WatchLoad(interval, window time.Duration) *Load {
	l := &Load{reader: r, every: 1}
	if interval <= 0 {
		l.Missing = "no samples"
		return l
	}
	l.every += int(window/interval) / mostLoads
	l.since = l.every - 1 // the first sample has it
	if links, err := r.links(); err == nil {
		l.irqs = r.nics.Interrupts(links)
	}
	took := time.Hour
	for range 3 { // the first is slower
		began := sched.Now()
		var s record.Sample
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

// Enter adds the load to every so many samples.
func (l *Load) Enter(s *record.Sample) {
	if l == nil || l.Missing != "" {
		return
	}
	if l.since++; l.since < l.every {
		return
	}
	l.since = 0
	_ = l.read(s) // what cannot be read now is missed at the edges
}

func (l *Load) read(s *record.Sample) (missing string) {
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
				s.CPU = []record.CPUTimes{c}
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

// Log collects what the kernel writes about the network into its log while a window is open.
type Log struct {
	log   *proc.KernelLog
	since int64 // when it was looked at last
	lines record.KernelLog
}

// WatchLog begins with what is written from now on.
func WatchLog() *Log {
	log, err := proc.OpenKernelLog(true)
	l := &Log{log: log, since: sched.Now()}
	if err != nil {
		l.lines.Missing = err.Error()
	}
	return l
}

// Look takes over the lines since the last look. Their instants are bounded by the two, because
// the log's clock is not quite the monotonic one.
func (l *Log) Look() {
	if l == nil || l.lines.Missing != "" {
		return
	}
	now := sched.Now()
	err := l.log.Read(func(line record.LogLine) {
		line.AtNs = max(l.since, min(line.AtNs, now))
		l.lines.Add(line)
	})
	if err != nil {
		l.lines.Missing = err.Error()
	}
	l.since = now
}

// Close ends it and returns the lines; nil: none were to be read.
func (l *Log) Close() *record.KernelLog {
	if l == nil {
		return nil
	}
	l.log.Close()
	l.log = nil // which may be closed again
	lines := l.lines
	return &lines
}
