package tune

import (
	"cmp"
	"fmt"
	"maps"
	"os"
	"slices"
	"strconv"
	"strings"
	"testing"

	"linerate/internal/model/record"
	"linerate/internal/model/setting"
	"linerate/internal/model/settingfile"
	"linerate/internal/science/tuning"
)

// ofNothing are settings that the simulated paths do not notice, unless a case says so.
var ofNothing = []string{
	"tcp_fin_timeout = 15", "tcp_tw_reuse = 0", "tcp_syn_retries = 3", "tcp_keepalive_time = 600",
	"tcp_orphan_retries = 3", "tcp_mtu_probing = 2",
	"tcp_timestamps = 0", "tcp_slow_start_after_idle = 0", "tcp_early_retrans = 0", "tcp_reordering = 10",
	"tcp_ecn = 0", "tcp_recovery = 2",
	"tcp_retries2 = 8", "tcp_keepalive_probes = 5", "tcp_dsack = 0", "tcp_frto = 0", "tcp_autocorking = 0",
	"tcp_app_win = 20",
}

// ofSome are those of which some path has an effect.
var ofSome = []string{"tcp_rmem", "tcp_wmem", "tcp_sack", "tcp_notsent_lowat", "tcp_limit_output_bytes",
	"tcp_window_scaling", "tcp_congestion_control", setting.CPUGovernor}

// listed writes a list of n settings: some, and others of no effect.
func listed(n int, some ...string) string {
	var b strings.Builder
	others := slices.DeleteFunc(slices.Clone(ofNothing), func(o string) bool {
		return slices.ContainsFunc(some, func(s string) bool { return key(s) == key(o) })
	})
	for i := range n {
		// What matters stands between what does not.
		switch {
		case len(some) > 0 && (i%2 == 1 || len(some) == n-i || len(others) == 0):
			fmt.Fprintf(&b, "net.ipv4.%s\n", some[0])
			some = some[1:]
		default:
			fmt.Fprintf(&b, "net.ipv4.%s\n", others[0])
			others = others[1:]
		}
	}
	return b.String()
}

// key is a line's, without net.ipv4.
func key(line string) string {
	k, _, _ := strings.Cut(line, " = ")
	return strings.TrimPrefix(k, "net.ipv4.")
}

const (
	rmem16 = "tcp_rmem = 4096 131072 16777216"
	wmem16 = "tcp_wmem = 4096 65536 16777216"
)

// listCase is a list on a path of known truth: what the settings that are set give, by
// their keys without net.ipv4.
type listCase struct {
	list    string
	name    string // of the file
	lossy   bool
	goodput func(is func(keys ...string) bool) float64 // relative to as it is
	latency func(is func(keys ...string) bool) float64
	accept  float64
	refuse  map[string]string
	harms   []string // has to be named
}

func times(yes bool, f float64) float64 {
	if yes {
		return f
	}
	return 1
}

// on is true if all of the keys are set.
type on = func(keys ...string) bool

