package slo

import (
	"math"
	"math/rand/v2"
	"slices"
	"strings"
	"testing"
	"time"

	"linerate/internal/model/flow"
	"linerate/internal/model/metric"
	"linerate/internal/model/record"
	"linerate/internal/science/expect"
	"linerate/internal/science/trust"
)

// server is what a trial of a rate sees, of which it answers at most capacity.
type server struct {
	capacity float64
	// generator is what the generator makes at most, and makes its processor fully busy; 0: any.
	generator float64
	p99       func(asked float64) time.Duration
	errors    func(asked float64) float64
	noise     float64     // relative standard deviation of p99
	blip      func() bool // the trial was disturbed
	stolen    func() bool // by a hypervisor, which is known
}

func (s server) trial(asked float64, window time.Duration, random *rand.Rand) (m record.Trial, checks []record.Check) {
	m.WindowS = window.Seconds()
	closed := asked == 0
	if closed {
		asked = s.capacity
		if s.generator > 0 {
			asked = min(asked, s.generator)
		}
	}
	answered := min(asked, s.capacity)
	late := s.p99(answered)
	if s.generator > 0 && (asked > s.generator || closed && answered >= s.generator) {
		answered = min(answered, s.generator)
		checks = append(checks, record.Check{Check: trust.Generator})
	}
	if answered < asked { // the queue grows
		late += time.Duration((1 - answered/asked) * float64(window))
	}
	late = time.Duration(float64(late) * math.Exp(s.noise*random.NormFloat64()))
	if s.blip != nil && s.blip() {
		late *= 50
	}
	if s.stolen != nil && s.stolen() {
		late *= 50
		checks = append(checks, record.Check{Check: trust.Steal})
	}
	m.TransactionsPerS = answered
	done := int64(answered * window.Seconds())
	x := &record.Transactions{Done: done, Application: &record.Application{}}
	if s.errors != nil {
		x.Application.Errors = int64(s.errors(asked) * float64(done))
	}
	us := late.Seconds() * 1e6
	m.Latency = &record.Distribution{Count: done, P50Us: us / 3, P99Us: us}
	m.Flows = []record.Flow{{From: record.NodeClient, To: record.NodeServer, Protocol: flow.HTTP, Transactions: x}}
	m.Parts = []record.Part{{From: record.NodeClient, To: record.NodeServer, Counts: record.Counts{Transactions: x}}}
	return m, checks
}

func wanted(t *testing.T, text string) expect.Expectation {
	t.Helper()
	e, err := expect.Parse(text, metric.Setup{Protocol: flow.HTTP})
	if err != nil {
		t.Fatal(err)
	}
	return e
}

func (s Search) over(at server, seed uint64) []record.FindMaxTrial {
	random := rand.New(rand.NewPCG(seed, 1))
	var made []record.FindMaxTrial
	for {
		rate, confirms, more := s.Next(made)
		if !more {
			return made
		}
		m, checks := at.trial(rate, s.Window(rate, time.Second), random)
		made = append(made, s.Outcome(made, m, checks, rate, confirms))
	}
}

func always(d time.Duration) func(float64) time.Duration {
	return func(float64) time.Duration { return d }
}

// queue is a server whose latency grows without limit towards its capacity.
func queue(capacity float64, service time.Duration) server {
	return server{capacity: capacity, p99: func(rate float64) time.Duration {
		return time.Duration(float64(service) / max(1-rate/capacity, 1e-3))
	}}
}

// cliff answers in low until knee, and beyond in high.
func cliff(capacity, knee float64, low, high time.Duration) server {
	return server{capacity: capacity, p99: func(rate float64) time.Duration {
		if rate > knee {
			return high
		}
		return low
	}}
}

const both = "latency_p99 <= 20ms and errors <= 0.1%"

