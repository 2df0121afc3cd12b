package tuning

import (
	"fmt"
	"slices"
	"strings"
	"testing"

	"linerate/internal/model/opsystem"
	"linerate/internal/model/record"
	"linerate/internal/model/settingfile"
)

// today is a kernel like those that lists are pasted on now, with 8 GiB.
func today() *Kernel {
	return &Kernel{Release: "6.18.0", MemoryBytes: 8 << 30, PageBytes: 4096, Congestion: []string{"reno", "cubic"},
		Parameters: map[string]Known{
			"net.ipv4.tcp_rmem":               {true, "4096 131072 33554432", record.ScopeNamespace, ""},
			"net.ipv4.tcp_wmem":               {true, "4096 16384 4194304", record.ScopeNamespace, ""},
			"net.ipv4.tcp_mem":                {true, "95967 127956 191934", record.ScopeMachine, ""},
			"net.core.rmem_max":               {true, "4194304", record.ScopeMachine, ""},
			"net.core.somaxconn":              {true, "4096", record.ScopeNamespace, ""},
			"net.ipv4.tcp_window_scaling":     {true, "1", record.ScopeNamespace, ""},
			"net.ipv4.tcp_syncookies":         {true, "1", record.ScopeNamespace, ""},
			"net.ipv4.tcp_congestion_control": {true, "cubic", record.ScopeNamespace, ""},
			"net.core.default_qdisc":          {true, "pfifo_fast", record.ScopeMachine, ""},
			"net.ipv4.tcp_rmen":               {false, "", "", "net.ipv4.tcp_rmem"},
			"net.ipv4.tcp_tw_recycle":         {},
			"net.ipv4.conf.eth7.rp_filter":    {},
		}}
}

// remarkOf is the code of a finding's remark with its arguments.
func remarkOf(f record.LintFinding) string {
	return strings.Join(append([]string{f.Remark.Code}, f.Remark.Args...), " ")
}

// correction is what was meant: "key = value"; empty: it is not known.
func correction(f record.LintFinding) string {
	if f.Corrects == nil {
		return ""
	}
	return f.Corrects.Key + " = " + f.Corrects.Value
}

// what lists findings: "3 refused error".
func what(found *record.Lint) []string {
	list := []string{}
	for _, f := range found.Findings {
		list = append(list, fmt.Sprintf("%d %s %s", f.Line, f.ID, f.Severity))
	}
	return list
}