var lists = map[string]listCase{
	"both buffers": {list: listed(2, rmem16, wmem16), goodput: func(is on) float64 {
		return times(is("tcp_rmem", "tcp_wmem"), 2.49) * times(is("tcp_wmem") &&
			!is("tcp_rmem"), 1.06) * times(is("tcp_rmem") && !is("tcp_wmem"), 0.9)
	}},
	"15, two pairs and one harms": {list: listed(15, rmem16, wmem16, "tcp_sack = 0", "tcp_notsent_lowat = 131072",
		"tcp_limit_output_bytes = 4194304"), harms: []string{"tcp_sack"},
		goodput: func(is on) float64 {
			return times(is("tcp_rmem", "tcp_wmem"), 1.6) * times(is("tcp_notsent_lowat", "tcp_limit_output_bytes"),
				1.5) * times(is("tcp_sack"), 0.6)
		}},
	"three only together": {list: listed(9, rmem16, wmem16, "tcp_limit_output_bytes = 4194304"),
		goodput: func(is on) float64 {
			return times(is("tcp_rmem", "tcp_wmem", "tcp_limit_output_bytes"), 1.8)
		}},
	"one only without another, which harms": {list: listed(6, wmem16, "tcp_window_scaling = 0"),
		harms: []string{"tcp_window_scaling"}, goodput: func(is on) float64 {
			return times(is("tcp_wmem") && !is("tcp_window_scaling"), 1.7) * times(is("tcp_window_scaling"), 0.85)
		}},
	"one only without another, which does nothing else": {list: listed(6, wmem16, "tcp_window_scaling = 0"),
		harms: []string{"tcp_window_scaling"}, goodput: func(is on) float64 {
			return times(is("tcp_wmem") && !is("tcp_window_scaling"), 1.7)
		}},
	"a pair only without a third": {list: listed(8, rmem16, wmem16, "tcp_window_scaling = 0"),
		harms: []string{"tcp_window_scaling"}, goodput: func(is on) float64 {
			return times(is("tcp_wmem", "tcp_rmem") && !is("tcp_window_scaling"), 1.7)
		}},
	"two hide what a pair gains": {list: listed(8, rmem16, wmem16, "tcp_window_scaling = 0", "tcp_sack = 0"),
		harms: []string{"tcp_window_scaling", "tcp_sack"}, goodput: func(is on) float64 {
			return times(is("tcp_wmem", "tcp_rmem") && !is("tcp_window_scaling") &&
				!is("tcp_sack"), 1.7) * times(is("tcp_window_scaling"), 0.9) * times(is("tcp_sack"), 0.92)
		}},
	"either of two": {list: listed(7, wmem16, "tcp_limit_output_bytes = 4194304"), goodput: func(is on) float64 {
		return times(is("tcp_wmem") || is("tcp_limit_output_bytes"), 1.5)
	}},
	"only these two": {list: listed(2, wmem16, "tcp_limit_output_bytes = 4194304"), goodput: func(is on) float64 {
		return times(is("tcp_wmem") || is("tcp_limit_output_bytes"), 1.5)
	}},
	"nothing has effect": {list: listed(10), goodput: func(on) float64 { return 1 }},
	"the whole harms": {list: listed(8, wmem16, "tcp_window_scaling = 0", "tcp_sack = 0"),
		harms: []string{"tcp_window_scaling", "tcp_sack"}, goodput: func(is on) float64 {
			return times(is("tcp_wmem"), 1.3) * times(is("tcp_window_scaling"), 0.3) * times(is("tcp_sack"), 0.8)
		}},
	"everything harms": {list: listed(4, "tcp_window_scaling = 0", "tcp_sack = 0"),
		harms: []string{"tcp_window_scaling", "tcp_sack"}, goodput: func(is on) float64 {
			return times(is("tcp_window_scaling"), 0.3) * times(is("tcp_sack"), 0.8)
		}},
	"one line, helps": {list: listed(1, wmem16), goodput: func(is on) float64 {
		return times(is("tcp_wmem"), 1.4)
	}},
	"one line, does nothing": {list: listed(1), goodput: func(on) float64 { return 1 }},
	"one line, harms": {list: listed(1, "tcp_sack = 0"), harms: []string{"tcp_sack"},
		goodput: func(is on) float64 { return times(is("tcp_sack"), 0.7) }},
	"a key twice": {list: "net.ipv4.tcp_wmem = 4096 16384 262144\n" + listed(4, wmem16),
		goodput: func(is on) float64 { return times(is("tcp_wmem"), 1.5) }},
	"congestion control, lossy": {list: listed(6, rmem16, wmem16, "tcp_congestion_control = bbr"), lossy: true,
		goodput: func(is on) float64 {
			return times(is("tcp_congestion_control"), 6) * times(is("tcp_congestion_control", "tcp_rmem", "tcp_wmem"),
				1.5)
		}},
	"a trade": {list: listed(5, rmem16, wmem16), goodput: func(is on) float64 {
		return times(is("tcp_wmem", "tcp_rmem"), 1.8)
	},
		latency: func(is on) float64 { return times(is("tcp_wmem", "tcp_rmem"), 2) }},
	"a trade that is accepted": {list: listed(5, rmem16, wmem16), accept: 1.5, goodput: func(is on) float64 {
		return times(is("tcp_wmem", "tcp_rmem"), 1.8)
	},
		latency: func(is on) float64 { return times(is("tcp_wmem", "tcp_rmem"), 2) }},
	"a trade beside a gain": {list: listed(6, wmem16, "tcp_limit_output_bytes = 4194304"),
		goodput: func(is on) float64 {
			return times(is("tcp_wmem"), 1.4) * times(is("tcp_limit_output_bytes"), 1.3)
		}, latency: func(is on) float64 { return times(is("tcp_limit_output_bytes"), 1.6) }},
	"a queue that bbr keeps short": {list: listed(4, rmem16, wmem16, "tcp_congestion_control = bbr"), accept: 0.1,
		goodput: func(is on) float64 {
			return times(is("tcp_wmem", "tcp_rmem"), 3.8)
		}, latency: func(is on) float64 {
			return times(is("tcp_wmem", "tcp_rmem"), 1.06) * times(is("tcp_wmem", "tcp_rmem") &&
				!is("tcp_congestion_control"), 1.035)
		}},
	"latency alone": {list: listed(6, "tcp_notsent_lowat = 131072"), goodput: func(is on) float64 {
		return 1
	}, latency: func(is on) float64 { return times(is("tcp_notsent_lowat"), 0.5) }},
	"goodput, and latency by notsent_lowat": {list: listed(6, wmem16, "tcp_notsent_lowat = 131072"),
		goodput: func(is on) float64 { return times(is("tcp_wmem"), 1.5) },
		latency: func(is on) float64 { return times(is("tcp_notsent_lowat"), 0.5) }},
	"patterns of interfaces": {
		list: "net.ipv4.conf.*.rp_filter = 2\nnet.ipv4.conf.eth0.rp_filter = 2\nnet.ipv4.conf.eth7.rp_filter = " +
			"2\nnet/ipv4/conf/all/rp_filter = 2\n" + listed(2, wmem16),
		goodput: func(is on) float64 { return times(is("tcp_wmem"), 1.5) }},
	"a tuned profile": {name: "tuned.conf",
		list: "[main]\nsummary=fast\n\n[cpu]\ngovernor=performance\n\n[sysctl]\nnet.ipv4.tcp_wmem=4096 65536 " +
			"16777216\nnet.ipv4.tcp_rmem=4096 131072 " +
			"16777216\nnet.ipv4.tcp_notsent_lowat=>16384\nnet.ipv4.tcp_fin_timeout=15\n",
		goodput: func(is on) float64 { return times(is("tcp_wmem", "tcp_rmem"), 1.5) }},
	"a governor": {name: "tuned.conf",
		list:    "[cpu]\ngovernor=performance\n\n[sysctl]\nnet.ipv4.tcp_fin_timeout=15\nnet.ipv4.tcp_sack=0\n",
		harms:   []string{"tcp_sack"},
		goodput: func(is on) float64 { return times(is(setting.CPUGovernor), 1.5) * times(is("tcp_sack"), 0.7) }},
	"of the machine alone": {
		list: "net.core.rmem_max = 16777216\nnet.core.wmem_max = 16777216\nnet.core.netdev_max_backlog = " +
			"5000\nnet.ipv4.tcp_mem = 1 2 3\n",
		refuse: map[string]string{
			"net.core.rmem_max": "it is machine-wide", "net.core.wmem_max": "it is machine-wide",
			"net.core.netdev_max_backlog": "it is machine-wide", "net.ipv4.tcp_mem": "it is machine-wide"},
		goodput: func(on) float64 { return 1 }},
	"a small gain": {list: listed(6, wmem16), goodput: func(is on) float64 { return times(is("tcp_wmem"), 1.08) }},
	"many small gains": {list: listed(8, rmem16, wmem16, "tcp_sack = 0", "tcp_limit_output_bytes = 4194304"),
		goodput: func(is on) float64 {
			return times(is("tcp_rmem"), 1.08) * times(is("tcp_wmem"), 1.08) * times(is("tcp_sack"), 1.08) * times(
				is("tcp_limit_output_bytes"), 1.08)
		}},
	"a large and a small gain": {list: listed(6, rmem16, wmem16), goodput: func(is on) float64 {
		return times(is("tcp_rmem"), 2) * times(is("tcp_wmem"), 1.15)
	}},
	"three, of which two reach the limit": {list: listed(8, rmem16, wmem16, "tcp_limit_output_bytes = 4194304"),
		goodput: func(is on) float64 {
			return min(3, times(is("tcp_rmem"), 1.9)*times(is("tcp_wmem"), 1.9)*times(
				is("tcp_limit_output_bytes"), 1.9))
		}},
	"two that exclude each other": {list: listed(6, wmem16, "tcp_notsent_lowat = 16384"), goodput: func(is on) float64 {
		return times(is("tcp_wmem") != is("tcp_notsent_lowat"), 1.6)
	}},
}

