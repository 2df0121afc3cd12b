//go:build linux

package cli

import (
	"bytes"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"linerate/internal/kernel/kerneltest"
)

// TestSlowHostOfTwelve: of twelve hosts on a switch, one has a quarter of the others' rate, at its own end or at the
// switch's port. The answer names it and the direction.
func TestSlowHostOfTwelve(t *testing.T) {
	kerneltest.RequireNamespaces(t)
	for direction, does := range map[string]string{"forward": "sends", "reverse": "receives"} {
		t.Run(does, func(t *testing.T) {
			dir := t.TempDir()
			file := filepath.Join(dir, "switch.yaml")
			args := []string{"new", "switch", "-o", file, "--hosts", "12", "--rate", "200mbit"}
			if out, err := command(t, t.Context(), dir, args...).CombinedOutput(); err != nil {
				t.Fatalf("%v\n%s", err, out)
			}
			text, err := os.ReadFile(file)
			if err != nil {
				t.Fatal(err)
			}
			links := []byte(`    - {from: "h{1..12}", to: switch, rate: 200mbit}`)
			changed := []byte(`    - {from: "h{1..6}", to: switch, rate: 200mbit}
    - {from: "h{8..12}", to: switch, rate: 200mbit}
    - {from: h7, to: switch, rate: 200mbit, ` + direction + `: {rate: 50mbit}}`)
			if !bytes.Contains(text, links) {
				t.Fatalf("no such links: %s", text)
			}
			if err := os.WriteFile(file, bytes.Replace(text, links, changed, 1), 0o600); err != nil {
				t.Fatal(err)
			}
			run := runLab(t, dir, file, "--set", "workload.duration=500ms")
			c := run.Conclusion.Pairs
			if len(run.Treatments) != 11 || c == nil || c.Pairs != 132 || c.Failed != 0 {
				t.Fatalf("%d rounds: %+v", len(run.Treatments), c)
			}
			e := c.Effects[6]
			slow, other := e.Sends, e.Receives
			if does == "receives" {
				slow, other = other, slow
			}
			if e.Host != "h7" || slow > 0.5*other || !strings.Contains(run.Answer, "; h7 ") ||
				!strings.Contains(run.Answer, " "+does+" ") {
				t.Errorf("%s: %+v", run.Answer, e)
			}
		})
	}
}