func TestFindings(t *testing.T) {
	for _, test := range []struct {
		text   string
		kernel *Kernel
		want   []string
	}{
		{"net.ipv4.tcp_rmem = 4096 131072 67108864", nil, nil},
		{"net.ipv4.tcp_rmem = 4096 131072 67108864", today(), nil},
		{"net.ipv4.tcp_rmem = 4096 131072 16777216", today(), []string{"1 lowers warning"}},
		{"net.ipv4.tcp_rmem = 4096 131072 64M", nil, []string{"1 refused error"}},
		{"net.ipv4.tcp_rmem = 4096,131072,67108864", nil, []string{"1 refused error"}},
		{"net.ipv4.tcp_rmem = 4096 131072 4294967296", nil, []string{"1 refused error"}},
		{"net.ipv4.tcp_rmem = 4096 131072", nil, []string{"1 missing note"}},
		{"net.ipv4.tcp_rmem = 4096 131072 0x4000000 # 64 MiB", nil, []string{"1 syntax warning"}},
		{"net.ipv4.tcp_rmem = 4096 131072 67108864#64 MiB", nil, []string{"1 syntax warning"}},
		{"net.ipv4.tcp_mem = 95967 127956 255912#pages", nil, []string{"1 syntax warning"}},
		{"net.ipv4.tcp_window_scaling = 0 # off", today(), []string{"1 syntax warning", "1 harmful warning"}},
		{"net.ipv4.tcp_window_scaling = 1 // on", today(), []string{"1 syntax warning", "1 as-it-is note"}},
		{"net.ipv4.tcp_rmem = 4096;131072;67108864", nil, []string{"1 refused error"}},
		{"net.ipv4.tcp_congestion_control = cubic   # the fast one", today(),
			[]string{"1 syntax error", "1 as-it-is note"}},
		{"net.ipv4.tcp_keepalive_time = 2 hours", nil, []string{"1 ignored error", "1 no-effect note"}},
		{"net.ipv4.tcp_fin_timeout = 30 s", nil, []string{"1 ignored error", "1 no-effect note"}},
		{"net.ipv4.tcp_fin_timeout = 30 40", nil, []string{"1 ignored warning", "1 no-effect note"}},
		{"net.ipv4.tcp_rmem = 4096 131072 67108864 bytes", nil, []string{"1 ignored error"}},
		{"net.ipv4.tcp_fin_timeout = 30s", nil, []string{"1 refused error", "1 no-effect note"}},
		{"net.ipv4.tcp_ecn = 3", nil, []string{"1 refused warning"}},
		{"net.ipv4.tcp_ecn = 6", nil, []string{"1 refused error"}},
		{"net.ipv4.tcp_reordering = 0", nil, []string{"1 refused warning"}},
		{"net.ipv4.tcp_max_reordering = -1", nil, []string{"1 refused warning"}},
		{"net.ipv4.tcp_reordering = 301", nil, []string{"1 refused warning"}},
		{"net.ipv4.tcp_reordering = 301\nnet.ipv4.tcp_max_reordering = 400", nil, nil},
		{"net.core.default_qdisc = fq_codell", nil, []string{"1 refused warning", "1 no-effect note"}},
		{"net.core.default_qdisc = fq_codell", today(), []string{"1 refused warning", "1 no-effect note"}},
		{"net.core.default_qdisc = FQ", today(), []string{"1 refused error", "1 no-effect note"}},
		{"net.core.default_qdisc = cake", nil, []string{"1 no-effect note"}},
		{"net.core.default_qdisc = fq", &Kernel{Qdiscs: map[string]bool{"fq": true}}, []string{"1 no-effect note"}},
		{"net.core.default_qdisc = fq", &Kernel{Qdiscs: map[string]bool{"fq": false}},
			[]string{"1 refused error", "1 no-effect note"}},
		{"net.ipv4.tcp_available_congestion_control = bbr", nil, []string{"1 refused error"}},
		{"fs.file-nr = 1", today(), []string{"1 refused error"}},
		{"net.ipv4.tcp_rmem = 16777216", nil, []string{"1 missing note"}},
		{"net.ipv4.tcp_rmem = 4096", today(), []string{"1 missing note"}},
		{"net.ipv4.tcp_rmem = 16777216", today(), []string{"1 order warning", "1 lowers warning"}},
		{"net.ipv4.tcp_rmem = 4096 67108864", today(), []string{"1 order warning"}},
		{"net.core.default_qdisc = own",
			&Kernel{Parameters: map[string]Known{"net.core.default_qdisc": {Exists: true, Value: "own"}}},
			[]string{"1 as-it-is note", "1 no-effect note"}},
		{"net.core.default_qdisc = fq ; pacing", today(), []string{"1 syntax error", "1 no-effect note"}},
		{"net.ipv4.tcp_sack = 1 # on\nnet.ipv4.tcp_sack = 1 # again", nil, []string{"1 twice note", "1 syntax warning",
			"2 syntax warning"}},
		{"net.ipv4.tcp_wmem = 67108864 65536 4096", nil, []string{"1 order warning"}},
		{"net.ipv4.tcp_wmem = 67108864 67108864 67108864", nil, []string{"1 autotuning-off warning"}},
		{"net.ipv4.tcp_window_scaling = 0", nil, []string{"1 harmful warning"}},
		{"net.ipv4.tcp_window_scaling = 2000", nil, []string{"1 refused error"}},
		{"net.ipv4.tcp_window_scaling = 1", today(), []string{"1 as-it-is note"}},
		{"net.ipv4.tcp_mem = 16777216 16777216 16777216", today(), []string{"1 unit warning"}},
		{"net.ipv4.tcp_mem = 16777216 16777216 16777216", nil, []string{"1 unit warning"}},
		{"net.ipv4.tcp_mem = 95967 127956 255912", nil, nil},
		{"net.ipv4.tcp_mem = 1000 2000 3000", today(), []string{"1 lowers warning"}},
		{"net.ipv4.tcp_mem = 9223372036854775807 9223372036854775807 9223372036854775807", nil,
			[]string{"1 unit warning"}},
		{"net.core.rmem_max = 16777216", today(), []string{"1 no-effect warning"}},
		{"net.core.rmem_default = 524287", nil, []string{"1 no-effect warning"}},
		{"net.core.somaxconn = 8192", today(), []string{"1 no-effect note"}},
		{"net.ipv4.tcp_tw_recycle = 1", nil, []string{"1 removed error"}},
		{"net.ipv4.tcp_tw_recycle = 1", today(), []string{"1 removed error"}},
		{"net.ipv4.tcp_low_latency = 1", nil, []string{"1 removed warning"}},
		{"net.ipv4.ip_conntrack_max = 100000", nil, []string{"1 renamed error"}},
		{"net.ipv4.tcp_rmen = 1 2 3", nil, []string{"1 unknown warning"}},
		{"net.ipv4.tcp_rmen = 1 2 3", today(), []string{"1 unknown error"}},
		{"net.ipv4.tcp_something_new = 1", nil, nil},
		{"net.ipv4.conf.eth7.rp_filter = 0", nil, nil},
		{"net.ipv4.conf.eth7.rp_filter = 0", today(), []string{"1 unknown warning"}},
		{"net.ipv4.tcp_congestion_control = bbr", today(), []string{"1 refused warning"}},
		{"net.ipv4.tcp_congestion_control = cubic", today(), []string{"1 as-it-is note"}},
		{"kernel.shmmax = 1\nkernel.shmall = 1\nfs.aio-max-nr = 1\nfs.file-max = 1", nil,
			[]string{"1 not-network note", "2 not-network note", "3 not-network note"}},
		{"net.ipv4.tcp_sack = 1\nnet.ipv4.tcp_sack = 1", nil, []string{"1 twice note"}},
		{"net/ipv4/tcp_sack = 0\nnet.ipv4.tcp_sack = 1", nil, []string{"1 twice warning"}},
		{"net.ipv4.tcp_sack = 1\nnonsense", nil, []string{"2 syntax error"}},
		{"sysctl -w net.ipv4.tcp_sack=1", nil, []string{"1 syntax error"}},
		{"net.ipv4.tcp_sack = 1 net.ipv4.tcp_dsack = 1", nil, []string{"1 syntax error"}},
		{"net.ipv4/tcp_sack = 1", today(), []string{"1 syntax error"}},
		{"net/ipv4.tcp_sack = 1", nil, []string{"1 syntax error"}},
		{"net.ipv4.conf.eth0/100.rp_filter = 0", nil, nil},
		{"net.ipv4.conf.eth0.rp_filter = on", nil, []string{"1 refused error"}},
		{"kernel.sysrq = on\nkernel.hostname = on",
			&Kernel{Parameters: map[string]Known{"kernel.sysrq": {Exists: true, Value: "1"},
				"kernel.hostname": {Exists: true, Value: "nas"}}}, []string{"1 refused error", "1 not-network note",
				"2 not-network note"}},
	} {
		found := Files([]settingfile.File{settingfile.Read("x.conf", []byte(test.text), opsystem.Linux)},
			test.kernel)
		if got := what(found); !slices.Equal(got, test.want) && len(got)+len(test.want) > 0 {
			t.Errorf("%s (kernel asked: %t): %q, want %q", test.text, test.kernel != nil, got, test.want)
		}
		if n := found.Errors + found.Warnings + found.Notes; n != len(found.Findings) {
			t.Errorf("%s: %d findings, %d counted", test.text, len(found.Findings), n)
		}
	}
}