// TestSearch: whatever the server is, the interval that comes out has the true rate in it, is no
// wider than the resolution, is confirmed, and says what bounds it; in few trials.
func TestSearch(t *testing.T) {
	refusing := cliff(5000, 1e9, time.Millisecond, time.Millisecond)
	refusing.errors = func(rate float64) float64 { return max(0, 1-700/rate) }
	thrashing := cliff(1000, 1e9, time.Millisecond, time.Millisecond)
	limited := queue(1e6, time.Microsecond)
	limited.generator = 4000
	flooded := cliff(70000, 1e9, time.Millisecond, time.Millisecond) // refuses beyond 300/s, quickly
	flooded.errors = func(rate float64) float64 { return max(0, 1-300/rate) }
	noisy := queue(1000, 2*time.Millisecond)
	noisy.noise = 0.02
	for name, test := range map[string]struct {
		server
		objective string
		want      float64 // the true rate
		bounded   string
		most      int // trials
	}{
		"saturating": {queue(1000, 2*time.Millisecond), both, 900, record.BoundedByObjective, 16},
		"a tight objective": {queue(1000, 2*time.Millisecond), "latency_p99 <= 2.2ms", 91,
			record.BoundedByObjective, 20},
		"a cliff": {cliff(1000, 333, time.Millisecond, time.Second), both, 333,
			record.BoundedByObjective, 18},
		"errors":              {refusing, both, 700.7, record.BoundedByObjective, 20},
		"a flood of refusals": {flooded, both, 300.3, record.BoundedByObjective, 20},
		"no more is answered": {thrashing, "errors <= 1%", 1000, record.BoundedByAnswers, 16},
		"the generator":       {limited, both, 4000, record.BoundedByGenerator, 24},
		"noisy":               {noisy, both, 900, record.BoundedByObjective, 24},
		"slow, few requests":  {queue(5, time.Millisecond), "latency_p50 <= 3ms", 4.4, "", 20},
		"'and' and the median": {cliff(1000, 500, 3*time.Millisecond, 99*time.Millisecond),
			"latency_p50 <= 2ms and latency_p99 <= 50ms", 500, record.BoundedByObjective, 18},
	} {
		for seed := range uint64(50) {
			s := Search{Objective: wanted(t, test.objective), Resolution: 0.05, Repeats: 3, Longest: time.Minute}
			made := s.over(test.server, seed)
			f := s.Conclude(made, "")
			off := 0.001
			if test.noise > 0 {
				off = 0.02 // the knee is where half of the trials fail
			}
			if f.RatePerS > test.want*(1+off) || f.FailedAtPerS < test.want*(1-off) || !f.Found() || f.Confirmed != 3 ||
				test.noise == 0 && !s.near(f.RatePerS, f.FailedAtPerS) {
				t.Fatalf("%s: %.4g to %.4g, want %.4g; %s\n%+v", name, f.RatePerS, f.FailedAtPerS, test.want,
					f.Why, made)
			}
			if len(made) > test.most || test.bounded != "" && f.BoundedBy != test.bounded ||
				(f.BoundedBy == record.BoundedByObjective) != (len(f.Failed) > 0) &&
					f.BoundedBy == record.BoundedByObjective {
				t.Fatalf("%s: %d trials, bounded by %q, %+v", name, len(made), f.BoundedBy, f.Failed)
			}
		}
	}
}

// TestCeiling: a server that keeps the objective at the highest rate that is tried is confirmed
// there, whatever digits that rate has.
func TestCeiling(t *testing.T) {
	for _, most := range []float64{900.137, 900.153, 900} {
		s := Search{Objective: wanted(t, "errors <= 1%"), Resolution: 0.05, Repeats: 3, Longest: time.Minute,
			Most: most}
		made := s.over(cliff(1000, 1e9, time.Millisecond, time.Millisecond), 1)
		if f := s.Conclude(made, ""); f.RatePerS != most || f.Confirmed != 3 || f.BoundedBy != record.BoundedBySearch ||
			len(made) > 16 {
			t.Errorf("%g: %g after %d trials, confirmed by %d, bounded by %q (%s)", most, f.RatePerS, len(made),
				f.Confirmed, f.BoundedBy, f.Why)
		}
	}
}

