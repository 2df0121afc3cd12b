package tune

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"math"
	"math/rand/v2"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"gonum.org/v1/gonum/stat/distuv"

	"linerate/internal/control/notebook"
	"linerate/internal/control/run"
	"linerate/internal/model/record"
	"linerate/internal/model/setting"
	"linerate/internal/model/settingfile"
	"linerate/internal/model/study"
	"linerate/internal/model/topology"
	"linerate/internal/science/conclude"
	"linerate/internal/science/sciencetest"
	"linerate/internal/science/stats"
	"linerate/internal/science/tuning"
	"linerate/internal/show/answer"
)

// fakeHosts answer for package run: they take or refuse settings, and their runs have the
// goodput and latency that a set of settings gives.
type fakeHosts struct {
	prior   map[string]string // by key, what a host has; empty: 1
	refuse  map[string]string // by key, why
	goodput func(set map[string]string) float64
	latency func(set map[string]string) float64 // µs; nil: it is always the same
	// scatter is the standard deviation of both, relative (0: 1 %); dips is the share of
	// trials that something else slows down.
	scatter, dips float64
	seed          uint64
	trialTime     time.Duration
	tryErr        error
	runErr        error
	trials        int // 0: a run has none
	blocks        int // after which the budget ends a run; 0: it does not
	during        func()

	tried  []setting.Setting
	plans  []*study.Plan
	kept   []int // trials for which a run leaves time
	made   []*record.Run
	opened int // notebooks
	closed int
	shown  []string // runs given to Finished
	proven []string // what was noted in runs
}

func (f *fakeHosts) try(_ context.Context, _ *topology.Topology, settings []setting.Setting, _ run.Options) (
	tried []run.Tried, err error) {
	f.tried = append(f.tried, settings...)
	for _, s := range settings {
		one := run.Tried{Setting: s, Refused: f.refuse[s.Changes()[0].Name]}
		switch {
		case one.Refused == "" && s.CPU != nil:
			one.Applied = []record.Applied{{Host: s.Host, Kind: "cpu", What: "policy0 governor", Prior: "powersave",
				New: s.CPU.Governor}}
		case one.Refused == "" && s.NIC != nil:
			one.Applied = []record.Applied{{Host: s.Host, What: s.Changes()[0].Name, Prior: "on",
				New: s.NIC.Options()[0].Value}}
		case one.Refused == "":
			one.Applied = []record.Applied{{Host: s.Host, What: s.Sysctl[0].Key, Prior: cmp.Or(f.prior[s.Sysctl[0].Key],
				"1"), New: s.Sysctl[0].Value}}
		}
		tried = append(tried, one)
	}
	return tried, f.tryErr
}

func (f *fakeHosts) run(_ context.Context, plan *study.Plan, _ notebook.Store, o run.Options) (*record.Run, error) {
	f.plans, f.kept = append(f.plans, plan), append(f.kept, o.Reserve)
	if f.during != nil {
		f.during()
	}
	made := &record.Run{
		ID: fmt.Sprint("run-", len(f.plans)), Study: plan.Study.Name, StudyFile: o.StudyFile, Status: "complete",
		Factors: plan.Factors(), Responses: plan.Study.Responses,
		Design: record.Design{Set: o.Set, Replicates: plan.Blocks(), BudgetS: plan.Study.Design.Budget.Seconds()},
		Margin: 0.03, Confidence: 0.95,
	}
	if f.trials == 0 {
		return made, f.runErr
	}
	random := rand.New(rand.NewPCG(uint64(len(f.plans)), 1+f.seed))
	noise := func() float64 { return math.Exp(cmp.Or(f.scatter, 0.01) * random.NormFloat64()) }
	sets := map[string]map[string]string{}
	for _, l := range plan.Study.Factors[0].Levels {
		sets[l.Name] = map[string]string{}
		for _, s := range l.Settings {
			for _, one := range s.Sysctl {
				sets[l.Name][one.Key] = one.Value
			}
			if s.CPU != nil {
				sets[l.Name][setting.CPUGovernor] = s.CPU.Governor
			}
		}
		if l.Workload != nil {
			sets[l.Name][setting.CongestionControl] = l.Workload.CongestionControl
		}
	}
	blocks := plan.Blocks()
	if f.blocks > 0 {
		blocks, made.Status = f.blocks, record.StatusBudget
	}
	sciencetest.Factorial(made, blocks, func(levels map[string]string, _, _ int) record.Trial {
		set := sets[levels[settingfile.Factor]]
		t := record.Trial{GoodputBps: f.goodput(set) * noise()}
		if random.Float64() < f.dips {
			t.GoodputBps *= 0.4 + 0.5*random.Float64()
		}
		latency := 5000.0
		if f.latency != nil {
			latency = f.latency(set)
		}
		latency *= noise()
		h := stats.NewHistogram()
		for i := range 1200 {
			spread := math.Exp(0.15 * distuv.UnitNormal.Quantile((float64(i)+0.5)/1200))
			stats.Record(h, int64(1000*latency*spread))
		}
		t.Latency, _ = stats.Distribution(h)
		return t
	})
	made.DurationS = float64(len(made.Trials)) * f.trialTime.Seconds()
	conclude.Conclude(made)
	f.made = append(f.made, made)
	return made, f.runErr
}