// TestTicks: seconds that the kernel counts in ticks are bounded by how many of them there are a second;
// if that is not known, what some kernel takes is not refused.
func TestTicks(t *testing.T) {
	for line, want := range map[string]map[int64]string{
		"net.ipv4.tcp_fin_timeout = -1":          {0: "", 250: "", 1000: ""},
		"net.ipv4.tcp_fin_timeout = 3000000":     {0: "", 250: "", 1000: "range -2147483 2147483 3000000"},
		"net.ipv4.tcp_keepalive_intvl = 8589934": {0: "", 250: "", 1000: "range -2147483 2147483 8589934"},
		"net.ipv4.tcp_keepalive_time = 8589935":  {0: "", 250: "range -8589934 8589934 8589935", 100: ""},
		"net.ipv4.tcp_keepalive_time = 90000000": {
			0:   "range-ticks -89478485 89478485 90000000 24",
			100: "range -21474836 21474836 90000000"},
		"net.ipv4.tcp_probe_interval = 70000000000": {
			0: "range-ticks 0 178956970 70000000000 24", 250: "range 0 17179869 70000000000"},
		"net.ipv4.icmp_ratelimit = 2147483648": {0: "range 0 2147483647 2147483648", 250: "range 0 2147483647 " +
			"2147483648"},
		"net.ipv4.neigh.eth0.gc_stale_time = 8589935": {0: "", 250: "range -8589934 8589934 8589935"},
		"net.ipv4.conf.eth0/1.tag = 2147483648":       {0: "range -2147483648 2147483647 2147483648"},
		"net.ipv4.tcp_comp_sack_nr = 256":             {0: "range 0 255 256"},
	} {
		for hz, want := range want {
			found := Files([]settingfile.File{settingfile.Read("x", []byte(line), opsystem.Linux)}, &Kernel{HZ: hz})
			got := ""
			if len(found.Findings) > 0 {
				got = remarkOf(found.Findings[0])
			}
			if got != want && (want != "" || len(found.Findings) > 0 && found.Findings[0].ID == "refused") {
				t.Errorf("%s with HZ=%d: %q, want %q", line, hz, got, want)
			}
		}
	}
}

