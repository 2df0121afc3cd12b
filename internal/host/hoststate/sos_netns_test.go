//go:build linux && !portable

package hoststate

import (
	"context"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"linerate/internal/control/archive"
	"linerate/internal/kernel/kerneltest"
	"linerate/internal/model/netstate"
	"linerate/internal/model/pasted"
	"linerate/internal/model/record"
	"linerate/internal/science/diagnose"
	"linerate/internal/show/wording"
)

// archived are faults of one host that the commands of sos report show. The interfaces of strict-rp-filter are
// also those of same-subnet-interfaces.
var archived = []string{"window-scaling-off", "sack-off", "receive-buffer-small", "autotuning-off",
	"path-mtu-discovery-off", "dsack-off", "somaxconn-small", "ttl-small", "offload-off", "strict-rp-filter",
	"same-subnet-interfaces", "blackhole-route"}

// sosReport collects an archive of a host of the bench by sos report, and returns the host as it is read of
// the archive.
func (b *bench) sosReport(host string) (s netstate.HostSnapshot) {
	b.t.Helper()
	dir := b.t.TempDir()
	ctx, cancel := context.WithTimeout(b.t.Context(), 5*time.Minute)
	defer cancel()
	b.in(host, func() error {
		// Named network namespaces of this machine would be machines of the archive, too.
		out, err := exec.CommandContext(ctx, "unshare", "--mount", "sh", "-c", `
			if [ -d /run/netns ]; then mount -t tmpfs none /run/netns; fi
			exec sos report --batch --quiet --tmp-dir "$0" -o networking,kernel,processor,hardware --plugin-timeout 120`,
			dir).CombinedOutput()
		if err != nil {
			b.t.Logf("%s", out)
		}
		return err
	})
	files, err := filepath.Glob(filepath.Join(dir, "*.tar.xz"))
	if err != nil || len(files) != 1 {
		b.t.Fatalf("%v: archives %q", err, files)
	}
	f, err := os.Open(files[0])
	if err != nil {
		b.t.Fatal(err)
	}
	defer f.Close()
	a, err := archive.Read(ctx, f, files[0])
	if err != nil || a.Partly != "" {
		b.t.Fatalf("%v, %+v", err, a)
	}
	text := pasted.ParseMembers(a.Members, files[0])
	if len(text.Machines) != 1 || 50*text.Lost > text.Lines {
		b.t.Fatalf("%d machines, %d of %d lines are not read: %q", len(text.Machines), text.Lost, text.Lines,
			text.NotUnderstood)
	}
	return text.Machines[0]
}

// TestSOSReport: faults of a host are named from an archive of sos report as from a snapshot of the host, and
// an archive of a host without faults has none.
func TestSOSReport(t *testing.T) {
	kerneltest.Slow(t)
	if _, err := exec.LookPath("sos"); err != nil {
		kerneltest.Skip(t, "sos is not installed (sosreport)")
	}
	kerneltest.AsRoot(t, func(t *testing.T) {
		found := func(s netstate.HostSnapshot) []string {
			e := wording.Evaluation(diagnose.Hosts([]netstate.HostSnapshot{s}))
			list := slices.DeleteFunc(e.Findings, func(f record.Finding) bool {
				return f.Confidence == record.Possible || slices.Contains(ofMachine, f.ID)
			})
			return ids(list)
		}
		if healthy := found(newBench(t).sosReport("server")); len(healthy) > 0 {
			t.Errorf("of a host without faults: %q", healthy)
		}
		b := newBench(t)
		for _, f := range oneHostFaults {
			if slices.Contains(archived, f.id) && f.id != "blackhole-route" && f.id != "same-subnet-interfaces" {
				f.plant(b)
			}
		}
		b.sh("server", "ip route add blackhole 198.51.100.0/24")
		var live []string
		b.in("server", func() error {
			s, err := Read(t.Context(), Options{Name: "server"})
			live = found(s)
			return err
		})
		text := found(b.sosReport("server"))
		for _, id := range archived {
			if !slices.Contains(live, id) {
				t.Errorf("%s is not found in the snapshot: %s", id, strings.Join(live, ", "))
			}
			if !slices.Contains(text, id) {
				t.Errorf("%s is not found in the archive: %s", id, strings.Join(text, ", "))
			}
		}
		for _, id := range text {
			if !slices.Contains(live, id) {
				t.Errorf("%s is found in the archive, and not in the snapshot", id)
			}
		}
	})
}
