package tuning

import (
	"strings"
	"testing"

	"linerate/internal/model/record"
	"linerate/internal/model/settingfile"
	"linerate/internal/model/topology"
)

// TestSelect: what no host could take, or no flow would notice, is not tried, and it is
// said why.
func TestSelect(t *testing.T) {
	files := []settingfile.File{
		settingfile.Read("a.conf", []byte("net.ipv4.tcp_rmem = 1 2 3\nnet.ipv4.conf.eth7.rp_filter = 0\nnet.ipv4.tcp_congestion_control = bbr\nkernel.shmmax = 1\n"), ""),
		settingfile.Read("b.conf", []byte("kern.ipc.maxsockbuf=1\n"), settingfile.FreeBSD),
	}
	top := &topology.Topology{Hosts: []topology.Host{{Name: "a", Interfaces: []topology.Interface{{Name: "eth0"}}}}}
	lines, all := Select(files, Files(files, nil), top, []string{"a"})
	if len(lines) != 1 || lines[0].Key != "net.ipv4.tcp_rmem" || len(all) != 5 {
		t.Fatalf("to try: %+v of %+v", lines, all)
	}
	for i, want := range []string{"", "a has no interface eth7", "flows choose their congestion control", "network", "it is for FreeBSD"} {
		if s := all[i]; (s.Verdict == record.NotTried) != (want != "") || !strings.Contains(s.Why, want) {
			t.Errorf("%s: %q, %q; want %q", s.Key, s.Verdict, s.Why, want)
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
		refused  []string
		searched bool
		why      string // empty: it is tried
	}{
		{line, was("1", "5"), nil, false, ""},
		{line, was("5", "5"), nil, false, "every host has that value already"},
		{line, was("5", "5"), nil, true, ""},
		{line, nil, []string{"a: sysctl net.x: no such parameter"}, false, "a: no such parameter"},
		{atLeast, was("9", "5"), nil, false, "tuned sets it only where that makes it larger"},
		{atLeast, was("1", "5"), nil, false, ""},
	} {
		s := record.TuneSetting{Key: "net.x"}
		if tried := Worthwhile(&s, test.line, test.applied, test.refused, test.searched); tried != (test.why == "") || s.Why != test.why || (s.Verdict == record.NotTried) == tried {
			t.Errorf("%+v: %t, %q", test, tried, s.Why)
		}
	}
}