// Across files the later one wins, and the finding names both places.
func TestTwiceAcrossFiles(t *testing.T) {
	files := []settingfile.File{
		settingfile.Read("10-a.conf", []byte("net.ipv4.tcp_sack = 0\n"), ""),
		settingfile.Read("99-b.conf", []byte("# later\nnet.ipv4.tcp_sack = 1\n"), ""),
	}
	found := Files(files, nil)
	if len(found.Findings) != 1 || found.Findings[0].File != "10-a.conf" || found.Findings[0].Other != "99-b.conf:2" {
		t.Errorf("%+v", found.Findings)
	}
	if len(found.Settings) != 1 || found.Settings[0].Value != "1" {
		t.Errorf("%+v", found.Settings)
	}
	// What the losing line would do is not said: it does nothing.
	files[0], files[1] = files[1], files[0]
	if found = Files(files, nil); !slices.Equal(what(found), []string{"2 twice warning", "1 harmful warning"}) {
		t.Errorf("%q", what(found))
	}
}

// TestLowers names which of the three values are less, and the line that lowers none.
func TestLowers(t *testing.T) {
	for value, want := range map[string][2]string{
		"4096 87380 67108864": {"lowers  default 87380 131072", "4096 131072 67108864"},
		"4096 87380 16777216": {"lowers  default 87380 131072 max 16777216 33554432", ""},
	} {
		found := Files([]settingfile.File{settingfile.Read("x", []byte("net.ipv4.tcp_rmem = "+value), "")}, today())
		if len(found.Findings) != 1 || found.Findings[0].ID != "lowers" ||
			remarkOf(found.Findings[0]) != want[0] || found.Findings[0].Fix != want[1] {
			t.Errorf("%s: %+v, want %q", value, found.Findings, want)
		}
	}
}