// TestDisturbed: a trial that failed by chance does not bound the result, whether its cause is
// known or not; and every search ends.
func TestDisturbed(t *testing.T) {
	wrong := map[string]int{}
	const seeds = 200
	for seed := range uint64(seeds) {
		random := rand.New(rand.NewPCG(seed, 2))
		sometimes := func() bool { return random.Float64() < 0.05 }
		blips, stolen := queue(1000, 2*time.Millisecond), queue(1000, 2*time.Millisecond)
		blips.blip, stolen.stolen = sometimes, sometimes
		for name, at := range map[string]server{"a blip": blips, "stolen": stolen} {
			s := Search{Objective: wanted(t, both), Resolution: 0.05, Repeats: 3, Longest: time.Minute}
			made := s.over(at, seed)
			f := s.Conclude(made, "")
			if len(made) > MostTrials {
				t.Fatalf("%s, seed %d: %d trials", name, seed, len(made))
			}
			if f.RatePerS > 900.01 || f.BoundedBy == record.BoundedByGenerator {
				t.Errorf("%s, seed %d: %+v", name, seed, f)
			}
			if f.FailedAtPerS < 899.9 {
				wrong[name]++
			}
		}
	}
	// A blip in a trial that confirms counts: the result is then too low. It is one trial in twenty of three.
	if wrong["a blip"] > seeds/4 || wrong["stolen"] > 0 {
		t.Errorf("of %d searches the interval lacks the true rate: %v", seeds, wrong)
	}
}

// TestNone: an objective that is never met has no rate, one that always is has only the search's
// limit, and what is not known is not said.
func TestNone(t *testing.T) {
	s := Search{Objective: wanted(t, both), Resolution: 0.05, Repeats: 3, Longest: time.Minute}
	never := server{capacity: 1000, p99: always(time.Second)}
	made := s.over(never, 1)
	if f := s.Conclude(made, ""); f.RatePerS != 0 || f.Found() || !strings.Contains(f.Why, "even the lowest rate") ||
		f.BoundedBy != record.BoundedByObjective || len(f.Failed) != 1 || f.FailedAtPerS > 20 || len(made) > 16 {
		t.Errorf("never: %d trials, %+v", len(made), f)
	}
	// In the closed loop a server with a lock that all wait for is slower than on a schedule.
	random := rand.New(rand.NewPCG(1, 1))
	made = nil
	for {
		rate, confirms, more := s.Next(made)
		if !more {
			break
		}
		at := server{capacity: 1e9, p99: always(time.Millisecond)}
		if rate == 0 {
			at.capacity = 100
		}
		m, checks := at.trial(rate, s.Window(rate, time.Second), random)
		made = append(made, s.Outcome(made, m, checks, rate, confirms))
	}
	if f := s.Conclude(made, ""); f.RatePerS != 1600 || f.FailedAtPerS != 0 || f.BoundedBy != record.BoundedBySearch ||
		!f.Found() || len(made) > 16 {
		t.Errorf("always: %d trials, %+v", len(made), f)
	}
	s.Most = 500
	if f := s.Conclude(s.over(queue(1e6, time.Microsecond), 1), ""); f.RatePerS != 500 ||
		f.BoundedBy != record.BoundedBySearch {
		t.Errorf("a highest rate: %+v", f)
	}
	s.Most = 0
	dead := server{p99: always(time.Second)}
	made = s.over(dead, 1)
	if f := s.Conclude(made, ""); f.RatePerS != 0 || !strings.Contains(f.Why, "no request was answered") ||
		len(made) != 1 {
		t.Errorf("dead: %+v", f)
	}
	slow := server{capacity: 0.5, p99: always(time.Millisecond)}
	if f := s.Conclude(s.over(slow, 1), ""); f.RatePerS != 0 ||
		!strings.Contains(f.Why, "too few requests for the objective, which needs 1,000") {
		t.Errorf("slow: %+v", f)
	}
	if f := s.Conclude(nil, ""); f.Found() || f.Why == "" || f.Trials == nil {
		t.Errorf("%+v", f)
	}
}

