//go:build linux

package foreign

import (
	"bufio"
	"fmt"
	"net/netip"
	"os"
	"os/exec"
	"strconv"
	"strings"
	"syscall"
	"testing"
	"time"

	"linerate/internal/kernel/kerneltest"
	"linerate/internal/kernel/sched"
	"linerate/internal/model/flow"
	"linerate/internal/model/message"
	"linerate/internal/model/tool"
)

const patience = 20 * time.Second

// needs skips the test where a program is not installed.
func needs(t *testing.T, programs ...string) {
	t.Helper()
	if missing := Missing(programs); len(missing) > 0 {
		kerneltest.Skip(t, strings.Join(missing, " and ")+" is not installed")
	}
}

// opened has servers started and clients prepared, of n streams each: every
// flow's two ends are in two engines, as on two hosts.
func opened(t *testing.T, requests ...message.FlowRequest) (opener, acceptor *Engine) {
	t.Helper()
	opener, acceptor = New(), New()
	t.Cleanup(opener.Close)
	t.Cleanup(acceptor.Close)
	accepting := make([]message.FlowRequest, len(requests))
	for i, o := range requests {
		accepting[i] = o
		accepting[i].Sends, accepting[i].Local = !o.Sends, netip.MustParseAddr("127.0.0.1")
	}
	for i, l := range acceptor.Listen(t.Context(), accepting) {
		if l.Error != nil {
			t.Fatal(l.Error)
		}
		requests[i].Remote = l.Local
	}
	for _, o := range opener.Connect(t.Context(), requests, patience) {
		if o.Error != nil {
			t.Fatal(o.Error)
		}
	}
	return opener, acceptor
}

func request(id, tool, process string, sends bool, args ...string) message.FlowRequest {
	return message.FlowRequest{
		ID: id, Sends: sends, Process: process,
		Spec: flow.Spec{CongestionControl: "reno", Tool: flow.Tool{Name: tool}, ToolArgs: args},
	}
}

