package tune

import (
	"slices"
	"strings"
	"testing"

	"linerate/internal/model/record"
	"linerate/internal/model/setting"
	"linerate/internal/model/settingfile"
	"linerate/internal/model/study"
	"linerate/internal/model/unit"
	"linerate/internal/science/tuning"
)

// TestNewRefuses: mistakes are reported before anything is tried.
func TestNewRefuses(t *testing.T) {
	for want, change := range map[string]func(*Options){
		"no such host":  func(o *Options) { o.Hosts = []string{"clinet"} },
		"--search":      func(o *Options) { o.Search = "net.ipv4.tcp_rmem.max=64MiB..4MiB" },
		"workload.warp": func(o *Options) { o.Set = []string{"workload.warp=9"} },
		"factors":       func(o *Options) { o.Base = append(o.Base, "factors: {x: {levels: {a: {}, b: {}}}}\n"...) },
	} {
		f := helping()
		o := f.options(t, wmem+rmem)
		change(&o)
		if _, err := New(o); err == nil || !strings.Contains(err.Error(), want) || len(f.tried) > 0 {
			t.Errorf("%v, want %q", err, want)
		}
	}
}

// TestPath: the base is a sound study whose windows are long beside its round trips.
func TestPath(t *testing.T) {
	for _, rtt := range []unit.Duration{0, 26e6, 300e6} {
		s, err := study.Parse("path", append([]byte("study: path\n"), Path(1e10, rtt, 0.001)...))
		if err != nil {
			t.Fatal(err)
		}
		if s.Workload.Duration < 40*rtt || s.Workload.Warmup < 40*rtt || s.Topology.Links[0].Rate != 1e10 ||
			2*s.Topology.Links[0].Delay != rtt {
			t.Errorf("%v: %+v", rtt, s.Workload)
		}
	}
}

// TestGovernor: the governor of a list is tried like a parameter, beside what the CPUs had, and
// named as not tried with the host's reason.
func TestGovernor(t *testing.T) {
	list := "[cpu]\ngovernor=performance\n\n[sysctl]\nnet.ipv4.tcp_fin_timeout=15\n"
	for refused, want := range map[string]string{"": record.Helps,
		"cpu governor: this kernel scales no CPU frequencies": record.NotTried} {
		f := &fakeHosts{trials: 1, refuse: map[string]string{setting.CPUGovernor: refused},
			goodput: func(set map[string]string) float64 {
				return 20e6 * (1 + times(set[setting.CPUGovernor] != "", 2))
			}}
		o := f.options(t, "")
		o.Files = []settingfile.File{settingfile.Read("tuned.conf", []byte(list), "")}
		o.Lint = tuning.Files(o.Files, nil)
		result, _, err := f.tune(t.Context(), t, o)
		if err != nil {
			t.Fatal(err)
		}
		s := result.Settings[slices.IndexFunc(result.Settings, func(s record.TuneSetting) bool {
			return s.Key == setting.CPUGovernor
		})]
		if s.Verdict != want || s.Prior["client"] != "powersave" && refused == "" || !strings.Contains(s.Why, refused) {
			t.Errorf("refused %q: %+v", refused, s)
		}
		if refused != "" {
			continue
		}
		f.made[0].Trials[0].Settings = []record.Applied{{Host: "client", Kind: "cpu", What: "policy0 governor",
			Prior: "powersave", New: "performance"}}
		list, _, err := tuning.List(f.made[0])
		if i := slices.IndexFunc(list, func(s record.TuneSetting) bool {
			return s.Key == setting.CPUGovernor
		}); err != nil || list[i].Value != "performance" || list[i].Prior["client"] != "powersave" {
			t.Errorf("%+v, %v", list, err)
		}
	}
}