// store is a notebook that records what was kept, and has to be closed.
type store struct {
	notebook.Store
	of *fakeHosts
}

func (s store) SetProven(_ context.Context, id string, p record.Proven) error {
	s.of.proven = append(s.of.proven, fmt.Sprintf("%s: %s by %s, of %d", id, strings.Join(p.Settings, " "),
		p.Run, p.Of))
	return nil
}

func (s store) Run(_ context.Context, id string) (*record.Run, error) {
	for _, made := range s.of.made {
		if made.ID == id {
			return made, nil
		}
	}
	return nil, notebook.ErrNotFound
}

func (s store) Close() error { s.of.closed++; return nil }

// options try a list on the two ends of a path, which are f.
func (f *fakeHosts) options(t *testing.T, list string) Options {
	t.Helper()
	files := []settingfile.File{settingfile.Read("list.conf", []byte(list), "")}
	return Options{
		Name: "list.conf", Files: files, Lint: tuning.Files(files, nil), File: "the path", Base: Path(1e8, 0, 0),
		Ablate: true, Words: answer.TuneWords{},
		Keep:     filepath.Join(t.TempDir(), "90-kept.conf"),
		Notebook: func(context.Context) (notebook.Store, error) { f.opened++; return store{of: f}, nil },
		Finished: func(made *record.Run) { f.shown = append(f.shown, made.ID) },
		exec:     executor{f.try, f.run},
	}
}

// tune runs the list, and returns the result with its words, and what was kept.
func (f *fakeHosts) tune(ctx context.Context, t *testing.T, o Options) (result *record.Tune, kept string, err error) {
	t.Helper()
	tuner, err := New(o)
	if err != nil {
		t.Fatal(err)
	}
	result, err = tuner.Run(ctx)
	text, missing := os.ReadFile(o.Keep)
	if missing != nil && !errors.Is(missing, os.ErrNotExist) {
		t.Fatal(missing)
	}
	if f.opened != f.closed {
		t.Errorf("%d notebooks were opened, %d closed", f.opened, f.closed)
	}
	if result != nil {
		result = answer.Tune(result)
	}
	return result, string(text), err
}

const (
	wmem   = "net.ipv4.tcp_wmem = 4096 65536 67108864\n"
	rmem   = "net.ipv4.tcp_rmem = 4096 131072 67108864\n"
	scale  = "net.ipv4.tcp_window_scaling = 0\n"
	sack   = "net.ipv4.tcp_sack = 0\n"
	notNet = "vm.swappiness = 10\n"
)

// helping has one setting of the list do it, and another one harm.
func helping() *fakeHosts {
	return &fakeHosts{trials: 1, goodput: func(set map[string]string) float64 {
		bps := 20e6
		if set["net.ipv4.tcp_wmem"] != "" {
			bps *= 2
		}
		if set["net.ipv4.tcp_window_scaling"] != "" {
			bps /= 4
		}
		return bps
	}}
}