func (c listCase) true(keys map[string]bool) (goodput, latency float64) {
	is := func(all ...string) bool {
		return !slices.ContainsFunc(all, func(k string) bool { return !keys[k] })
	}
	latency = 1
	if c.latency != nil {
		latency = c.latency(is)
	}
	return c.goodput(is), latency
}

// best is what the best set of the settings that were tried gives, of those whose latency is
// accepted.
func (c listCase) best(keys []string) (goodput, latency float64) {
	goodput, latency = 1, 1
	// What has no effect on any path is in no subset.
	var matter []string
	for _, k := range keys {
		if slices.Contains(ofSome, k) {
			matter = append(matter, k)
		}
	}
	for subset := range 1 << len(matter) {
		set := map[string]bool{}
		for i, k := range matter {
			set[k] = subset>>i&1 == 1
		}
		g, l := c.true(set)
		if l <= 1+c.accept && (g > goodput || g == goodput && l < latency) {
			goodput, latency = g, l
		}
	}
	return goodput, latency
}

// check tunes once and counts what is false.
func (c listCase) check(t *testing.T, seed uint64, n noise, l *mistakes) {
	set := func(full map[string]string) map[string]bool {
		keys := map[string]bool{}
		for k := range full {
			keys[strings.TrimPrefix(k, "net.ipv4.")] = true
		}
		return keys
	}
	f := &fakeHosts{trials: 1, seed: seed, scatter: n.scatter, dips: n.dips, refuse: c.refuse,
		goodput: func(full map[string]string) float64 { g, _ := c.true(set(full)); return 25e6 * g },
		latency: func(full map[string]string) float64 { _, l := c.true(set(full)); return 5000 * l },
	}
	o := f.options(t, c.list)
	file := settingfile.Read(cmp.Or(c.name, "list.conf"), []byte(c.list), "")
	o.Files = []settingfile.File{file}
	o.Lint = tuning.Files(o.Files, nil)
	o.Controls = []string{"reno", "bbr", "cubic"}
	o.Accept = tuning.Accepted{"latency": c.accept}
	if c.lossy {
		o.Base = Path(1e8, 0, 0.01)
	}
	result, kept, err := f.tune(t.Context(), t, o)
	if err != nil {
		t.Fatal(err)
	}
	l.tunes++
	var keys []string
	for _, s := range result.Settings {
		if s.Verdict != record.NotTried {
			keys = append(keys, strings.TrimPrefix(s.Key, "net.ipv4."))
		}
	}
	for _, p := range f.plans {
		l.trials += len(p.Treatments) * p.Blocks()
	}
	got := map[string]bool{}
	for _, line := range settingfile.Read("kept", []byte(kept), "").Lines {
		got[strings.TrimPrefix(line.Key, "net.ipv4.")] = true
	}
	if strings.Contains(kept, "scaling_governor") { // a command for the boot
		got[setting.CPUGovernor] = true
	}
	best, soonest := c.best(keys)
	goodput, latency := c.true(got)
	example := func() string {
		return fmt.Sprintf("kept %v gives %.3g and %.3g of %.3g and %.3g: %s", slices.Sorted(maps.Keys(got)), goodput,
			latency, best, soonest, result.Answer)
	}
	gain := max(best-1, 1-soonest)
	short := max(best-goodput, 0) / max(best-1, 0.03)
	if best == 1 {
		short = max(latency-soonest, 0) / max(1-soonest, 0.03)
	}
	if kept == "" {
		if gain > 0.1 {
			l.note(&l.nothing, "nothing", example())
		}
	} else {
		if short > 0.05 {
			l.note(&l.lost, "lost", example())
		}
		if short > 0.1 {
			l.note(&l.lostMuch, "lost much", example())
		}
		if goodput <= 1 && latency >= 1 || latency > 1+1.2*c.accept+0.01 {
			l.note(&l.something, "something", example())
		}
	}
	for k := range got {
		fewer := maps.Clone(got)
		delete(fewer, k)
		g, lat := c.true(fewer)
		if g > 1.01*goodput {
			l.note(&l.harmful, "harmful", example())
		} else if goodput-g < 0.01*max(best-1, 0.03) && lat <= 1.01*latency {
			l.note(&l.spare, "spare", example())
		}
	}
	if strings.Contains(result.Answer, " does it") || strings.Contains(result.Answer, " do it") {
		p := result.Proof
		is := map[string]bool{}
		if p != nil {
			for _, k := range p.Settings {
				is[strings.TrimPrefix(k, "net.ipv4.")] = true
			}
		}
		truth, _ := c.true(is)
		if p == nil || p.Effect.Verdict != record.Improves || p.Gain != nil && *p.Gain < 0.95 ||
			(best-truth)/(best-1) > 0.15 && c.latency == nil {
			l.note(&l.doesIt, "does it", example())
		}
	}
	for _, s := range result.Settings {
		k := strings.TrimPrefix(s.Key, "net.ipv4.")
		named := s.Verdict == record.Harms || s.Verdict == record.Mixed
		if s.Keep && named {
			l.note(&l.doesIt, "kept", fmt.Sprintf("%s %s %s: %s", k, s.Verdict, s.Why, result.Answer))
		}
		if slices.Contains(c.harms, k) && !named {
			l.note(&l.unnamed, "unnamed", fmt.Sprintf("%s %s %s: %s", k, s.Verdict, s.Why, result.Answer))
		}
		if slices.ContainsFunc(ofNothing, func(o string) bool { return key(o) == k }) &&
			(named || s.Verdict == record.Helps || s.Verdict == record.Trades) {
			l.note(&l.accused, "accused", fmt.Sprintf("%s %s %s: %s", k, s.Verdict, s.Why, result.Answer))
		}
	}
}

