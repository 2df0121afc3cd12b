package wording

import (
	"flag"
	"fmt"
	"os"
	"strings"
	"testing"

	"linerate/internal/model/record"
	"linerate/internal/model/settingfile"
	"linerate/internal/science/tuning"
)

var updateLint = flag.Bool("update-lint", false, "write the expected remarks of lint anew")

// TestLint compares what is said of files with testdata/lint.txt: without a kernel, and for a kernel
// with 8 GiB. A line that begins with "> SYSTEM " is a file; ¶ is the end of a line of it.
func TestLint(t *testing.T) {
	const golden = "testdata/lint.txt"
	want, err := os.ReadFile(golden)
	if err != nil {
		t.Fatal(err)
	}
	got := ""
	for line := range strings.Lines(string(want)) {
		if !strings.HasPrefix(line, "> ") {
			continue
		}
		got += line
		system, text, _ := strings.Cut(strings.TrimSuffix(line[2:], "\n"), " ")
		file := settingfile.Read("x.conf", []byte(strings.ReplaceAll(text, "¶", "\n")), system)
		before := ""
		for _, k := range []*tuning.Kernel{nil, aKernel(file)} {
			if said := shownLint(Lint(tuning.Files([]settingfile.File{file}, k))); said != before {
				got += said
				before = said
			}
		}
	}
	if *updateLint {
		if err := os.WriteFile(golden, []byte(got), 0o644); err != nil {
			t.Fatal(err)
		}
	}
	if got != string(want) {
		t.Errorf("got\n%s\nwant\n%s", got, want)
	}
}

// aKernel has some parameters with a value. Another one of the file is not there, with a similar one
// if its name ends in n or m.
func aKernel(f settingfile.File) *tuning.Kernel {
	k := &tuning.Kernel{Release: "6.18.0", MemoryBytes: 8 << 30, PageBytes: 4096, HZ: 1000,
		Congestion: []string{"reno", "cubic"}, Qdiscs: map[string]bool{"fq": false},
		Parameters: map[string]tuning.Known{}}
	for key, value := range map[string]string{
		"net.ipv4.tcp_rmem": "4096 131072 33554432", "net.ipv4.tcp_wmem": "4096 16384 4194304",
		"net.ipv4.tcp_mem": "95967 127956 191934", "net.core.rmem_max": "4194304",
		"net.ipv4.tcp_window_scaling": "1", "net.ipv4.tcp_congestion_control": "cubic",
		"net.core.default_qdisc": "pfifo_fast", "kernel.sysrq": "1",
	} {
		k.Parameters[key] = tuning.Known{Exists: true, Value: value}
	}
	for _, l := range f.Lines {
		if _, known := k.Parameters[l.Key]; known {
			continue
		}
		switch {
		case strings.HasPrefix(l.Key, "net.ipv4.tcp_rmem"), strings.HasSuffix(l.Key, "rmen"):
			k.Parameters[l.Key] = tuning.Known{Near: "net.ipv4.tcp_rmem"}
		case strings.Contains(l.Key, "eth7"), strings.HasSuffix(l.Key, "_none"):
			k.Parameters[l.Key] = tuning.Known{}
		}
	}
	return k
}

func shownLint(found *record.Lint) string {
	text := ""
	if found.Kernel != nil {
		text = "  kernel " + found.Kernel.Release + "\n"
	}
	for _, f := range found.Findings {
		text += fmt.Sprintf("  %d %s %s: %s\n", f.Line, f.Severity, f.ID, f.Says)
		if f.Fix != "" {
			text += fmt.Sprintf("    fix %s\n", f.Fix)
		}
		if f.Correction != "" {
			text += "    correction " + f.Correction + "\n"
		}
	}
	return text
}