// TestKeep: what is proven to help is tried by itself, and that alone is written; what a
// host refuses, has already, or is not about the network, is not tried.
func TestKeep(t *testing.T) {
	f := helping()
	f.prior = map[string]string{"net.ipv4.tcp_rmem": "4096 131072 67108864"}
	f.refuse = map[string]string{"net.ipv4.tcp_sack": "read-only file system"}
	o := f.options(t, wmem+rmem+scale+sack+notNet)
	result, kept, err := f.tune(t.Context(), t, o)
	if err != nil {
		t.Fatal(err)
	}
	verdicts := map[string]string{}
	for _, s := range result.Settings {
		verdicts[s.Key] = s.Verdict
		if s.Keep != (s.Key == "net.ipv4.tcp_wmem") || s.Verdict == record.NotTried && s.Why == "" {
			t.Errorf("%+v", s)
		}
	}
	for key, want := range map[string]string{
		"net.ipv4.tcp_wmem": record.Helps, "net.ipv4.tcp_window_scaling": record.Harms,
		"net.ipv4.tcp_rmem": record.NotTried, "net.ipv4.tcp_sack": record.NotTried, "vm.swappiness": record.NotTried,
	} {
		if verdicts[key] != want {
			t.Errorf("%s: %q, want %q", key, verdicts[key], want)
		}
	}
	for _, s := range f.tried {
		if s.Sysctl[0].Key == "vm.swappiness" || s.Host != "client" && s.Host != "server" {
			t.Errorf("tried %+v", s)
		}
	}
	if len(f.tried) != 2*4 {
		t.Errorf("%d settings were tried on hosts, want 4 on each of two", len(f.tried))
	}
	if lines := settingfile.Read("kept", []byte(kept), "").Lines; len(lines) != 1 ||
		lines[0].Setting() != strings.TrimSpace(wmem) || result.Kept != o.Keep {
		t.Errorf("kept %q: %s", result.Kept, kept)
	}
	if len(f.plans) != 2 || result.Proof == nil || result.Proof.Run != "run-2" ||
		!slices.Equal(f.shown, []string{"run-1", "run-2"}) {
		t.Fatalf("%d runs, proof %+v, shown %v", len(f.plans), result.Proof, f.shown)
	}
	if p := result.Proof; !slices.Equal(p.Settings, []string{"net.ipv4.tcp_wmem"}) ||
		p.Effect.Verdict != record.Improves || p.AgainstList.Verdict != record.Improves {
		t.Errorf("the proof is %+v", p)
	}
	if want := []string{"run-1: net.ipv4.tcp_wmem by run-2, of 5",
		"run-2: net.ipv4.tcp_wmem by run-2, of 5"}; !slices.Equal(f.proven, want) {
		t.Errorf("noted: %q, want %q", f.proven, want)
	}
	var figures []string
	for _, f := range result.Figures {
		figures = append(figures, f.Run+": "+f.Name)
	}
	if want := []string{"run-1: as it is", "run-1: the list", "run-2: as it is", "run-2: the list",
		"run-2: kept"}; !slices.Equal(figures, want) || len(result.Figures[4].Responses) != 3 {
		t.Errorf("figures of %q", figures)
	}
}