// TestDisordered: sizes in the wrong order are put in order, and what was corrected is what the
// kernel's own sizes are compared with.
func TestDisordered(t *testing.T) {
	for value, want := range map[string]string{
		"16777216 87380 4096":  "lowers 4096 87380 16777216 default 87380 131072 max 16777216 33554432",
		"67108864 131072 4096": "",
		"4096,87380,16M":       "lowers 4096 87380 16777216 default 87380 131072 max 16777216 33554432"} {
		found := Files([]settingfile.File{settingfile.Read("x", []byte("net.ipv4.tcp_rmem = "+value), "")}, today())
		got := ""
		for _, f := range found.Findings {
			if f.ID != "order" && f.ID != "refused" {
				got += remarkOf(f)
			}
		}
		if len(found.Findings) == 0 || !strings.HasPrefix(got, want) || got != "" && want == "" {
			t.Errorf("%s: %+v, want %q", value, found.Findings, want)
		}
	}
}

// TestMeant: suffixes are those of what a parameter counts, and no part of a number is
// taken for another one.
func TestMeant(t *testing.T) {
	for line, want := range map[string]string{
		"net.core.netdev_max_backlog = 250,000":        "250000",
		"net.ipv4.tcp_keepalive_time = 10m":            "600",
		"net.ipv4.tcp_fin_timeout = 5s":                "5",
		"net.core.busy_poll = 50us":                    "50",
		"net.ipv4.ip_local_port_range = 1024-65535":    "1024 65535",
		"net.ipv4.ip_local_port_range = 65535 1024":    "1024 65535",
		"net.ipv4.tcp_ecn = 1;":                        "1",
		"net.core.optmem_max = 1MB":                    "1048576",
		"net.ipv4.tcp_keepalive_probes = 5x":           "",
		"net.ipv4.tcp_notsent_lowat = 1 2k":            "",
		"net.ipv4.tcp_congestion_control = CUBIC":      "cubic",
		"net.ipv4.tcp_sack = on":                       "1",
		"net.ipv4.tcp_autocorking = No":                "0",
		"net.ipv4.conf.eth0.rp_filter = true":          "1",
		"net.core.somaxconn = on":                      "",
		"net.ipv4.tcp_rmem = 4096,131072;64M # so big": "4096 131072 67108864",
	} {
		found := Files([]settingfile.File{settingfile.Read("x", []byte(line), opsystem.Linux)},
			&Kernel{Congestion: []string{"cubic"}})
		got := ""
		for _, f := range found.Findings {
			if f.ID == "refused" {
				got = f.Fix
			}
		}
		if got != want {
			t.Errorf("%s: %q, want %q", line, got, want)
		}
	}
}

// TestPasted: a finding on what was pasted has the line as it should read, and a new name of
// a parameter is reported.
func TestPasted(t *testing.T) {
	for line, want := range map[string][2]string{
		"sudo sysctl -w net.ipv4.tcp_sack=1": {"expected KEY = VALUE, not a command", "net.ipv4.tcp_sack = 1"},
		"sudo ethtool -C eth0 rx-usecs=3": {
			"ethtool is a command, not a kernel parameter: leave it out of this file", ""},
		"ip link set eth0 txqueuelen 9999": {"ip is a command, not a kernel parameter: leave it out of this file",
			""},
		"net.ipv4/tcp_sack = 1":      {"separator net/ipv4.tcp_sack", "net.ipv4.tcp_sack = 1"},
		"net.ipv4.tcp_sack\u00a0= 1": {"a non-breaking space", "net.ipv4.tcp_sack = 1"},
		"net.ipv4.tcp_sack = on":     {"numbers 1 on", "net.ipv4.tcp_sack = 1"},
		"net.ipv4.ip_conntrack_max = 5": {"gone   net.netfilter.nf_conntrack_max",
			"net.netfilter.nf_conntrack_max = 5"},
	} {
		found := Files([]settingfile.File{settingfile.Read("x.conf", []byte(line), "")}, nil)
		if len(found.Findings) != 1 || !strings.Contains(remarkOf(found.Findings[0]), want[0]) ||
			correction(found.Findings[0]) != want[1] {
			t.Errorf("%s: %+v, want %q", line, found.Findings, want)
		}
	}
	found := Files([]settingfile.File{
		settingfile.Read("x", []byte("net.ipv4.tcp_sack = 1 net.ipv4.tcp_dsack = 1"), "")}, nil)
	if len(found.Findings) != 1 || found.Findings[0].Fix != "net.ipv4.tcp_sack = 1\nnet.ipv4.tcp_dsack = 1" {
		t.Errorf("%+v", found.Findings)
	}
}

