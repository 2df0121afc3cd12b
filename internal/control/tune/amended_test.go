package tune

import (
	"path/filepath"
	"reflect"
	"slices"
	"strings"
	"testing"

	"linerate/internal/model/setting"
	"linerate/internal/science/tuning"
	"linerate/internal/show/answer"
)

// TestOnlyTheList: what is tried is what the list says. Corrections and a congestion control that the list
// does not name are neither tried nor kept, whatever the machine's default is.
func TestOnlyTheList(t *testing.T) {
	f := &fakeHosts{trials: 1, goodput: func(set map[string]string) float64 {
		bps := 20e6
		if set["net.ipv4.tcp_wmem"] == "4096 65536 67108864" {
			bps *= 2
		}
		if set["net.ipv4.tcp_congestion_control"] != "" {
			bps *= 1.5
		}
		return bps
	}}
	o := f.options(t, "net.ipv4.tcp_wmem = 4096 65536 67108864\nnet.ipv4.tcp_rmem = 4096 131072 64M\n"+scale)
	o.Responses, o.Controls = []string{"goodput"}, []string{"reno", "bbr", "cubic"}
	o.Base = Path(1e8, 0, 0.01) // where others than cubic gain
	result, kept, err := f.tune(t.Context(), t, o)
	if err != nil {
		t.Fatal(err)
	}
	if !strings.Contains(kept, "net.ipv4.tcp_wmem = 4096 65536 67108864") || strings.Contains(kept, "tcp_rmem = ") ||
		strings.Contains(kept, "congestion") {
		t.Errorf("kept:\n%s", kept)
	}
	for _, run := range f.made {
		if strings.Contains(run.StudyFile, "congestion_control") || strings.Contains(run.StudyFile, "amended") {
			t.Errorf("more is tried than the list says:\n%s", run.StudyFile)
		}
	}
	for _, s := range result.Settings {
		if s.File == "" || s.IsAdded() || s.Corrected != "" {
			t.Errorf("not of the list: %+v", s)
		}
	}
	if head, _, _ := strings.Cut(kept, "\n"); head != "# Kept by linerate tune of list.conf: 1 of the list's 3 "+
		"settings; 2 of the list's could be tried." {
		t.Error(head)
	}
}

// TestConcludeAgain: a run whose settings were kept has the same answer and figures later, with
// the smaller set that costs more than is accepted; what is kept for latency does not do it.
func TestConcludeAgain(t *testing.T) {
	f := &fakeHosts{trials: 1, goodput: func(set map[string]string) float64 {
		if set["net.ipv4.tcp_wmem"] != "" && set["net.ipv4.tcp_rmem"] != "" {
			return 60e6
		}
		return 20e6
	}}
	f.latency = func(set map[string]string) float64 {
		// which the first run does not show
		if len(f.plans) > 1 && set["net.ipv4.tcp_rmem"] != "" && set["net.ipv4.tcp_sack"] == "" {
			return 6000
		}
		return 5000
	}
	o := f.options(t, wmem+rmem+sack)
	o.Accept = tuning.Accepted{"latency": 0.1}
	result, _, err := f.tune(t.Context(), t, o)
	if err != nil {
		t.Fatal(err)
	}
	for _, want := range []string{
		"net.ipv4.tcp_wmem and net.ipv4.tcp_rmem do it together: alone neither makes a difference.",
		" net.ipv4.tcp_sack is kept for latency p50 (without it ",
		"net.ipv4.tcp_wmem and net.ipv4.tcp_rmem alone give as much, ",
	} {
		if !strings.Contains(result.Answer, want) {
			t.Errorf("%s\nwant %s", result.Answer, want)
		}
	}
	o.Keep = ""
	_, again, err := Conclude(t.Context(), f.made[0], o)
	if err != nil {
		t.Fatal(err)
	}
	again = answer.Tune(again)
	if again.Answer != result.Answer || !reflect.DeepEqual(again.Figures, result.Figures) ||
		!reflect.DeepEqual(again.Fewer, result.Fewer) {
		t.Errorf("later %s\nat first %s", again.Answer, result.Answer)
	}
	for i, s := range again.Settings {
		if was := result.Settings[i]; s.Verdict != was.Verdict || s.Why != was.Why || s.Keep != was.Keep {
			t.Errorf("later %+v\nat first %+v", s, was)
		}
	}
}

// TestKeepForSender: the congestion control, which acts on the sender, is a comment in a file for
// other hosts.
func TestKeepForSender(t *testing.T) {
	for _, name := range []string{"90.conf", "tuned.conf", "tasks.yml"} {
		for host, elsewhere := range map[string]bool{"server": true, "client": false, "": false} {
			f := &fakeHosts{trials: 1, goodput: func(set map[string]string) float64 {
				return 20e6 * (1 + times(set["net.ipv4.tcp_rmem"] != "",
					2)*times(set[setting.CongestionControl] == "bbr", 1.5))
			}}
			o := f.options(t, rmem+"net.ipv4.tcp_congestion_control = bbr\n")
			o.Responses, o.Controls, o.Keep = []string{"goodput"},
				[]string{"bbr", "cubic"}, filepath.Join(t.TempDir(), name)
			if host != "" {
				o.Hosts = []string{host}
			}
			_, kept, err := f.tune(t.Context(), t, o)
			if err != nil {
				t.Fatal(err)
			}
			set := slices.ContainsFunc(strings.Split(kept, "\n"), func(line string) bool {
				return !strings.HasPrefix(line, "#") && strings.Contains(line, setting.CongestionControl)
			})
			comment := "# not for server, where it has no effect: it acts on client, where flows are sent: " +
				"net.ipv4.tcp_congestion_control = bbr\n"
			if set == elsewhere || strings.Contains(kept, comment) != elsewhere ||
				strings.Contains(kept, "; acts on client, where flows are sent") != (host == "") {
				t.Errorf("%s for %q:\n%s", name, host, kept)
			}
		}
	}
}
