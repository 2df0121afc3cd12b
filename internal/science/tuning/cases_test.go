package tuning

import (
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"linerate/internal/model/record"
	"linerate/internal/model/settingfile"
	"linerate/internal/science/tuning/known"
)

// currentKernel is one of today that has every parameter of files that it is not known to lack, with
// values of the machine on which the cases were tried.
func currentKernel(files []settingfile.File) *Kernel {
	k := today()
	k.Parameters["net.core.netdev_max_backlog"] = Known{Exists: true, Value: "1000", Scope: record.ScopeMachine}
	k.Parameters["net.ipv4.tcp_moderate_rcvbuf"] = Known{Exists: true, Value: "1"}
	k.Parameters["net.ipv4.tcp_sack"] = Known{Exists: true, Value: "1"}
	for _, f := range files {
		for _, l := range f.Lines {
			_, asked := k.Parameters[l.Key]
			_, _, _, gone := known.Removed(l.Key)
			if !asked {
				k.Parameters[l.Key] = Known{Exists: !gone && moduleOf(l.Key) != "sunrpc"}
			}
		}
	}
	return k
}

// TestCases: what users have reported is judged as the expected.txt of each case says. A line is
// "LINE ID SEVERITY KEY"; * stands for any text at its end. Beside what is expected there may be more,
// but not what a line with "!" says.
func TestCases(t *testing.T) {
	checkCases(t, map[string]judged{
		// Every command is refused, and nothing takes effect; the default of tcp_rmem lowers.
		"30-tune-100g-spaces/tune-100g.sh": {7, 0, 7, []string{"4 syntax error net.core.rmem_max", "5 syntax error *",
			"6 syntax error net.ipv4.tcp_rmem", "7 syntax error *", "8 syntax error *", "9 syntax error *", "12 syntax error *",
			"6 lowers warning net.ipv4.tcp_rmem", "4 no-effect warning net.core.rmem_max"}},
		// Both budgets are settings; tcp_mem is in bytes, buffers have no room to grow, the redirection is
		// without root, and tc has no "edit".
		"31-tune-hpc-script/network_optimize.sh": {13, 0, 1, []string{"6 script warning *",
			"13 autotuning-off warning net.ipv4.tcp_rmem", "14 autotuning-off warning net.ipv4.tcp_wmem",
			"15 unit warning net.ipv4.tcp_mem", "17 removed warning net.ipv4.tcp_low_latency", "21 syntax error *",
			"! 6 syntax *", "! 6 refused *"}},
		// sunrpc is a module, and no error.
		"32-tune-sap-anf/91-NetApp-HANA.conf": {14, 0, 1, []string{"3 lowers warning net.ipv4.tcp_rmem",
			"1 no-effect warning net.core.rmem_max", "2 no-effect warning net.core.wmem_max",
			"8 as-it-is note net.ipv4.tcp_moderate_rcvbuf", "9 as-it-is note net.ipv4.tcp_window_scaling",
			"10 as-it-is note net.ipv4.tcp_sack", "11 means note net.ipv6.conf.all.disable_ipv6",
			"12 slip note net.ipv4.tcp_max_syn_backlog", "14 unknown warning sunrpc.tcp_slot_table_entries", "! 14 unknown error *"}},
		"34-tune-talos-yaml/machine.yaml": {17, 0, 0, []string{"16 lowers warning net.ipv4.tcp_rmem",
			"14 no-effect warning net.core.rmem_max", "! 15 unit *", "! 1 *"}},
		"34-tune-talos-yaml/gke-node.yaml": {4, 0, 0, []string{"7 lowers warning net.ipv4.tcp_rmem",
			"6 no-effect warning net.core.rmem_max"}},
		"34-tune-talos-yaml/pod.yaml": {2, 0, 1, []string{"10 removed error net.ipv4.tcp_tw_recycle"}},
		"34-tune-talos-yaml/compose.yaml": {3, 0, 1, []string{"6 harmful warning net.ipv4.tcp_syncookies",
			"7 refused error net.core.rmem_max"}},
		"34-tune-talos-yaml/aks-linuxos.json": {3, 0, 0, []string{"5 older-kernels note net.core.somaxconn", "! 1 syntax *"}},
		"35-tune-old-2010/sysctl.conf": {39, 0, 14, []string{"23 removed error net.ipv4.tcp_tw_recycle",
			"25 removed warning net.ipv4.tcp_fack", "26 removed error net.ipv4.tcp_abc", "27 removed error *", "28 removed error *",
			"29 removed error *", "30 removed error net.ipv4.tcp_bic", "31 removed error net.ipv4.tcp_westwood",
			"32 removed error net.ipv4.tcp_vegas_cong_avoid", "34 removed warning net.ipv4.route.gc_elasticity",
			"35 renamed error *", "36 renamed error *", "38 removed error net.ipv4.inet_peer_gc_mintime",
			"40 refused error fs.file-nr", "41 lowers warning net.core.netdev_max_backlog", "3 twice warning *",
			"17 unit warning net.ipv4.tcp_mem", "18 autotuning-off warning net.ipv4.tcp_rmem",
			"22 autotuning-off warning net.ipv4.tcp_wmem", "20 harmful warning net.ipv4.tcp_syncookies",
			"21 harmful warning net.ipv4.tcp_timestamps", "10 means note net.ipv4.conf.all.rp_filter", "15 syntax error *",
			"13 refused warning net.ipv4.tcp_congestion_control", "7 older-kernels note net.core.somaxconn",
			"! 24 refused *", "! 12 refused *"}},
	})
}

