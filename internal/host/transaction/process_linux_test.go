//go:build !portable

package transaction

import (
	"context"
	"os"
	"os/exec"
	"strconv"
	"strings"
	"syscall"
	"testing"
	"time"

	"linerate/internal/bus/greeting"
	"linerate/internal/kernel/sched"
	"linerate/internal/model/flow"
	"linerate/internal/model/message"
)

const (
	workerIn = "LINERATE_TEST_WORKER" // set in a worker process
	narrowIn = "LINERATE_TEST_NARROW" // set in a process that may have few descriptors
)

func TestMain(m *testing.M) {
	if os.Getenv(workerIn) != "" {
		if err := RunWorker(os.Stdin, os.Stdout); err != nil {
			os.Exit(1)
		}
		os.Exit(0)
	}
	command = func() *exec.Cmd {
		cmd := exec.Command("/proc/self/exe")
		cmd.Env = append(os.Environ(), workerIn+"=1")
		return cmd
	}
	os.Exit(m.Run())
}

// narrow runs a test in a process of its own that may have only so many
// descriptors, as its children may.
func narrow(t *testing.T, body func(t *testing.T)) {
	t.Helper()
	if os.Getenv(narrowIn) == t.Name() {
		few := syscall.Rlimit{Cur: 512, Max: 512}
		if err := syscall.Setrlimit(syscall.RLIMIT_NOFILE, &few); err != nil {
			t.Fatal(err)
		}
		body(t)
		return
	}
	cmd := exec.CommandContext(t.Context(), "/proc/self/exe", "-test.run=^"+t.Name()+"$", "-test.v")
	cmd.Env = append(os.Environ(), narrowIn+"="+t.Name())
	out, err := cmd.CombinedOutput()
	if err != nil || !strings.Contains(string(out), "--- PASS: "+t.Name()) {
		t.Fatalf("%v\n%s", err, out)
	}
	t.Logf("%s", out)
}

// children are the processes of this one.
func children(t *testing.T) (pids []int) {
	t.Helper()
	list, err := os.ReadDir("/proc")
	if err != nil {
		t.Fatal(err)
	}
	for _, entry := range list {
		stat, err := os.ReadFile("/proc/" + entry.Name() + "/stat")
		if err != nil {
			continue
		}
		fields := strings.Fields(string(stat[strings.LastIndexByte(string(stat), ')')+1:]))
		if pid, err := strconv.Atoi(entry.Name()); err == nil && len(fields) > 1 &&
			fields[1] == strconv.Itoa(os.Getpid()) {
			pids = append(pids, pid)
		}
	}
	return pids
}

