package controltest

import (
	"bufio"
	"cmp"
	"context"
	"encoding/json"
	"fmt"
	"os"
	"os/exec"
	"runtime"
	"strings"
	"testing"
	"time"

	"golang.org/x/sys/unix"

	"linerate/internal/bus"
	"linerate/internal/control/measure"
	"linerate/internal/host/serve"
	"linerate/internal/kernel/kerneltest"
	"linerate/internal/model/flow"
	"linerate/internal/model/message"
	"linerate/internal/model/record"
	"linerate/internal/show/wording"
)

// own is a part of linerate in a host that Wired or PlainPair has made.
func own(t *testing.T, host string, args ...string) *exec.Cmd {
	t.Helper()
	self, err := os.Executable()
	if err != nil {
		t.Fatal(err)
	}
	return exec.CommandContext(t.Context(), "ip", append([]string{"netns", "exec", host, self}, args...)...)
}

// Server says how a host serves clients. The zero value: on the default port, with the bounds
// of `linerate serve`.
type Server struct {
	Listen []string
	Bounds message.Bounds
}

// Serve serves clients on the host named server until the test ends, and returns the process.
func Serve(t *testing.T, s Server) *os.Process {
	t.Helper()
	kerneltest.Slow(t)
	if len(s.Listen) == 0 {
		s.Listen = []string{":" + measure.DefaultPort}
	}
	b := &s.Bounds
	b.Flows, b.Connections = cmp.Or(b.Flows, 128), cmp.Or(b.Connections, 1024)
	b.DurationS = cmp.Or(b.DurationS, 300)
	text, err := json.Marshal(s)
	if err != nil {
		t.Fatal(err)
	}
	cmd := own(t, "server", "serve", string(text))
	cmd.Stderr = os.Stderr
	said, err := cmd.StdoutPipe()
	if err == nil {
		err = cmd.Start()
	}
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = cmd.Process.Kill(); _ = cmd.Wait() })
	if line, err := bufio.NewReader(said).ReadString('\n'); err != nil {
		t.Fatalf("the server: %v %s", err, line)
	}
	return cmd.Process
}

// serveClients serves as a Server in JSON says, and writes a line once it listens.
func serveClients(args []string) error {
	var s Server
	if err := json.Unmarshal([]byte(strings.Join(args, "")), &s); err != nil {
		return err
	}
	ctx := context.Background()
	var listeners []serve.Listener
	for _, at := range s.Listen {
		l, err := serve.Listen(ctx, at)
		if err != nil {
			return err
		}
		listeners = append(listeners, l)
	}
	fmt.Println("listening")
	return serve.Run(ctx, listeners, serve.Options{Clients: 16, Bounds: s.Bounds, OnSession: func(serve.Session) {}})
}

// Measure measures from host to a serving one. Options that are zero have the defaults of the
// flags of `linerate measure`, except that the congestion control is cubic. The findings of
// the run have words.
func Measure(t *testing.T, host string, o measure.Options) (run *record.Run, err error) {
	t.Helper()
	o.Duration, o.Warmup = cmp.Or(o.Duration, 10*time.Second), cmp.Or(o.Warmup, time.Second)
	o.Interval = cmp.Or(o.Interval, time.Second)
	f := &o.Flows
	f.Protocol, f.Direction = cmp.Or(f.Protocol, flow.TCP), cmp.Or(f.Direction, flow.Write)
	f.Streams = cmp.Or(f.Streams, max(len(o.Addresses), len(o.Sources)))
	if flow.Of(f.Protocol).Transport == flow.TCP {
		f.CongestionControl = cmp.Or(f.CongestionControl, "cubic")
	}
	if f.Protocol == flow.TCP && len(o.Modes) == 0 {
		o.Modes = []string{cmp.Or(f.Mode, flow.ModeAuto)}
		f.Mode = ""
	}
	*f = f.Fitted()
	agent := own(t, host, "agent", "--node", record.NodeClient, "--journal", "memory", "--for", "measure")
	agent.Stderr = os.Stderr
	in, err := agent.StdinPipe()
	if err != nil {
		t.Fatal(err)
	}
	out, err := agent.StdoutPipe()
	if err == nil {
		err = agent.Start()
	}
	if err != nil {
		t.Fatal(err)
	}
	defer func() { _ = in.Close(); _ = agent.Wait() }()
	ctx, cancel := context.WithTimeout(t.Context(), longest)
	defer cancel()
	err = inHost(host, func() (err error) {
		run, err = measure.Conduct(ctx, bus.Pipes(out, in), o)
		return err
	})
	if run != nil {
		run = wording.Run(run)
	}
	return run, err
}

// Measured is like Measure, but fails the test on an error.
func Measured(t *testing.T, host string, o measure.Options) *record.Run {
	t.Helper()
	run, err := Measure(t, host, o)
	if err != nil {
		t.Fatalf("%+v: %v", o, err)
	}
	return run
}

// inHost calls f on a thread in the network namespace of a host. Connections that f's own
// goroutines open leave from the test's namespace: the first client of Wired and PlainPair.
func inHost(host string, f func() error) error {
	ended := make(chan error, 1)
	go func() {
		runtime.LockOSThread() // for good: the thread ends with the goroutine
		n, err := os.Open("/run/netns/" + host)
		if err != nil {
			ended <- err
			return
		}
		defer n.Close()
		if err := unix.Setns(int(n.Fd()), unix.CLONE_NEWNET); err != nil {
			ended <- os.NewSyscallError("setns", err)
			return
		}
		ended <- f()
	}()
	return <-ended
}

// Hosts makes network namespaces that ip(8) knows by name. The test's own namespace gets the
// name here, unless that is empty.
func Hosts(t *testing.T, here string, others ...string) {
	t.Helper()
	// ip netns keeps its files there, and an ordinary user's /run is not his.
	kerneltest.Do(t, "mount", "-t", "tmpfs", "tmpfs", "/run")
	for _, name := range others {
		kerneltest.Do(t, "ip", "netns", "add", name)
	}
	if here != "" {
		kerneltest.Do(t, "ip", "netns", "attach", here, fmt.Sprint(os.Getpid()))
		others = append(others, here)
	}
	for _, name := range others {
		kerneltest.Do(t, "ip", "-n", name, "link", "set", "dev", "lo", "up")
	}
}
