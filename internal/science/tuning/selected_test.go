package tuning

import (
	"slices"
	"testing"

	"linerate/internal/model/opsystem"
	"linerate/internal/model/record"
	"linerate/internal/model/settingfile"
	"linerate/internal/model/topology"
)

// TestSelect: what no host could take, or no flow would notice, is not tried, and it is
// said why.
func TestSelect(t *testing.T) {
	files := []settingfile.File{
		settingfile.Read("a.conf",
			[]byte("net.ipv4.tcp_rmem = 1 2 3\nnet.ipv4.conf.eth7.rp_filter = 0\nnet.ipv4.tcp_congestion_control = "+
				"bbr\nkernel.shmmax = 1\n"), ""),
		settingfile.Read("b.conf", []byte("kern.ipc.maxsockbuf=1\n"), opsystem.FreeBSD),
	}
	top := &topology.Topology{Hosts: []topology.Host{{Name: "a", Interfaces: []topology.Interface{{Name: "eth0"}}}}}
	lines, all := Select(files, Files(files, nil), top, []string{"a"})
	if len(lines) != 2 || lines[0].Key != "net.ipv4.tcp_rmem" || len(all) != 5 {
		t.Fatalf("to try: %+v of %+v", lines, all)
	}
	for i, want := range []string{"", "no-interface a eth7", "", "not-network", "other-system freebsd"} {
		if s := all[i]; (s.Verdict == record.NotTried) != (want != "") || codes(s) != want {
			t.Errorf("%s: %q, %q; want %q", s.Key, s.Verdict, codes(s), want)
		}
	}
}

// TestWorthwhile: a line that a host refuses or that changes nothing is not tried.
func TestWorthwhile(t *testing.T) {
	was := func(prior, value string) []record.Applied {
		return []record.Applied{{Host: "a", Prior: prior, New: value}}
	}
	line := settingfile.Line{Key: "net.x", Value: "5"}
	atLeast := settingfile.Line{Key: "net.x", Value: "5", Bound: ">"}
	for _, test := range []struct {
		line     settingfile.Line
		applied  []record.Applied
		refused  []record.Statement
		searched bool
		why      string // empty: it is tried
	}{
		{line, was("1", "5"), nil, false, ""},
		{line, was("5", "5"), nil, false, record.UntriedAsItIs},
		{line, was("5", "5"), nil, true, ""},
		{line, nil, []record.Statement{{Code: "refused"}, {Code: "twice"}}, false, "refused"},
		{atLeast, was("9", "5"), nil, false, "bound >"},
		{atLeast, was("1", "5"), nil, false, ""},
	} {
		s := record.TuneSetting{Key: "net.x"}
		if tried := Worthwhile(&s, test.line, test.applied, test.refused, test.searched); tried != (test.why == "") ||
			codes(s) != test.why || (s.Verdict == record.NotTried) == tried {
			t.Errorf("%+v: %t, %q", test, tried, codes(s))
		}
	}
}

// TestNoCorrection: what is tried is what a file says. A line that programs or the kernel refuse is
// not tried, with what would be right; what the kernel takes otherwise than meant is tried as it is.
func TestNoCorrection(t *testing.T) {
	text := "net.ipv4.tcp_rmem = 4096 131072 64M\nnet.ipv4.tcp_wmem = 67108864 65536 " +
		"4096\nnet.ipv4.ip_conntrack_max = 9000\nnet.ipv4.tcp_westwood = 0\nnet.ipv4.tcp_sack = " +
		"1\nnet.ipv4.tcp_window_scaling = 0   # a waste\nnet.ipv4.tcp_autocorking = 0# slow\nsysctl -w " +
		"net.ipv4.tcp_ecn=1\n" +
		"ethtool -K eth0 gro off\n"
	files := []settingfile.File{settingfile.Read("a.conf", []byte(text), "")}
	found := Files(files, nil)
	top := &topology.Topology{Hosts: []topology.Host{{Name: "a", Interfaces: []topology.Interface{{Name: "eth0"}}}}}
	lines, all := Select(files, found, top, []string{"a"})
	got := []string{}
	for _, l := range lines {
		got = append(got, l.Setting())
	}
	want := []string{"net.ipv4.tcp_wmem = 67108864 65536 4096", "net.ipv4.ip_conntrack_max = 9000",
		"net.ipv4.tcp_westwood = 0", "net.ipv4.tcp_sack = 1", "net.ipv4.tcp_window_scaling = 0",
		"nic eth0 features gro = off"}
	if !slices.Equal(got, want) {
		t.Errorf("tried %q, want %q", got, want)
	}
	for key, want := range map[string]string{
		"net.ipv4.tcp_rmem":        "correction net.ipv4.tcp_rmem = 4096 131072 67108864",
		"net.ipv4.tcp_autocorking": "correction net.ipv4.tcp_autocorking = 0",
		"net.ipv4.tcp_ecn":         "correction net.ipv4.tcp_ecn = 1",
	} {
		i := slices.IndexFunc(all, func(s record.TuneSetting) bool { return s.Key == key })
		if n := len(all[i].Reasons); n != 2 || all[i].Corrected != "" ||
			codes(record.TuneSetting{Reasons: all[i].Reasons[1:]}) != want {
			t.Errorf("%s: %+v, want %s", key, all[i], want)
		}
	}
}