// judged is what a file has: the settings that are in effect in the end, the lines that were not read,
// and findings.
type judged struct {
	settings, unread int
	without          int // settings without effect
	want             []string
}

// checkCases holds files of testdata/cases of package settingfile against what is expected of them.
func checkCases(t *testing.T, cases map[string]judged) {
	t.Helper()
	for name, test := range cases {
		text, err := os.ReadFile(filepath.Join("../../model/settingfile/testdata/cases", name))
		if err != nil {
			t.Fatal(err)
		}
		files := []settingfile.File{settingfile.Read(filepath.Base(name), text, "")}
		settingfile.Expand(files, Matching)
		found := Files(files, currentKernel(files))
		var got []string
		for _, f := range found.Findings {
			got = append(got, fmt.Sprintf("%d %s %s %s", f.Line, f.ID, f.Severity, f.Key))
		}
		for _, want := range test.want {
			pattern, not := strings.CutPrefix(want, "! ")
			if there := slices.ContainsFunc(got, func(line string) bool {
				begin, any := strings.CutSuffix(pattern, "*")
				return line == pattern || any && strings.HasPrefix(line, begin)
			}); there == not {
				t.Errorf("%s: %q, got\n%s", name, want, strings.Join(got, "\n"))
			}
		}
		without := 0
		for _, s := range found.Settings {
			if s.Without != "" {
				without++
			}
		}
		if len(found.Settings) != test.settings || len(found.Unread) != test.unread || without != test.without {
			t.Errorf("%s: %d settings, %d of them without effect, %d lines not read", name, len(found.Settings), without,
				len(found.Unread))
		}
	}
}

// TestMeaningKept: a correction is proposed only where the meaning is kept.
func TestMeaningKept(t *testing.T) {
	for line, want := range map[string]string{
		"net.ipv4.tcp_westwood = 0":         "",
		"net.ipv4.tcp_westwood = 1":         "net.ipv4.tcp_congestion_control = westwood",
		"net.ipv4.tcp_westwood = 2":         "",
		"net.ipv4.tcp_vegas_cong_avoid = 0": "",
		"net.ipv4.tcp_bic = 1":              "",
		"net.ipv4.inet_peer_gc_mintime = 1": "",
	} {
		found := Files([]settingfile.File{settingfile.Read("x.conf", []byte(line), "")}, nil)
		if len(found.Findings) != 1 || correction(found.Findings[0]) != want {
			t.Errorf("%s: %+v, want %q", line, found.Findings, want)
		}
	}
	for _, test := range []struct {
		key, value, near, now string
		want                  bool
	}{
		{"net.ipv4.tcp_syncookie", "1", "net.ipv4.tcp_syncookies", "1", true},
		{"net.ipv4.tcp_keepalive_interval", "10", "net.ipv4.tcp_keepalive_intvl", "75", true},
		{"net.ipv4.tcp_keepalive_intvl2", "10", "net.ipv4.tcp_keepalive_intvl", "75", false},   // a digit
		{"net.ipv4.inet_peer_gc_time", "10", "net.ipv4.inet_peer_minttl", "120", false},        // another word
		{"net.ipv4.tcp_rmen", "cubic", "net.ipv4.tcp_rmem", "1 2 3", false},                    // another kind of value
		{"net.ipv4.tcp_congestion_contro", "5", "net.ipv4.tcp_congestion_control", "x", false}, // the same
		{"net.ipv4.neigh.default.gc_thresh4", "9", "net.ipv4.neigh.default.gc_thresh1", "128", false},
	} {
		k := &Kernel{Release: "6.18.0", Parameters: map[string]Known{test.key: {Near: test.near},
			test.near: {Exists: true, Value: test.now}}}
		found := Files([]settingfile.File{settingfile.Read("x.conf", []byte(test.key+" = "+test.value), "")}, k)
		if len(found.Findings) != 1 || found.Findings[0].ID != "unknown" || (found.Findings[0].Fix != "") != test.want {
			t.Errorf("%s: %+v, want a proposal %t", test.key, found.Findings, test.want)
		}
	}
	l := settingfile.Line{File: "x.conf", Line: 1, Key: "net.ipv4.tcp_mem", Value: "1 2 3"}
	c := &checker{out: &record.Lint{}}
	c.add(l, "unit", record.LintWarning, "", record.LintText)
	if c.correct(l.Key, "1  2 0x3"); c.latest().Corrects != nil {
		t.Errorf("a value is replaced by itself: %+v", c.latest())
	}
}

// TestThresholds: the thresholds of a neighbour table are compared with each other and with those that
// the kernel has, or has by default.
func TestThresholds(t *testing.T) {
	const prefix = "net.ipv4.neigh.default."
	for text, want := range map[string]string{
		"gc_thresh1 = 1024;gc_thresh2 = 2048;gc_thresh3 = 4096": "",
		"gc_thresh1 = 4096;gc_thresh2 = 2048;gc_thresh3 = 8192": "3 order warning",
		"gc_thresh3 = 4096": "",
		"gc_thresh2 = 4096": "1 order warning",
		"gc_thresh1 = 100":  "",
	} {
		file := settingfile.Read("x.conf", []byte(prefix+strings.ReplaceAll(text, ";", "\n"+prefix)), "")
		if got := strings.Join(what(Files([]settingfile.File{file}, nil)), ", "); got != want {
			t.Errorf("%s: %q, want %q", text, got, want)
		}
	}
}
