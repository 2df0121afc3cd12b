package tuning

import (
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"linerate/internal/model/opsystem"
	"linerate/internal/model/record"
	"linerate/internal/model/settingfile"
)

// TestMended: a line with several mistakes has one correction for all of them, which nothing is said
// against, or none.
func TestMended(t *testing.T) {
	const leave = "leave it out"
	for _, test := range []struct {
		text   string
		kernel *Kernel
		want   string
	}{
		// Every connection would still begin with 16 MiB if the maximum alone were raised.
		{"net.ipv4.tcp_rmem = 16777216 16777216 16777216", today(), leave},
		{"net.ipv4.tcp_rmem = 16777216 16777216 16777216", nil, leave},
		{"net.ipv4.tcp_rmem = 67108864 67108864 67108864", today(), "4096 131072 67108864"},
		{"net.ipv4.tcp_rmem = 67108864 67108864 67108864 # 64M", today(), "4096 131072 67108864"},
		{"net.ipv4.tcp_rmem = 67108864 67108864 4096", today(), "4096 131072 67108864"},
		{"net.ipv4.tcp_rmem = 4096 87380 64M", today(), "4096 131072 67108864"},
		{"net.ipv4.tcp_rmem = 4096 87380 16M", today(), leave},
		{"net.ipv4.tcp_rmem = 4096 87380 16M", nil, "4096 87380 16777216"},
		{"net.ipv4.tcp_rmem = 4 87 16384", today(), leave},
		{"net.ipv4.tcp_rmem = 16777216", today(), leave},
		{"net.ipv4.tcp_rmem_max = 16777216", today(), leave},
		{"net.ipv4.tcp_rmem_max = 67108864", today(), "4096 131072 67108864"},
		{"net.ipv4.tcp_rmen = 4096 87380 67108864", today(), "4096 131072 67108864"},
		{"net.ipv4.tcp_window_scaling = off", today(), leave},
		{"net.ipv4.tcp_window_scaling = 0 # off", today(), leave},
		{"net.ipv4.tcp_mem = 8388608 16777216 33554432", today(), leave},
		{"net.core.rmem_max = 1M", today(), leave},
		{"net.core.rmem_max = 16M", today(), "16777216"},
		{"net.ipv4.ip_local_port_range = 65535 1024", today(), "1024 65535"},
		{"\"net.ipv4.tcp_rmem\" = \"4096 87380 67108864\"", today(), "4096 131072 67108864"},
	} {
		k := test.kernel
		if k != nil {
			k.Parameters["net.ipv4.tcp_rmem_max"] = Known{Near: "net.ipv4.tcp_rmem"}
		}
		found := Files([]settingfile.File{settingfile.Read("x.conf", []byte(test.text), "")}, k)
		for _, f := range found.Findings {
			if f.Severity == record.LintNote || f.ID == "no-effect" {
				continue
			}
			got := ""
			switch {
			case f.Corrects != nil:
				got = f.Corrects.Value
			case f.Advice != nil && (f.Advice.Code == record.AdviceLeaveOut || f.Advice.Code == record.AdvicePages):
				got = leave
			}
			if got != test.want {
				t.Errorf("%s: %s: %q, want %q", test.text, f.ID, got, test.want)
			}
		}
	}
}

// TestCommandIsMended: the correction of a command is a command, with the value that is proposed.
func TestCommandIsMended(t *testing.T) {
	found := Files([]settingfile.File{settingfile.Read("x.sh",
		[]byte("#!/bin/sh\nsysctl -w net.ipv4.tcp_rmem = 4096 87380 67108864\n"), "")}, today())
	for _, f := range found.Findings {
		if want := "sysctl -w net.ipv4.tcp_rmem='4096 131072 67108864'"; f.Fix != want {
			t.Errorf("%s: %q, want %q", f.ID, f.Fix, want)
		}
	}
	if len(found.Findings) != 2 {
		t.Errorf("%v", what(found))
	}
}

// TestCorrectionsAreRight: nothing is said against any correction of any sample, however the kernel is
// known, if it is in the file instead.
func TestCorrectionsAreRight(t *testing.T) {
	names := slices.Concat(globbed(t, "../../model/settingfile/testdata/formats/*"),
		globbed(t, "../../model/settingfile/testdata/cases/*/*"))
	tried := 0
	for _, name := range names {
		text, err := os.ReadFile(name)
		if err != nil {
			t.Fatal(err)
		}
		files := []settingfile.File{settingfile.Read(filepath.Base(name), text, "")}
		settingfile.Expand(files, Matching)
		for _, k := range []*Kernel{nil, currentKernel(files)} {
			for _, f := range Files(files, k).Findings {
				if f.Corrects == nil {
					continue
				}
				tried++
				instead := settingfile.Read("x.conf", []byte(correction(f)), opsystem.Linux)
				again := Files([]settingfile.File{instead}, k)
				if len(again.Settings) != 1 || slices.ContainsFunc(again.Findings, wrong) {
					t.Errorf("%s:%d: %s: %s: %v", name, f.Line, f.ID, correction(f), what(again))
				}
			}
		}
	}
	if tried < 80 {
		t.Errorf("only %d corrections", tried)
	}
}

// globbed returns the files of a pattern that are samples.
func globbed(t *testing.T, pattern string) []string {
	names, err := filepath.Glob(pattern)
	if err != nil || len(names) == 0 {
		t.Fatalf("%s: %v", pattern, err)
	}
	return slices.DeleteFunc(names, func(name string) bool { return strings.HasSuffix(name, ".golden") })
}