// TestSizeNames: of a parameter of three sizes whose one size has a name that no kernel has, the
// one that is meant is replaced among the kernel's; one value alone would set the minimum.
func TestSizeNames(t *testing.T) {
	unknown := func(key string) *Kernel {
		k := today()
		k.Parameters[key] = Known{Near: "net.ipv4.tcp_rmem"}
		return k
	}
	for line, want := range map[string][2]string{
		"net.ipv4.tcp_rmem_max = 67108864": {"one-of 6.18.0 max net.ipv4.tcp_rmem",
			"net.ipv4.tcp_rmem = 4096 131072 67108864"},
		"net.ipv4.tcp_rmem_default = 262144": {"one-of 6.18.0 default net.ipv4.tcp_rmem",
			"net.ipv4.tcp_rmem = 4096 262144 33554432"},
		"net.ipv4.tcp_rmem_min = 8192": {"one-of 6.18.0 min net.ipv4.tcp_rmem",
			"net.ipv4.tcp_rmem = 8192 131072 33554432"},
		"net.ipv4.tcp_rmemm = 67108864": {"no-parameter 6.18.0 net.ipv4.tcp_rmemm net.ipv4.tcp_rmem", ""},
		"net.ipv4.tcp_rmemm = 4096 131072 67108864": {"no-parameter 6.18.0 net.ipv4.tcp_rmemm net.ipv4.tcp_rmem",
			"net.ipv4.tcp_rmem = 4096 131072 67108864"},
	} {
		file := settingfile.Read("x", []byte(line), opsystem.Linux)
		found := Files([]settingfile.File{file}, unknown(file.Lines[0].Key)).Findings
		if len(found) != 1 || found[0].ID != "unknown" || remarkOf(found[0]) != want[0] ||
			correction(found[0]) != want[1] {
			t.Errorf("%s: %+v, want %q", line, found, want)
		}
	}
}

// TestWithoutEffect: a setting that is refused, or that the kernel does not have, says so
// where the settings are listed.
func TestWithoutEffect(t *testing.T) {
	text := "net.core.rmem_max = 16M\nnet.ipv4.tcp_tw_recycle = 1\nnet.ipv4.tcp_rmen = 1 2 " +
		"3\nnet.ipv4.conf.eth7.rp_filter = 0\nnet.ipv4.tcp_congestion_control = bbr # fast\nnet.core.somaxconn = " +
		"8192 # many\n"
	got := []string{}
	for _, s := range Files([]settingfile.File{settingfile.Read("x", []byte(text), "")}, today()).Settings {
		got = append(got, s.Without)
	}
	if want := []string{"refused", "removed", "unknown", "unknown", "syntax", ""}; !slices.Equal(got, want) {
		t.Errorf("%q, want %q", got, want)
	}
}

// TestRefusedLines: a line that is refused does not hold, and does not take the place of one before.
func TestRefusedLines(t *testing.T) {
	for text, want := range map[string]string{
		"net.ipv4.tcp_wmem = 4096 65536 16777216\nnet.ipv4.tcp_wmem = 4096 65536 4M\n": "1 4096 65536 16777216",
		"net.ipv4.tcp_wmem = 4096 65536 4M\nnet.ipv4.tcp_wmem = 4096 65536 16777216\n": "2 4096 65536 16777216",
		"net.ipv4.tcp_wmem = 4096 65536 1M\nnet.ipv4.tcp_wmem = 4096 65536 4M\n":       "2 4096 65536 4M",
		"net.ipv4.tcp_sack = 0\nsysctl -w net.ipv4.tcp_sack=1\n":                       "1 0",
		"net.ipv4.tcp_sack = 0\nnet.ipv4.tcp_sack = yes\nnet.ipv4.tcp_sack = 1\n":      "3 1",
	} {
		found := Files([]settingfile.File{settingfile.Read("x", []byte(text), opsystem.Linux)}, today())
		if len(found.Settings) != 1 {
			t.Fatalf("%q: %+v", text, found.Settings)
		}
		if s := found.Settings[0]; fmt.Sprint(s.Line, " ", s.Value) != want {
			t.Errorf("%q: line %d holds, %q; want %q", text, s.Line, s.Value, want)
		}
		for _, f := range found.Findings {
			if f.ID == "twice" && strings.HasPrefix(want, fmt.Sprint(f.Line, " ")) {
				t.Errorf("%q: the line that holds is said to be overridden: %+v", text, f)
			}
		}
	}
}

