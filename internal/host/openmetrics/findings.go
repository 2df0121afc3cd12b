package openmetrics

import (
	"context"
	"slices"
	"sync"
	"time"

	"github.com/prometheus/client_golang/prometheus"

	"linerate/internal/host/hoststate"
	"linerate/internal/model/netstate"
	"linerate/internal/model/record"
	"linerate/internal/science/diagnose"
)

// A scrape evaluates the rules, but not within evaluateAfter of the last evaluation, nor within evaluateShare
// times its duration. A scrape waits at most evaluateWait for an evaluation.
const (
	evaluateAfter = time.Minute
	evaluateShare = 50
	evaluateWait  = 2 * time.Second
)

var (
	finding = hostFamilies.gauge("finding",
		"1: the rule of doctor finds a cause on this host, now or since the evaluation before; counters since boot "+
			"do not count. The rules are in docs/doctor-rules.md.", "rule", "confidence")
	rulesBy = hostFamilies.gauge("doctor_rules",
		"Rules of doctor, by whether they had what they need (evaluated, unevaluated).", "state")
	evaluatedAt = hostFamilies.gauge("doctor_evaluation_timestamp_seconds",
		"When doctor's rules were last evaluated, since the epoch.")
	evaluation = hostFamilies.gauge("doctor_evaluation_duration_seconds", "How long that evaluation took.")
	overTime   = hostFamilies.gauge("doctor_evaluation_interval_seconds",
		"The time since the evaluation before, over which rules about counters see what grew; 0 in the first "+
			"evaluation, in which they find nothing.")
)

// doctor evaluates the rules of doctor on this host, without sending anything.
type doctor struct {
	ctx   context.Context
	close context.CancelFunc
	read  func(context.Context, hoststate.Options) (netstate.HostSnapshot, error)
	after time.Duration // evaluateAfter
	share time.Duration // evaluateShare
	wait  time.Duration // evaluateWait

	mu      sync.Mutex // held for assignments only
	running chan struct{}
	before  *netstate.HostSnapshot // see hoststate.Earlier
	latest  *diagnosis             // nil: none yet
}

type diagnosis struct {
	record.Evaluation
	at   time.Time
	took time.Duration
	err  error
}

func newDoctor() *doctor {
	d := &doctor{read: hoststate.Read, after: evaluateAfter, share: evaluateShare, wait: evaluateWait}
	d.ctx, d.close = context.WithCancel(context.Background())
	return d
}

// diagnosis returns the latest diagnosis, which may be nil. If it is old, another begins.
func (d *doctor) diagnosis() *diagnosis {
	d.mu.Lock()
	due := d.latest == nil || time.Since(d.latest.at) > max(d.after, d.share*d.latest.took)
	if due && d.running == nil {
		d.running = make(chan struct{})
		go d.evaluate(d.running, d.before)
	}
	running := d.running
	d.mu.Unlock()
	if running != nil {
		select {
		case <-running:
		case <-time.After(d.wait):
		}
	}
	d.mu.Lock()
	defer d.mu.Unlock()
	return d.latest
}

func (d *doctor) evaluate(done chan struct{}, before *netstate.HostSnapshot) {
	defer close(done)
	now := &diagnosis{at: time.Now()}
	snapshot, err := d.read(d.ctx, hoststate.Options{Silent: true, Since: before})
	if now.err = err; err == nil {
		now.Evaluation = diagnose.Hosts([]netstate.HostSnapshot{snapshot})
	}
	now.took = time.Since(now.at)
	d.mu.Lock()
	defer d.mu.Unlock()
	d.running, d.latest = nil, now
	if err == nil {
		d.before = hoststate.Earlier(snapshot)
	}
}

// send sends the findings: the most certain of each rule.
func (d *doctor) send(to chan<- prometheus.Metric) {
	latest := d.diagnosis()
	if latest == nil {
		return
	}
	evaluatedAt.send(to, float64(latest.at.UnixNano())/1e9)
	evaluation.send(to, latest.took.Seconds())
	if latest.err != nil {
		return
	}
	overTime.send(to, latest.OverS)
	rulesBy.send(to, float64(len(latest.Evaluated)), "evaluated")
	rulesBy.send(to, float64(len(latest.Unevaluated)), "unevaluated")
	var sent []string
	for _, f := range latest.Findings { // the most certain first
		if !f.Boot && !slices.Contains(sent, f.ID) {
			sent = append(sent, f.ID)
			finding.send(to, 1, f.ID, f.Confidence)
		}
	}
}