// TestPrograms: each program that is installed makes the flows that it is to make,
// one process for all streams of one direction; both ends are found at both hosts,
// alike, and counted.
func TestPrograms(t *testing.T) {
	needs(t, "iperf3", "iperf")
	kerneltest.InNamespace(t, func(t *testing.T) {
		kerneltest.Do(t, "ip", "link", "set", "lo", "up")
		requests := []message.FlowRequest{
			request("a", "iperf3", "p1w", true), request("b", "iperf3", "p1w", true),
			request("c", "iperf3", "p1w", true),
			request("d", "iperf3", "p1r", false), request("e", "iperf3", "p1r", false),
			request("f", "iperf", "p2w", true), request("g", "iperf", "p2w", true),
			request("h", "iperf", "p2r", false), request("i", "iperf", "p2r", false),
		}
		for _, other := range []string{"nuttcp", "qperf"} {
			if len(Missing([]string{other})) == 0 {
				requests = append(requests, request(other+"-w", other, other+"w", true))
			}
		}
		if len(Missing([]string{"nuttcp"})) == 0 {
			requests = append(requests, request("nuttcp-r", "nuttcp", "nuttcpr", false))
		}
		for i := range requests {
			requests[i].RateCap = 20e6 // loopback is fast, and this machine busy
			if o := requests[i]; o.Tool.Name == "qperf" {
				requests[i].RateCap = 0
			}
		}
		opener, acceptor := opened(t, requests...)
		now := sched.Now()
		w := message.WindowRequest{StartNs: now + 50e6, StopNs: now + 2050e6}
		opener.Start(w)
		acceptor.Start(w)
		var near, far []message.FlowEnd
		moved := func() bool {
			near, far = opener.Read(), acceptor.Read()
			for i := range near {
				to := far[i]
				if requests[i].Sends == false {
					to = near[i]
				}
				if to.ReceivedBytes < 100_000 {
					return false
				}
			}
			return true
		}
		for deadline := time.Now().Add(patience); !moved() && time.Now().Before(deadline); {
			time.Sleep(20 * time.Millisecond)
		}
		seen := map[string]bool{}
		for i, n := range near {
			f := far[i]
			if !n.Alive || !f.Alive || n.Local != f.Remote || f.Local != n.Remote || n.Info == nil || f.Info == nil {
				t.Errorf("%s:\nopener   %+v\nacceptor %+v", n.ID, n, f)
				continue
			}
			// Connections to different ports may have the same local one.
			connection := n.Local.String() + " → " + n.Remote.String()
			if seen[connection] {
				t.Errorf("%s has the connection of another flow: %s", n.ID, connection)
			}
			seen[connection] = true
			from, to := n, f
			if !requests[i].Sends {
				from, to = f, n
			}
			if to.ReceivedBytes < 100_000 || from.ReceivedBytes > 10_000 {
				t.Errorf("%s: %d bytes written, %d received, %d came back", n.ID, from.WrittenBytes, to.ReceivedBytes,
					from.ReceivedBytes)
			}
			if tool := requests[i].Tool.Name; (tool == "iperf3" || tool == "iperf") &&
				from.CongestionControl != "reno" {
				t.Errorf("%s: congestion control %q", n.ID, from.CongestionControl)
			}
		}
		if t.Failed() {
			t.FailNow()
		}
		clients := opener.Printed(t.Context(), message.ToolsRequest{TimeoutNs: int64(patience)})
		servers := acceptor.Printed(t.Context(), message.ToolsRequest{Servers: true, TimeoutNs: int64(patience)})
		for _, p := range append(clients, servers...) {
			if p.NotConfined != "" {
				t.Errorf("%s is not confined: %s", p.Process, p.NotConfined)
			}
		}
		if len(clients) != len(servers) || len(clients) < 4 {
			t.Fatalf("%d clients and %d servers have printed", len(clients), len(servers))
		}
		for i, c := range clients {
			if c.EndNs == 0 || c.Status != 0 || len(c.Text) < 50 || c.Process != servers[i].Process {
				t.Errorf("client %+v\nserver %+v", c, servers[i])
			}
			hasLived(t, c)
		}
	})
}

// hasLived compares what the kernel reports of a client's connections with what the
// client says: what it has written, and for how long.
func hasLived(t *testing.T, c message.Printed) {
	t.Helper()
	if c.Process != "p2w" { // iperf says both to the byte and to the millisecond
		if strings.HasSuffix(c.Process, "r") && len(c.Lives) > 0 {
			t.Errorf("%s only receives, and has %+v", c.Process, c.Lives)
		}
		return
	}
	iperf, _ := tool.Find(flow.Tool{Name: "iperf"})
	says, err := iperf.Parse(c.Text, "", false)
	if err != nil || len(c.Lives) != 2 {
		t.Fatalf("%v, %d lives", err, len(c.Lives))
	}
	var written int64
	for _, l := range c.Lives {
		written += l.WrittenBytes
		own, writing := float64(l.EndNs-l.FirstNs)/1e9, float64(l.LastNs-l.FirstNs)/1e9
		const jiffy = 10e6 // TCP's account of busy time has the clock's ticks, 1 to 10 ms
		if l.FirstNs < c.StartNs-jiffy || l.LastNs < l.FirstNs || l.EndNs < l.LastNs || l.EndNs > c.EndNs {
			t.Errorf("%s: first byte %d, last %d, end %d, of a program from %d to %d", l.ID, l.FirstNs, l.LastNs,
				l.EndNs, c.StartNs, c.EndNs)
		}
		// After its last byte iperf keeps a connection open, three quarters of a second
		// or, when its other end is slow to close, a second more.
		if writing > 1.5*says.Seconds || writing < says.Seconds/1.5 || writing > own {
			t.Errorf("%s: %.3f s of its own and %.3f of writing; iperf says %.3f", l.ID, own, writing, says.Seconds)
		}
	}
	// The kernel reports the end by itself: reading now and then misses what
	// is written between the last look and the end.
	if written != says.SenderBytes {
		t.Errorf("%d bytes written; iperf says %d", written, says.SenderBytes)
	}
}