// TestKeepNothing: nothing is written unless it is proven to help, by itself, at no cost
// that was not accepted.
func TestKeepNothing(t *testing.T) {
	later := func(set map[string]string) float64 {
		if set["net.ipv4.tcp_wmem"] != "" {
			return 5400
		}
		return 5000
	}
	for name, c := range map[string]struct {
		change func(*fakeHosts, *Options)
		kept   bool
		says   string
		offer  string
	}{
		"nothing helps": {func(f *fakeHosts, _ *Options) {
			f.goodput = func(map[string]string) float64 {
				return 20e6
			}
		}, false,
			"No file written: no setting of the list clearly improves anything.", ""},
		"it costs latency": {func(f *fakeHosts, _ *Options) { f.latency = later }, false,
			"No file written: net.ipv4.tcp_wmem improves goodput ", "--accept-latency"},
		"too much latency": {func(f *fakeHosts, o *Options) {
			f.latency, o.Accept = later, tuning.Accepted{"latency": 0.05}
		}, false,
			"No file written: net.ipv4.tcp_wmem improves goodput", "--accept-latency"},
		"the latency is accepted": {func(f *fakeHosts, o *Options) {
			f.latency, o.Accept = later, tuning.Accepted{"latency": 0.2}
		}, true,
			"net.ipv4.tcp_wmem improves goodput: by itself", ""},
		"yes, keep it": {func(f *fakeHosts, o *Options) {
			f.latency, o.Ask = later, func(o *record.TuneOffer) (bool, error) { return len(o.Costs) > 0, nil }
		}, true, "net.ipv4.tcp_wmem improves goodput: by itself", ""},
		"no, do not": {func(f *fakeHosts, o *Options) {
			f.latency, o.Ask = later, func(*record.TuneOffer) (bool, error) { return false, nil }
		}, false, "No file written", "--accept-latency"},
	} {
		f := helping()
		o := f.options(t, wmem+scale)
		c.change(f, &o)
		result, kept, err := f.tune(t.Context(), t, o)
		if (len(f.proven) > 0) != c.kept {
			t.Errorf("%s: noted %q", name, f.proven)
		}
		if err != nil || kept != "" != c.kept || result.Kept != "" != c.kept ||
			!strings.Contains(result.Answer, c.says) {
			t.Errorf("%s: %v, kept %q: %s", name, err, kept, result.Answer)
			continue
		}
		if got := result.Offer; (got != nil) != (c.offer != "") || got != nil &&
			!strings.HasPrefix(strings.Join(got.Accept, " "), c.offer) {
			t.Errorf("%s: offered %+v", name, got)
		}
	}
}

// TestKeepFree: where a part of the list helps at no cost, that is kept, and the rest is
// offered as a trade.
func TestKeepFree(t *testing.T) {
	f := helping()
	f.goodput = func(set map[string]string) float64 { return 20e6 * math.Pow(1.5, float64(len(set))) }
	f.latency = func(set map[string]string) float64 {
		if set["net.ipv4.tcp_rmem"] != "" {
			return 9000
		}
		return 5000
	}
	o := f.options(t, wmem+rmem)
	result, kept, err := f.tune(t.Context(), t, o)
	if err != nil || !strings.Contains(kept, "tcp_wmem = ") || strings.Contains(kept, "tcp_rmem = ") ||
		result.Offer == nil {
		t.Fatalf("%v, kept %s: %s", err, kept, result.Answer)
	}
	if !strings.Contains(result.Answer, "Not kept: net.ipv4.tcp_wmem and net.ipv4.tcp_rmem improve goodput ") {
		t.Error(result.Answer)
	}
}

// TestNothingToTry: without a setting that hosts take there is no run, and no notebook.
func TestNothingToTry(t *testing.T) {
	f := helping()
	f.refuse = map[string]string{"net.ipv4.tcp_wmem": "permission denied"}
	result, kept, err := f.tune(t.Context(), t, f.options(t, wmem+notNet))
	if err != nil || kept != "" || len(f.plans)+f.opened != 0 || result.Run != "" || len(result.Settings) != 2 {
		t.Errorf("%v, %d runs, %d notebooks, %+v", err, len(f.plans), f.opened, result)
	}
	if why := result.Settings[0].Why; !strings.Contains(why, "permission denied") {
		t.Errorf("not tried because of %q", why)
	}
}

// TestTryFails: where hosts fail while settings are tried, nothing is run or kept.
func TestTryFails(t *testing.T) {
	f := helping()
	f.tryErr = errors.New("client: reverting a setting that was only tried: connection lost")
	if _, kept, err := f.tune(t.Context(), t, f.options(t, wmem+scale)); !errors.Is(err, f.tryErr) || kept != "" ||
		len(f.plans)+f.opened != 0 {
		t.Errorf("%v, %d runs, kept %q", err, len(f.plans), kept)
	}
}

