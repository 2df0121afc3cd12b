//go:build linux

package cli

import (
	"bytes"
	"fmt"
	"io"
	"math/rand/v2"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"linerate/internal/bus"
	"linerate/internal/bus/hub"
	"linerate/internal/control/controltest"
	"linerate/internal/kernel/kerneltest"
	"linerate/internal/model/message"
	"linerate/internal/model/setting"
)

// TestKilledConductorRevertsRealHosts kills a conductor while its agents on hosts
// that it did not make have something changed: they must put it back and go.
func TestKilledConductorRevertsRealHosts(t *testing.T) {
	kerneltest.Parallel(t)
	kerneltest.InNamespace(t, func(t *testing.T) {
		dir := t.TempDir()
		hosts, file := controltest.RealHosts(t, dir)
		before := controltest.StateOf(t, hosts)
		for kill := range 3 {
			mark := fmt.Sprintf("LINERATE_TEST_MARK=%d-%d", os.Getpid(), rand.Uint64())
			cmd := command(t, t.Context(), dir, "run", file, "--only", "static ARP entries", "--trust", "--quiet")
			cmd.Env = append(cmd.Env, mark)
			var errs bytes.Buffer
			cmd.Stderr = &errs
			if err := cmd.Start(); err != nil {
				t.Fatal(err)
			}
			ended := make(chan error, 1)
			go func() { ended <- cmd.Wait() }()
			// The entries are there in half of the trials. A machine whose processors are
			// taken away for most of the time needs minutes until the first.
			for end := time.Now().Add(3 * time.Minute); kerneltest.Do(t, "ip", "-n", "client", "neighbour", "show",
				"nud", "permanent") == ""; {
				select {
				case err := <-ended:
					t.Fatalf("the run ended before anything was changed: %v\n%s", err, errs.String())
				case <-time.After(10 * time.Millisecond):
				}
				if time.Now().After(end) {
					t.Fatal("nothing was ever changed")
				}
			}
			time.Sleep(time.Duration(rand.Int64N(int64(300 * time.Millisecond))))
			_ = cmd.Process.Kill()
			<-ended
			awaitNone(t, mark, fmt.Sprintf("kill %d", kill+1))
			if after := controltest.StateOf(t, hosts); after != before {
				t.Fatalf("kill %d: the hosts are not as they were:\n%s", kill+1,
					controltest.FirstDifference(before, after))
			}
		}
	})
}

// deaf is an agent's stream whose listener goes first, as a conductor's pipes may
// when it is killed.
type deaf struct {
	io.ReadCloser
	io.Writer
}

// changedBy has the agent nas at the other end of a connection change a setting. Lost is
// closed when the connection is lost; value reads the setting, which is 1 now.
func changedBy(t *testing.T, conn io.ReadWriteCloser) (lost <-chan struct{}, value func() string) {
	t.Helper()
	const key = "net.ipv4.conf.all.arp_ignore"
	value = func() string { return strings.TrimSpace(kerneltest.Do(t, "sysctl", "-n", key)) }
	b, err := hub.Start()
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(b.Close)
	b.Attach("nas", conn)
	if _, err := b.Hellos(t.Context(), []string{"nas"}); err != nil {
		t.Fatal(err)
	}
	change := []setting.Setting{{Host: "nas", Sysctl: []setting.Sysctl{{Key: key, Value: "1"}}}}
	if _, err := bus.Call(t.Context(), b, "nas", message.Apply, message.ApplyRequest{Settings: change}); err != nil ||
		value() != "1" {
		t.Fatalf("nothing was changed: %v", err)
	}
	return b.Lost("nas"), value
}

// The agent writes after its reader has closed. It must not die of that before
// it has reverted what it has changed.
func TestAgentOutlivesItsListener(t *testing.T) {
	kerneltest.Parallel(t)
	kerneltest.InNamespace(t, func(t *testing.T) {
		journal := filepath.Join(t.TempDir(), "journal.jsonl")
		cmd := command(t, t.Context(), t.TempDir(), "agent", "--stdio", "--node", "nas", "--journal", journal)
		in, err := cmd.StdinPipe()
		if err != nil {
			t.Fatal(err)
		}
		out, theirs, err := os.Pipe()
		if err != nil {
			t.Fatal(err)
		}
		var errs bytes.Buffer
		cmd.Stdout, cmd.Stderr = theirs, &errs
		if err := cmd.Start(); err != nil {
			t.Fatal(err)
		}
		theirs.Close()
		lost, value := changedBy(t, deaf{out, in})
		out.Close()
		<-lost
		// The client protocol asks for an answer to this.
		if _, err := io.WriteString(in, "PING\r\n"); err != nil {
			t.Fatal(err)
		}
		in.Close()
		if err := cmd.Wait(); err != nil {
			t.Errorf("the agent ended badly: %v\n%s", err, errs.String())
		}
		if value() != "0" {
			t.Error("the agent is gone, and has not reverted what it had changed")
		}
		if _, err := os.Stat(journal); !os.IsNotExist(err) {
			t.Errorf("its journal is still there: %v", err)
		}
	})
}

// What an agent could not undo in the end must reach the user, from a run that
// is complete as from a lab.
func TestFailedRevertIsTold(t *testing.T) {
	kerneltest.InNamespace(t, func(t *testing.T) {
		dir := t.TempDir()
		_, file := controltest.RealHosts(t, dir)
		text, err := os.ReadFile(file)
		if err != nil {
			t.Fatal(err)
		}
		// An agent that says in the end that it failed.
		const via = "via: [ip, netns, exec, client"
		failing := strings.Replace(string(text), via, via+`, sh, -c, '"$@"; echo eth0 is stuck >&2; exit 1', sh`, 1)
		if err := os.WriteFile(file, []byte(failing), 0o644); err != nil || failing == string(text) {
			t.Fatalf("the file could not be made: %v\n%s", err, text)
		}
		for _, args := range [][]string{
			{"lab", "up", file, "--trust", "--until", "ready"},
			{"run", file, "--only", "kernel defaults", "--replicates", "2", "--trust", "--quiet"},
		} {
			out, err := command(t, t.Context(), dir, args...).CombinedOutput()
			if exit, failed := err.(*exec.ExitError); !failed || exit.ExitCode() != ExitFailed {
				t.Errorf("%s: %v, want exit status %d", args[0], err, ExitFailed)
			}
			if !bytes.Contains(out, []byte("client: its agent failed in the end")) ||
				!bytes.Contains(out, []byte("eth0 is stuck")) {
				t.Errorf("%s: not reported:\n%s", args[0], out)
			}
			if bytes.Contains(out, []byte("--resume")) {
				t.Errorf("%s: there is nothing to carry on:\n%s", args[0], out)
			}
		}
	})
}