// TestLists tunes lists of known truth with noise, and counts what is said falsely: once each,
// or with LINERATE_SEEDS=20 so often at each level of noise.
func TestLists(t *testing.T) {
	seeds, noises := uint64(1), []noise{{0.02, 0}}
	if n, err := strconv.ParseUint(os.Getenv("LINERATE_SEEDS"), 10, 64); err == nil {
		seeds, noises = n, []noise{{0.01, 0}, {0.03, 0}, {0.02, 0.02}}
	}
	for _, n := range noises {
		var sum mistakes
		for _, name := range slices.Sorted(maps.Keys(lists)) {
			var l mistakes
			for seed := range seeds {
				lists[name].check(t, seed+1, n, &l)
			}
			t.Logf("%-50s %s", name, &l)
			for what, example := range l.examples {
				t.Logf("    %s: %s", what, example)
			}
			sum.add(&l)
		}
		t.Logf("scatter %.0f %%, dips %.0f %%: %s", 100*n.scatter, 100*n.dips, &sum)
		most := sum.tunes / 50
		if sum.lostMuch > most || sum.harmful > most || sum.doesIt > most || sum.something > most ||
			sum.nothing > sum.tunes/10 {
			t.Errorf("scatter %.0f %%, dips %.0f %%: %s", 100*n.scatter, 100*n.dips, &sum)
		}
	}
}

