//go:build linux

package cli

import (
	"context"
	"net"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"linerate/internal/bus"
	"linerate/internal/bus/greeting"
	"linerate/internal/control/controltest"
	"linerate/internal/kernel/kerneltest"
	"linerate/internal/kernel/sched"
	"linerate/internal/model/flow"
	"linerate/internal/model/message"
	"linerate/internal/model/record"
)

// noticedWithin is in what time a server notices that a client has vanished (docs/server.md),
// with a margin for a machine that does other things.
const noticedWithin = 45*time.Second + 15*time.Second

// TestVanishedClients: clients of which nothing comes any more, not even a FIN or RST, make
// room for the next one in time, and leave nothing behind. One has just identified itself,
// one waits for its window with a reply in flight that is never acknowledged, one measures in
// both directions, and one is of iperf3.
func TestVanishedClients(t *testing.T) {
	kerneltest.Long(t)
	kerneltest.Parallel(t)
	kerneltest.InNamespace(t, func(t *testing.T) {
		controltest.Wired(t, "100mbit", "here", "gone", "next")
		const here = "10.0.0.2" // of this process
		kerneltest.Do(t, "ip", "netns", "exec", "sw", "sh", "-c",
			"until bridge link show dev here | grep -q forwarding; do sleep 0.1; done")

		inspect := filepath.Join(t.TempDir(), "inspect")
		s := startServerIn(t, "export "+inspectAt+"="+inspect+`; exec ip netns exec server "$0" "$@"; false`,
			"--max-clients", "4", "--max-duration", "5m")
		s.inspect = inspect
		next := func() (status int, said string) {
			_, status, said = measuredPlainly(t, "next", "10.0.0.1", "--duration", "300ms", "--warmup", "100ms",
				"--no-save")
			return status, said
		}
		served := func(status int) bool { return status == ExitOK || status == ExitDoubt }
		if status, said := next(); !served(status) {
			t.Fatalf("at first: status %d\n%s", status, said)
		}
		time.Sleep(time.Second) // for the session to end
		before, state := s.holds(t)

		for _, args := range [][]string{{"10.0.0.1", "--direction", "both"},
			{"--iperf3", "10.0.0.1", "--direction", "read"}} {
			cmd := in(t, "gone", append([]string{"measure", "--duration", "4m", "--no-save", "--quiet"}, args...)...)
			if err := cmd.Start(); err != nil {
				t.Fatal(err)
			}
			t.Cleanup(func() { _ = cmd.Process.Kill(); _ = cmd.Wait() })
		}
		h := &hostile{from: net.TCPAddr{IP: net.ParseIP(here)}, to: "10.0.0.1"}
		_, greeted, err := h.enter(t.Context())
		if err != nil {
			t.Fatal(err)
		}
		defer greeted.Close()
		waiting, control, err := h.enter(t.Context())
		if err != nil {
			t.Fatal(err)
		}
		defer control.Close()
		request := message.FlowRequest{ID: "a", Cookie: greeting.NewCookie(), Spec: flow.Spec{Protocol: flow.TCP}}
		if _, err := bus.Call(t.Context(), waiting, record.NodeServer, message.Listen,
			[]message.FlowRequest{request}); err != nil {
			t.Fatal(err)
		}
		ctx, cancel := context.WithCancel(t.Context())
		defer cancel()
		go func() {
			at := sched.Now() + 1e9
			_, _ = bus.Call(ctx, waiting, record.NodeServer, message.Window, message.WindowRequest{StartNs: at,
				BeginNs: at, EndNs: at + 240e9, StopNs: at + 240e9})
		}()
		time.Sleep(5 * time.Second) // for all windows to begin
		if status, said := next(); status != ExitFailed || !strings.Contains(said, "it serves 4 clients at a time") {
			t.Errorf("a fifth client: status %d, %q; expected a refusal", status, said)
		}

		// To this process the server sends frames that nobody takes; its requests still arrive.
		kerneltest.Do(t, "ip", "-n", "server", "neigh", "replace", here, "lladdr", "02:00:00:00:00:99", "nud",
			"permanent", "dev", "eth0")
		lost, stop := context.WithTimeout(t.Context(), time.Second)
		defer stop()
		if _, err := bus.Call(lost, waiting, record.NodeServer, message.Clock, struct{}{}); err == nil {
			t.Error("the reply arrived: the test does not test")
		}
		for _, port := range []string{"gone", "here"} {
			kerneltest.Do(t, "ip", "-n", "sw", "link", "set", "dev", port, "down")
		}
		vanished := time.Now()
		for {
			now, left := s.holds(t)
			if now.descriptors <= before.descriptors && left.Goroutines <= state.Goroutines {
				break
			}
			if time.Since(vanished) > noticedWithin {
				_, stacks := s.goroutines(t)
				t.Fatalf(
					"%v after its clients have vanished the server has %d descriptors and %d goroutines, before %d "+
						"and %d:\n%s",
					noticedWithin, now.descriptors, left.Goroutines, before.descriptors, state.Goroutines, stacks)
			}
			time.Sleep(100 * time.Millisecond)
		}
		t.Logf("after %v nothing is left\n%s", time.Since(vanished).Round(time.Second), s.said)
		if status, said := next(); !served(status) {
			t.Errorf("the next client: status %d\n%s", status, said)
		}
	})
}

// holds is what the server's process and its runtime have.
func (s *serverProcess) holds(t *testing.T) (reading, runtimeState) {
	t.Helper()
	state, err := s.runtime(0)
	if err != nil {
		t.Fatal(err)
	}
	return s.reading(t), state
}