// TestGenerator: where the generator was exhausted no other bound is said, also where the check of
// the trial itself just passes.
func TestGenerator(t *testing.T) {
	s := Search{Objective: wanted(t, both), Resolution: 0.05, Repeats: 3, Longest: time.Minute}
	busy := queue(1e6, time.Microsecond)
	busy.generator = 4000
	random := rand.New(rand.NewPCG(1, 1))
	m, checks := busy.trial(0, time.Second, random)
	closed := s.Outcome(nil, m, checks, 0, false)
	if closed.Busy == nil || closed.Pass || closed.FailedBy != "" {
		t.Errorf("%+v", closed)
	}
	made := []record.FindMaxTrial{closed}
	late := server{capacity: 1e6, p99: always(time.Second)}
	for asked, by := range map[float64]string{3900: record.BoundedByGenerator, 2000: record.BoundedByObjective} {
		m, checks := late.trial(asked, time.Second, random)
		if o := s.Outcome(made, m, checks, asked, false); o.FailedBy != by || o.Pass ||
			(o.Busy != nil) != (by == record.BoundedByGenerator) {
			t.Errorf("%g: %+v", asked, o)
		}
	}
	// What was met while the generator lacked processors would be met with them.
	for _, check := range []string{trust.Generator, trust.Steal, trust.Clock} {
		for capacity, pass := range map[float64]bool{1e6: true, 1000: false} {
			m, _ := server{capacity: capacity, p99: always(time.Millisecond)}.trial(2000, time.Second, random)
			checks := []record.Check{{Check: check}}
			if o := s.Outcome(made, m, checks, 2000, false); o.Pass != pass || !pass &&
				(o.FailedBy != record.BoundedByGenerator || o.Busy == nil || o.Busy.Check.Check != check ||
					o.Busy.InClosedLoop) {
				t.Errorf("%s: %+v", check, o)
			}
		}
	}
}

// TestErrors: answers that say that a request failed are the server's, however busy the generator is.
func TestErrors(t *testing.T) {
	s := Search{Objective: wanted(t, both), Resolution: 0.05, Repeats: 3, Longest: time.Minute}
	refusing := server{capacity: 1e6, p99: always(time.Millisecond), errors: func(float64) float64 { return 0.5 }}
	m, _ := refusing.trial(2000, time.Second, rand.New(rand.NewPCG(1, 1)))
	checks := []record.Check{{Check: trust.Generator}}
	if o := s.Outcome([]record.FindMaxTrial{{AnsweredPerS: 2000, Busy: &record.GeneratorCheck{}}}, m, checks, 2000,
		false); o.FailedBy != record.BoundedByObjective || o.Pass {
		t.Errorf("%+v", o)
	}
}

// TestBehind: a schedule whose gaps vary may have fewer requests by chance.
func TestBehind(t *testing.T) {
	s := Search{Objective: wanted(t, both), Resolution: 0.05, Repeats: 3, Longest: time.Minute}
	few := server{capacity: 950, p99: always(time.Microsecond)}
	made := []record.FindMaxTrial{{AnsweredPerS: 2000}}
	for irregular, pass := range map[bool]bool{false: false, true: true} {
		s.Irregular = irregular
		m, checks := few.trial(1000, 2*time.Second, rand.New(rand.NewPCG(1, 1)))
		m.Latency.P99Us = 1
		if o := s.Outcome(made, m, checks, 1000, false); o.Pass != pass || !pass &&
			o.FailedBy != record.BoundedByAnswers {
			t.Errorf("irregular %v: %+v", irregular, o)
		}
	}
}

// TestInterrupted: what is known until then is kept, and not called confirmed.
func TestInterrupted(t *testing.T) {
	s := Search{Objective: wanted(t, both), Resolution: 0.05, Repeats: 3, Longest: time.Minute}
	made := s.over(queue(1000, 2*time.Millisecond), 1)
	first := slices.IndexFunc(made, func(t record.FindMaxTrial) bool { return t.Confirms })
	for n := 1; n < len(made); n++ {
		f := s.Conclude(made[:n], "interrupted")
		if f.Found() || f.Why != "interrupted" || f.RatePerS > 900.01 || n > first &&
			(f.RatePerS == 0 || f.Confirmed != n-first) {
			t.Errorf("%d trials: %+v", n, f)
		}
	}
}

// TestWindow: a window is as long as the percentile needs, and no longer than it may be.
func TestWindow(t *testing.T) {
	s := Search{Objective: wanted(t, "latency_p99 <= 1ms, latency_p50 <= 1ms"), Longest: 30 * time.Second}
	for rate, want := range map[float64]time.Duration{0: time.Second, 1e5: time.Second, 110: 10 * time.Second,
		1: 30 * time.Second} {
		if got := s.Window(rate, time.Second); got.Round(time.Millisecond) != want {
			t.Errorf("%g/s: %v, want %v", rate, got, want)
		}
	}
	s.Objective = wanted(t, "errors <= 1%")
	if got := s.Window(1, time.Second); got != time.Second {
		t.Errorf("%v", got)
	}
}