// TestKeptIsAccepted: where the list costs no more than is accepted, a set that costs more is
// not taken for enough, so that something is kept.
func TestKeptIsAccepted(t *testing.T) {
	var l mistakes
	for seed := range uint64(16) {
		lists["a queue that bbr keeps short"].check(t, seed+1, noise{scatter: 0.01}, &l)
	}
	if l.nothing > 3 { // of the loss that is accepted the list's leaves little room
		t.Errorf("%s\n%s", &l, l.examples["nothing"])
	}
}

// noise is the standard deviation of trials, relative, and the share of them that something
// else slows down.
type noise struct{ scatter, dips float64 }

// mistakes counts what is false in answers about lists.
type mistakes struct {
	tunes, trials    int
	lost, lostMuch   int // of the best set's gain what is kept lacks more than 5 %, 10 %
	harmful, spare   int // settings that are kept
	doesIt           int // said against the proof, or the truth
	nothing          int // nothing is kept, and there is much to gain
	something        int // what is kept gains nothing
	unnamed, accused int // settings that harm and are not named; others that are said to do something
	examples         map[string]string
}

func (l *mistakes) note(what *int, name, example string) {
	*what++
	if l.examples == nil {
		l.examples = map[string]string{}
	}
	l.examples[name] = example
}

func (l *mistakes) add(o *mistakes) {
	l.tunes, l.trials, l.lost, l.lostMuch = l.tunes+o.tunes, l.trials+o.trials, l.lost+o.lost, l.lostMuch+o.lostMuch
	l.harmful, l.spare, l.doesIt, l.nothing = l.harmful+o.harmful, l.spare+o.spare, l.doesIt+o.doesIt,
		l.nothing+o.nothing
	l.something, l.unnamed, l.accused = l.something+o.something, l.unnamed+o.unnamed, l.accused+o.accused
}

func (l *mistakes) String() string {
	return fmt.Sprintf(
		"%d tunes, %d trials each: lost %d (much %d), harmful %d, spare %d, does it %d, nothing %d, something %d, "+
			"unnamed %d, accused %d",
		l.tunes, l.trials/max(l.tunes, 1), l.lost, l.lostMuch, l.harmful, l.spare, l.doesIt, l.nothing, l.something,
		l.unnamed, l.accused)
}
