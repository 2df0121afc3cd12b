//go:build linux && !portable

package cli

import (
	"bytes"
	"encoding/json"
	"os"
	"path/filepath"
	"slices"
	"testing"

	"linerate/internal/kernel/kerneltest"
	"linerate/internal/model/record"
)

// TestDoctorProbesElsewhere: a host that a command reaches probes the peer and its own name
// servers itself, also where a name has no address because these are silent.
func TestDoctorProbesElsewhere(t *testing.T) {
	kerneltest.Parallel(t)
	kerneltest.InNamespace(t, func(t *testing.T) {
		dir := t.TempDir()
		twoHosts(t, "tbf rate 100mbit burst 50000 limit 100k")
		file := filepath.Join(dir, "resolv.conf")
		if err := os.WriteFile(file, []byte("nameserver 10.0.0.99\n"), 0o644); err != nil {
			t.Fatal(err)
		}
		kerneltest.Do(t, "mount", "--bind", file, "/etc/resolv.conf")
		for _, peer := range []string{"10.0.0.1", "10.0.0.2", "no-such-host.example"} {
			cmd := command(t, t.Context(), dir, "doctor", "--json", "--over", "100ms", "--via", "b=ip netns exec b",
				"--probe", peer, "--port", "9")
			var out, errs bytes.Buffer
			cmd.Stdout, cmd.Stderr = &out, &errs
			_ = cmd.Run()
			var e record.Evaluation
			if err := json.Unmarshal(out.Bytes(), &e); err != nil {
				t.Fatalf("%v: %s", err, errs.String())
			}
			if len(e.Probes) != 1 || e.Probes[0].Peer != peer ||
				!slices.ContainsFunc(e.Findings, func(f record.Finding) bool {
					return f.ID == "resolver-dead" && f.Host == "b" && f.Confidence == record.Certain
				}) {
				t.Errorf("%s: %+v, %+v", peer, e.Probes, e.Findings)
			}
		}
	})
}
