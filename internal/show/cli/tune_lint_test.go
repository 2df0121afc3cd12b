package cli

import (
	"io"
	"os"
	"path/filepath"
	"strings"
	"syscall"
	"testing"
	"time"
)

// TestLintIsLinear: a file takes lint time in proportion to its size, whatever it consists of.
// Four times the size takes about four times as long; where work grows with the square of
// the size, it takes sixteen times as long.
func TestLintIsLinear(t *testing.T) {
	const key = "net.ipv4.tcp_rmem = 1"
	for name, test := range map[string]struct {
		file, begin, part string
		parts             int
		flags             []string
	}{
		"comments":  {"list.conf", key, " ;", 20000, []string{"--json"}},
		"one word":  {"list.conf", key, ";1", 12000, nil},
		"one path":  {"list.conf", key, "a/", 12000, nil},
		"one key":   {"list.conf", "", "net.ipv4.tcp_mem = 1 2 3\n", 1000, []string{"--json"}},
		"many keys": {"list.conf", "", "net.core.rmem_max 1\n", 1000, []string{"--json"}},
		"commands":  {"list.sh", "", "sysctl -w net.core.rmem_max = 1\n", 700, []string{"--json"}},
		"unknown":   {"list.sh", "sysctl -w net.core.rmem_max = 1\n", "foo bar\n", 1000, nil},
		"services": {"list.yaml", "services:\n  a:\n    sysctls:\n", "    - net.core.rmem_max=1\n", 1000,
			[]string{"--json"}},
		"objects": {"list.json", "", "{\"net.core.rmem_max\":1}\n", 1000, []string{"--json"}},
	} {
		file := filepath.Join(t.TempDir(), test.file)
		least := map[int]time.Duration{}
		lint := func(size int) time.Duration {
			if err := os.WriteFile(file, []byte(test.begin+strings.Repeat(test.part, size)+"\n"), 0o600); err != nil {
				t.Fatal(err)
			}
			began := cpuTime(t)
			status := Main(append([]string{"tune", file, "--lint"}, test.flags...), strings.NewReader(""), io.Discard,
				io.Discard)
			if took := cpuTime(t) - began; least[size] == 0 || took < least[size] {
				least[size] = took
			}
			if status != ExitDoubt {
				t.Errorf("%s: exit status %d, want %d", name, status, ExitDoubt)
			}
			return least[size]
		}
		ratio := 100.
		for try := 0; try < 6 && ratio > 9; try++ { // other work on this machine only adds
			few, many := lint(test.parts), lint(4*test.parts)
			ratio = many.Seconds() / few.Seconds()
		}
		if ratio > 9 {
			t.Errorf("%s: four times the size takes %.1f times as long (%v)", name, ratio, least)
		}
	}
}

// cpuTime is what this process has used of the CPUs.
func cpuTime(t *testing.T) time.Duration {
	t.Helper()
	var used syscall.Rusage
	if err := syscall.Getrusage(syscall.RUSAGE_SELF, &used); err != nil {
		t.Fatal(err)
	}
	return time.Duration(used.Utime.Nano() + used.Stime.Nano())
}