// TestProcessGroup: 2,000 connections where a process may have 512 descriptors, with a
// cookie and without, over TCP and over UDP; each has its turn, none is lost, and what the processes count
// comes together. Afterwards there is no process.
func TestProcessGroup(t *testing.T) {
	narrow(t, func(t *testing.T) {
		const connections = 2000
		for _, like := range []message.FlowRequest{
			{}, {Cookie: greeting.NewCookie()}, {Spec: flow.Spec{Protocol: flow.UDPRR}},
			{Spec: flow.Spec{Protocol: flow.UDPRR}, Cookie: greeting.NewCookie()},
		} {
			asker, responder := engine(t), engine(t)
			like.Connections, like.Pace = connections, 2*connections
			request := requests(1, like)[0]
			l := responder.Listen(context.Background(), []message.FlowRequest{request})[0]
			if l.Error != nil || len(l.Ports) < 5 {
				t.Fatalf("%+v", l)
			}
			request.Remote, request.Ports = netipAt(l.Ports[0]), l.Ports
			began := time.Now()
			if o := asker.Connect(context.Background(), []message.FlowRequest{request}, waitAtMost)[0]; o.Error != nil {
				t.Fatal(o.Error)
			}
			t.Logf("opened in %v", time.Since(began))
			eventually(t, "every connection has arrived", responder.Settled)
			if n := len(children(t)); n != 10 {
				t.Errorf("%d processes, want 5 at each end", n)
			}
			w := window(time.Second, asker, responder)
			sched.SleepUntil(w.EndNs + 1e6)
			var asked, answered message.FlowEnd
			eventually(t, "all is answered", func() bool {
				asked, answered = asker.Read()[0], responder.Read()[0]
				return asked.Transactions.Waiting == 0 && answered.Transactions.Done == asked.Transactions.Done
			})
			got := asked.Transactions
			// The schedule has one at the start, and the stop ends it.
			if got.Done != 2*connections || got.Failed != 0 || got.Connections != connections ||
				got.Latency.Count > got.Done || got.Latency.Count < got.Done/2 {
				t.Errorf("%+v with %+v", got, got.Latency)
			}
			if !asked.Alive || !answered.Alive || asked.Error != nil || answered.Error != nil ||
				answered.Transactions.Connections != connections {
				t.Errorf("%+v and %+v", asked, answered)
			}
			if asked.WrittenBytes != got.Done || answered.ReceivedBytes != got.Done ||
				asker.Light()[0].Done != got.Done {
				t.Errorf("%d bytes written and %d received by %d transactions", asked.WrittenBytes,
					answered.ReceivedBytes, got.Done)
			}
			if got.BytesPerConnection <= 0 || got.Processes != 5 || len(asker.Busy()) != 5 ||
				asker.ProcessesCPU() <= 0 {
				t.Errorf("%d bytes a connection in %d processes, busy %v, %d ns outside", got.BytesPerConnection,
					got.Processes, asker.Busy(), asker.ProcessesCPU())
			}
			asker.Close()
			responder.Close()
			if left := children(t); len(left) > 0 {
				t.Errorf("processes that are left: %v", left)
			}
			if end := asker.Read()[0]; end.Transactions.Done != got.Done || end.Alive {
				t.Errorf("after the end: %+v", end)
			}
		}
	})
}

// spread is a flow of 600 connections between two engines, where a process may have 512
// descriptors.
func spread(t *testing.T, spec flow.Spec) (asker, responder *Engine) {
	t.Helper()
	asker, responder = engine(t), engine(t)
	spec.Connections = 600
	request := requests(1, message.FlowRequest{Spec: spec})[0]
	l := responder.Listen(context.Background(), []message.FlowRequest{request})[0]
	if l.Error != nil || len(l.Ports) < 2 {
		t.Fatalf("%+v", l)
	}
	request.Remote, request.Ports = netipAt(l.Ports[0]), l.Ports
	if o := asker.Connect(context.Background(), []message.FlowRequest{request}, waitAtMost)[0]; o.Error != nil {
		t.Fatal(o.Error)
	}
	return asker, responder
}

// TestProcessesDie: when one process is gone, the flow says so, and the end of the
// engine is no later for it.
func TestProcessesDie(t *testing.T) {
	narrow(t, func(t *testing.T) {
		asker, responder := spread(t, flow.Spec{})
		window(time.Hour, asker, responder)
		eventually(t, "transactions are done", func() bool { return asker.Read()[0].Transactions.Done > 100 })
		if err := syscall.Kill(children(t)[0], syscall.SIGKILL); err != nil {
			t.Fatal(err)
		}
		eventually(t, "one end says that a process is gone, the other that connections are lost", func() bool {
			a, b := asker.Read()[0].Error.Error(), responder.Read()[0].Error.Error()
			return strings.Contains(a+b, "is gone") && strings.Contains(a+b, "lost")
		})
		before := asker.Read()[0].Transactions.Done
		eventually(t, "the others go on", func() bool { return asker.Read()[0].Transactions.Done > before })
	})
}

// TestProcessesMoved: what a flow has moved is known without a reading.
func TestProcessesMoved(t *testing.T) {
	narrow(t, func(t *testing.T) {
		asker, responder := spread(t, flow.Spec{Pace: 2000})
		window(time.Hour, asker, responder)
		for bytes := range int64(2) {
			eventually(t, "bytes are moved", func() bool {
				received, _ := responder.Moved()
				_, written := asker.Moved()
				return received > 1000*bytes && written > 1000*bytes
			})
		}
	})
}

// TestProcessesShorten: worker processes learn that the window is cut.
func TestProcessesShorten(t *testing.T) {
	narrow(t, func(t *testing.T) {
		const pace = 2000
		asker, responder := spread(t, flow.Spec{Pace: pace})
		shorten(t, asker, responder, pace)
	})
}