// TestProgramThatFails: what a program says when it gives up is the reason why its
// flow is not there.
func TestProgramThatFails(t *testing.T) {
	needs(t, "iperf3")
	kerneltest.InNamespace(t, func(t *testing.T) {
		kerneltest.Do(t, "ip", "link", "set", "lo", "up")
		opener, _ := opened(t, request("a", "iperf3", "p1w", true, "-O", "9999"))
		now := sched.Now()
		opener.Start(message.WindowRequest{StartNs: now, StopNs: now + 1e9})
		said := ""
		for deadline := time.Now().Add(patience); !strings.Contains(said, "iperf3 ended after") &&
			time.Now().Before(deadline); time.Sleep(10 * time.Millisecond) {
			said = opener.Read()[0].Error.Error()
		}
		if !strings.Contains(said, "iperf3 ended after") || !strings.Contains(said, "with status 1") {
			t.Errorf("%q", said)
		}
		absent := request("a", "iperf3", "p1w", true)
		t.Setenv("PATH", t.TempDir())
		e := New()
		defer e.Close()
		if o := e.Connect(t.Context(), []message.FlowRequest{absent},
			0)[0]; o.Error.Error() != "iperf3 is not installed: apt-get install iperf3" {
			t.Errorf("not installed: %q", o.Error)
		}
	})
}

const asAgent = "LINERATE_TEST_AGENT"

// TestNothingOutlivesItsAgent: a process that is killed takes the programs with it
// that it has started, and what those have started.
func TestNothingOutlivesItsAgent(t *testing.T) {
	if os.Getenv(asAgent) != "" {
		runAsAgent()
		return
	}
	cmd := exec.Command(os.Args[0], "-test.run=^TestNothingOutlivesItsAgent$")
	cmd.Env = append(os.Environ(), asAgent+"=1")
	out, err := cmd.StdoutPipe()
	if err != nil {
		t.Fatal(err)
	}
	if err := cmd.Start(); err != nil {
		t.Fatal(err)
	}
	lines := bufio.NewScanner(out)
	var pids []int
	for len(pids) < 2 && lines.Scan() {
		if pid, err := strconv.Atoi(strings.TrimPrefix(lines.Text(), "pid ")); err == nil {
			pids = append(pids, pid)
		}
	}
	if len(pids) != 2 {
		_ = cmd.Process.Kill()
		t.Fatalf("the agent has started %v: %v", pids, cmd.Wait())
	}
	for _, pid := range pids {
		if err := syscall.Kill(pid, 0); err != nil {
			t.Errorf("process %d: %v before its agent was killed", pid, err)
		}
	}
	_ = cmd.Process.Kill()
	_ = cmd.Wait()
	for _, pid := range pids {
		for deadline := time.Now().Add(patience); alive(pid) && time.Now().Before(deadline); {
			time.Sleep(5 * time.Millisecond)
		}
		if alive(pid) {
			t.Errorf("process %d is still there", pid)
			_ = syscall.Kill(pid, syscall.SIGKILL)
		}
	}
}

// alive: there, and not waiting for a parent that does not reap it.
func alive(pid int) bool {
	text, err := os.ReadFile(fmt.Sprintf("/proc/%d/stat", pid))
	_, state, _ := strings.Cut(string(text), ") ")
	return err == nil && !strings.HasPrefix(state, "Z")
}

func runAsAgent() {
	e := New()
	for range 2 {
		p, err := e.launch.Start([]string{"sleep", "1000"}, true)
		if err != nil {
			fmt.Println(err)
			os.Exit(1)
		}
		fmt.Println("pid", p.Pid())
	}
	time.Sleep(time.Hour)
}