// TestOfScripts: of a script only what one value is certain for is tried, and nothing that ip(8) or
// tc(8) set.
func TestOfScripts(t *testing.T) {
	text := "#!/bin/sh\nif a; then sysctl -w net.ipv4.tcp_sack=1; else sysctl -w net.ipv4.tcp_sack=0; fi\n" +
		"b && sysctl -w net.ipv4.tcp_ecn=1\nip link set eth0 mtu 9000\ntc qdisc replace dev eth0 root fq\n" +
		"docker run --sysctl net.ipv4.tcp_dsack=0 x\nsysctl -w net.ipv4.tcp_dsack=1\nsysctl -w net.ipv4.tcp_frto=$X\n"
	files := []settingfile.File{settingfile.Read("a.sh", []byte(text), "")}
	found := Files(files, nil)
	top := &topology.Topology{Hosts: []topology.Host{{Name: "a", Interfaces: []topology.Interface{{Name: "eth0"}}}}}
	lines, all := Select(files, found, top, []string{"a"})
	got := []string{}
	for _, l := range lines {
		got = append(got, l.Setting())
	}
	if want := []string{"net.ipv4.tcp_ecn = 1", "net.ipv4.tcp_dsack = 0"}; !slices.Equal(got, want) {
		t.Errorf("tried %q, want %q", got, want)
	}
	reasons := []string{}
	for _, s := range all {
		reasons = append(reasons, codes(s))
	}
	if want := []string{"condition a.sh:2, a.sh:2", "", "other-kind", "other-kind", "", "twice-tried a.sh:6"}; !slices.Equal(reasons,
		want) {
		t.Errorf("%q, want %q", reasons, want)
	}
	if len(found.Unread) != 3 { // what a and b do, and $X
		t.Errorf("%+v", found.Unread)
	}
}

// TestMachineWide: a lab's hosts have no parameters of the machine.
func TestMachineWide(t *testing.T) {
	wide := []settingfile.File{
		settingfile.Read("a.conf",
			[]byte("net.core.netdev_budget_usecs = 9000\nnet.core.netdev_budget = 600\nnet.core.rmem_default = "+
				"262144\n"), "")}
	for via, untried := range map[string]bool{"": true, "ssh x": false} {
		top := &topology.Topology{Hosts: []topology.Host{{Name: "a"}}}
		if via != "" {
			top.Hosts[0].Via = []string{via}
		}
		_, all := Select(wide, Files(wide, nil), top, []string{"a"})
		if codes(all[0]) != codes(all[1]) || (codes(all[0]) == record.UntriedMachine) != untried {
			t.Errorf("machine-wide, via %q: %+v", via, all)
		}
		// On real hosts it would do as little.
		if untried && all[2].Reasons[0].Code != record.LintMisleads {
			t.Errorf("without effect: %+v", all[2:])
		}
	}
}

// TestControl: the congestion control of a list is tried if the flows use another one and the machine has
// it; none is tried that the list does not name.
func TestControl(t *testing.T) {
	all := []string{"reno", "bbr", "cubic"}
	for name, test := range map[string]struct {
		list, path string
		machine    []string
		want       bool
		why        string
	}{
		"another":  {list: "bbr", path: "cubic", machine: all, want: true},
		"the same": {list: "cubic", path: "cubic", machine: all, why: "same-control"},
		"a module is missing": {list: "westwood", path: "cubic", machine: all,
			why: "no-control westwood reno bbr cubic"},
		"not in the list":            {path: "cubic", machine: all},
		"nothing known of a machine": {list: "bbr", path: "cubic", want: true},
	} {
		lines := []settingfile.Line{{Key: "net.ipv4.tcp_sack", Value: "0"}}
		all := []record.TuneSetting{{Key: "net.ipv4.tcp_sack", Value: "0"}}
		if test.list != "" {
			lines = append(lines, settingfile.Line{Key: "net.ipv4.tcp_congestion_control", Value: test.list})
			all = append(all, record.TuneSetting{Key: "net.ipv4.tcp_congestion_control", Value: test.list})
		}
		lines = Control(lines, all, test.path, test.machine)
		want := []string{"0"}
		if test.want {
			want = append(want, test.list)
		}
		var got []string
		for _, l := range lines {
			got = append(got, l.Value)
		}
		last := all[len(all)-1]
		if !slices.Equal(got, want) || codes(last) != test.why ||
			(test.why != "") != (last.Verdict == record.NotTried) {
			t.Errorf("%s: %q, want %q, %+v", name, got, want, last)
		}
	}
}