// TestRefusedAndOverridden: a refused line is not worth its correction where a later one sets the
// parameter again; where an earlier one does, that holds until it is corrected.
func TestRefusedAndOverridden(t *testing.T) {
	const wrong, right = "net.ipv4.tcp_wmem = 4096 65536 4M\n", "net.ipv4.tcp_wmem = 4096 65536 16777216\n"
	for text, want := range map[string]bool{wrong + right: true, right + wrong: false} {
		found := Files([]settingfile.File{settingfile.Read("x", []byte(text), opsystem.Linux)}, today())
		if got := slices.ContainsFunc(found.Findings, func(f record.LintFinding) bool {
			return f.ID == "twice"
		}); got != want {
			t.Errorf("%q: overridden %t: %+v", text, got, found.Findings)
		}
	}
}

// TestPages: bytes where pages are counted are corrected, unless as many pages would be
// less than the kernel has.
func TestPages(t *testing.T) {
	for value, want := range map[string]string{
		"16777216 16777216 16777216":       "",
		"1073741824 1073741824 2147483648": "net.ipv4.tcp_mem = 262144 262144 524288",
	} {
		found := Files([]settingfile.File{settingfile.Read("x", []byte("net.ipv4.tcp_mem = "+value), "")}, today())
		if len(found.Findings) != 1 || correction(found.Findings[0]) != want ||
			found.Findings[0].Advice.Args[0] != strings.TrimPrefix(want, "net.ipv4.tcp_mem = ") {
			t.Errorf("%s: %+v, want %q", value, found.Findings, want)
		}
	}
}

// A fix is what the kernel would take.
func TestFixOfSuffixes(t *testing.T) {
	found := Files([]settingfile.File{settingfile.Read("x", []byte("net.ipv4.tcp_rmem = 4k 128K,64M"), "")}, nil)
	if len(found.Findings) != 1 || found.Findings[0].Fix != "4096 131072 67108864" {
		t.Errorf("%+v", found.Findings)
	}
	fixed := Files([]settingfile.File{settingfile.Read("x", []byte("net.ipv4.tcp_rmem = "+found.Findings[0].Fix), "")},
		nil)
	if len(fixed.Findings) != 0 {
		t.Errorf("the fix: %+v", fixed.Findings)
	}
}

// Scopes come from the kernel where it was asked, otherwise from what is known.
func TestScopes(t *testing.T) {
	files := []settingfile.File{
		settingfile.Read("x", []byte(
			"net.ipv4.tcp_rmem=1 2 3\nnet.core.rmem_max=5000\nkernel.shmmax=1\nnet.ipv4.new=1\n"), "")}
	scopes := func(k *Kernel) (list []string) {
		for _, s := range Files(files, k).Settings {
			list = append(list, s.Scope)
		}
		return list
	}
	if got, want := scopes(nil), []string{"namespace", "machine", "machine", ""}; !slices.Equal(got, want) {
		t.Errorf("without a kernel %q, want %q", got, want)
	}
	k := today()
	k.Parameters["net.ipv4.tcp_rmem"] = Known{Exists: true, Scope: record.ScopeMachine} // before Linux 4.15
	k.Parameters["net.ipv4.new"] = Known{Exists: true, Scope: record.ScopeNamespace}
	if got, want := scopes(k), []string{"machine", "machine", "machine", "namespace"}; !slices.Equal(got, want) {
		t.Errorf("by that kernel %q, want %q", got, want)
	}
}

