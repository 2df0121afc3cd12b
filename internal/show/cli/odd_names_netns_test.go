//go:build linux

package cli

import (
	"os"
	"path/filepath"
	"strings"
	"testing"

	"linerate/internal/host/apply"
	"linerate/internal/kernel/kerneltest"
	"linerate/internal/model/message"
	"linerate/internal/model/setting"
)

// TestOddInterfaces: names of interfaces that are a terminal's or a shell's words are in no output as these.
func TestOddInterfaces(t *testing.T) {
	kerneltest.Parallel(t)
	kerneltest.InNamespace(t, func(t *testing.T) {
		kerneltest.Do(t, "ip", "link", "set", "dev", "lo", "up")
		dir := t.TempDir()
		journal := filepath.Join(dir, "journal.jsonl")
		m, err := apply.Open(journal, apply.Lease)
		if err != nil {
			t.Fatal(err)
		}
		names := []string{"$(reboot)", "\x1b[31mred", "größe😀", "`a$IFS\x07x`", "-rf", "<b>"}
		for i, name := range names {
			kerneltest.Do(t, "ip", "link", "add", "name", name, "type", "veth", "peer", "name", "far"+string(rune('a'+i)))
			kerneltest.Do(t, "ip", "link", "set", "dev", name, "mtu", "1300", "up")
			if _, err := m.Apply(t.Context(), message.ApplyRequest{Settings: []setting.Setting{{
				Link: &setting.Link{Interface: name, MTU: 1400}}}}); err != nil {
				t.Errorf("%q: %v", name, err)
			}
		}
		for _, words := range [][]string{{"recover", "--list", "--journal", journal},
			{"recover", "--list", "--json", "--journal", journal}, {"snapshot", "--over", "0s"}, {"doctor", "--over", "0s"},
			{"doctor", "--over", "0s", "--json"}, {"doctor", "snapshot.json"}, {"diff", "snapshot.json", "snapshot.json"},
			{"top", "--once"}} {
			cmd := command(t, t.Context(), dir, words...)
			out, err := cmd.CombinedOutput()
			if cmd.ProcessState == nil || cmd.ProcessState.ExitCode() == ExitUsage ||
				strings.ContainsAny(string(out), "\x1b\x07") ||
				strings.Contains(string(out), "goroutine ") {
				t.Errorf("%v: %v\n%q", words, err, out)
			}
			switch words[0] {
			case "snapshot":
				out, _ = command(t, t.Context(), dir, words...).Output()
				if err := os.WriteFile(filepath.Join(dir, "snapshot.json"), out, 0o600); err != nil {
					t.Fatal(err)
				}
			case "recover":
				if !strings.Contains(string(out), "1300") || strings.Count(string(out), "1400") < 6 {
					t.Errorf("%v: %s", words, out)
				}
			}
		}
		if err := m.Close(); err != nil { // as of a killed agent, whose guard reverts
			t.Fatal(err)
		}
		kerneltest.Await(t, "the guard's end", func() bool {
			return strings.Count(kerneltest.Do(t, "ip", "-o", "link"), "mtu 1300") == len(names)
		})
	})
}