// TestRunFails: a run that fails or is interrupted keeps nothing; the error names it
// where it has trials, which are then shown.
func TestRunFails(t *testing.T) {
	broken := errors.New("client: setting net.ipv4.tcp_wmem: no space left on device")
	for name, c := range map[string]struct {
		trials, failing int  // the run that fails, from 1
		interrupted     bool // and why
		shown           []string
	}{
		"at once":               {0, 1, false, nil},
		"after trials":          {4, 1, false, []string{"run-1"}},
		"interrupted":           {4, 1, true, []string{"run-1"}},
		"the proof fails":       {4, 2, false, []string{"run-1", "run-2"}},
		"the proof interrupted": {4, 2, true, []string{"run-1", "run-2"}},
	} {
		t.Run(name, func(t *testing.T) {
			f := helping()
			f.trials = c.trials
			ctx, cancel := context.WithCancel(t.Context())
			defer cancel()
			f.during = func() {
				if len(f.plans) != c.failing {
					return
				}
				if f.runErr = broken; c.interrupted {
					cancel()
				}
			}
			_, kept, err := f.tune(ctx, t, f.options(t, wmem+scale))
			if kept != "" || len(f.plans) != c.failing || !slices.Equal(f.shown, c.shown) || f.opened != 1 {
				t.Errorf("%d runs, shown %v, %d notebooks, kept %q", len(f.plans), f.shown, f.opened, kept)
			}
			made, is := errors.AsType[*RunError](err)
			if is != (c.trials > 0) || !c.interrupted && !errors.Is(err, broken) || c.interrupted &&
				!errors.Is(err, context.Canceled) {
				t.Fatalf("%T %v", err, err)
			}
			if is && (made.Run != fmt.Sprint("run-", c.failing) || made.First != "run-1" || made.Trials == 0 ||
				made.Interrupted != c.interrupted) {
				t.Errorf("%+v", made)
			}
		})
	}
}

// TestKeepFileExists: a file that is there is left as it is, and what was proven is in the
// error.
func TestKeepFileExists(t *testing.T) {
	f := helping()
	o := f.options(t, wmem+scale)
	if err := os.WriteFile(o.Keep, []byte("mine"), 0o644); err != nil {
		t.Fatal(err)
	}
	if _, kept, err := f.tune(t.Context(), t, o); !errors.Is(err, os.ErrExist) || kept != "mine" ||
		!strings.Contains(err.Error(), strings.TrimSpace(wmem)) {
		t.Errorf("%v, kept %q", err, kept)
	}
}

// TestConclude: a run of tune can be concluded again, and kept from if it is complete.
func TestConclude(t *testing.T) {
	f := helping()
	o := f.options(t, wmem+scale)
	keep := o.Keep
	o.Keep = ""
	var made *record.Run
	o.Finished = func(r *record.Run) { made = r }
	if _, _, err := f.tune(t.Context(), t, o); err != nil {
		t.Fatal(err)
	}
	o.Keep = keep
	for _, status := range []string{notebook.Interrupted, notebook.Running} {
		unfinished := *made
		unfinished.Status = status
		if _, _, err := Conclude(t.Context(), &unfinished, o); err == nil ||
			!strings.Contains(err.Error(), "--resume") {
			t.Errorf("%s: %v", status, err)
		} else if _, is := errors.AsType[*InputError](err); !is || len(f.plans) != 1 {
			t.Errorf("%s: %T, %d runs", status, err, len(f.plans))
		}
	}
	tuner, result, err := Conclude(t.Context(), made, o)
	if err != nil || result.Kept != keep || len(f.plans) != 2 || len(tuner.Runs()) != 2 ||
		!slices.Equal(result.Hosts, []string{"client", "server"}) {
		t.Fatalf("%v, %d runs, %+v", err, len(f.plans), result)
	}
	if text, err := os.ReadFile(keep); err != nil || !strings.Contains(string(text), strings.TrimSpace(wmem)) ||
		strings.Contains(string(text), "window_scaling") {
		t.Errorf("%v: %s", err, text)
	}
}