func TestBSD(t *testing.T) {
	for _, test := range []struct {
		name, text, system string
		want               []string
	}{
		{"sysctl.conf", "kern.ipc.nmbclusters=262144\nkern.ipc.maxsockbuf=4194304\nkern.ipc.shm_use_phys=1",
			opsystem.FreeBSD, []string{"2 no-effect warning", "3 not-network note"}},
		{"sysctl.conf", "kern.ipc.nmbclusters=536870912", opsystem.FreeBSD, []string{"1 unit warning"}},
		{"loader.conf", "hw.ixgbe.txd=\"4096\"\nif_ixgbe_load=\"YES\"", opsystem.FreeBSD,
			[]string{"1 renamed error", "2 apart note"}},
		{"sysctl.conf", "net.inet.ip.mtudisc=0\nnet.inet.udp.recvspace=231072", opsystem.OpenBSD,
			[]string{"1 harmful warning", "2 no-effect note"}},
		// What a list of 2009 has for today's releases; what is right says nothing, and no advice is Linux's.
		{"sysctl.conf", "net.inet.tcp.inflight.enable=0\nnet.inet.tcp.inflight_enable=0\nnet.inet.tcp.fastopen.enabled=1\n" +
			"hw.igb.rxd=4096\nhw.em.txd=4096\nhw.ix.enable_aim=1\nhw.ix.flow_control=0\nnet.isr.maxthreads=4\n" +
			"net.inet.tcp.newreno=1\nnet.inet.tcp.slowstart_flightsize=9\nnet.inet.tcp.cc.algorithm=htcp\n" +
			"net.inet.tcp.delayed_ack=0\nnet.inet.tcp.sendbuf_max=16777216\nkern.ipc.somaxconn=100000",
			opsystem.FreeBSD, []string{"1 removed error", "2 removed error", "3 renamed error", "4 removed error",
				"5 renamed error", "7 boot-time error", "8 boot-time error", "9 removed error", "10 removed error",
				"11 module note", "14 renamed warning"}},
		{"loader.conf", "hw.igb.rxd=4096\nhw.ix.flow_control=0\nnet.isr.maxthreads=4\nhw.ix.num_queues=4",
			opsystem.FreeBSD, []string{"1 removed error", "4 renamed error"}},
		{"sysctl.conf", "net.inet.ip.mtudisc=1\nddb.panic=0", opsystem.OpenBSD, []string{"2 not-network note"}},
	} {
		file := settingfile.Read(test.name, []byte(test.text), "")
		if file.System != test.system {
			t.Errorf("%q is for %s", test.text, file.System)
		}
		if got := what(Files([]settingfile.File{file}, nil)); !slices.Equal(got, test.want) {
			t.Errorf("%q: %q, want %q", test.text, got, test.want)
		}
	}
}

// The catalogue says each thing once, and what is gone is not in it.
func TestCatalogue(t *testing.T) {
	seen := map[string]bool{}
	for _, p := range catalogue() {
		if seen[p.key] || p.values > 0 && p.min >= p.max || p.scope == "" || strings.HasSuffix(p.tcp, ".") {
			t.Errorf("%+v", p)
		}
		seen[p.key] = true
	}
	for _, g := range removed() {
		if seen[g.key] {
			t.Errorf("%s is gone and there", g.key)
		}
		seen[g.key] = true
	}
	for _, r := range remarks() {
		if opsystem.Name(r.system) == "" || r.says == "" && r.id != "boot-time" ||
			!slices.Contains([]string{record.LintError, record.LintWarning, record.LintNote}, r.severity) {
			t.Errorf("%+v", r)
		}
	}
	if len(catalogue()) < 60 || len(removed()) < 20 || len(remarks()) < 10 {
		t.Errorf("%d parameters, %d removed, %d remarks", len(catalogue()), len(removed()), len(remarks()))
	}
}
