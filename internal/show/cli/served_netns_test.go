//go:build linux

package cli

import (
	"bufio"
	"bytes"
	"context"
	"fmt"
	"net"
	"os"
	"os/exec"
	"path/filepath"
	"runtime"
	"strconv"
	"strings"
	"sync"
	"syscall"
	"testing"
	"time"

	"linerate/internal/bus"
	"linerate/internal/bus/greeting"
	"linerate/internal/kernel/kerneltest"
	"linerate/internal/kernel/sched"
	"linerate/internal/model/flow"
	"linerate/internal/model/message"
	"linerate/internal/model/record"
)

// honestAddress is the one that the honest client connects from.
const honestAddress = "127.0.1.2"

func init() { programsOfLinux["honest"] = honestClient }

// honestClient is a program: one new client of the server after the other, each with a connection of a flow. It prints
// when each was served (sched.Now), and until then why it was not.
func honestClient() {
	for {
		if err := honestVisit(); err != nil {
			fmt.Println("0", strings.ReplaceAll(err.Error(), "\n", " "))
			time.Sleep(10 * time.Millisecond)
			continue
		}
		fmt.Println(sched.Now())
		time.Sleep(100 * time.Millisecond)
	}
}

func honestVisit() error {
	ctx, cancel := context.WithTimeout(context.Background(), 10*time.Second)
	defer cancel()
	h := &hostile{from: net.TCPAddr{IP: net.ParseIP(honestAddress)}}
	b, control, err := h.enter(ctx)
	if err != nil {
		return fmt.Errorf("the server's greeting: %w", err)
	}
	defer control.Close()
	defer b.Close()
	o := message.FlowRequest{ID: "a", Cookie: greeting.NewCookie(), Spec: flow.Spec{Protocol: flow.TCP}}
	if _, err := bus.Call(ctx, b, record.NodeServer, message.Listen, []message.FlowRequest{o}); err != nil {
		return err
	}
	data, err := h.dial()
	if err != nil {
		return err
	}
	defer data.Close()
	if _, err := data.Write(greeting.CookieFrame(o.Cookie)); err != nil {
		return err
	}
	_, err = bus.Call(ctx, b, record.NodeServer, message.Ready, message.ReadyRequest{TimeoutNs: 5e9})
	return err
}

// second is what is known of one second of the honest client.
type second struct {
	served  int     // clients
	waited  float64 // how long a thread of the server and one of the client waited for a CPU, in seconds
	ran     float64 // how long the server had CPUs, in seconds
	watched int     // readings of the two
}

// counts reports whether a second in which no client was served is the server's fault: it is not if server and client
// waited for a CPU for most of it, unless the server itself had half of them, nor if nothing ran that could tell.
func (s second) counts() bool {
	return s.watched >= 3 && (s.waited < 0.5 || s.ran > float64(runtime.NumCPU())/2)
}

// service is what an honest client gets of a server that is under attack.
type service struct {
	begun   int64 // sched.Now
	mu      sync.Mutex
	seconds []second
	why     string // the last client was not served
	client  *exec.Cmd
	ended   sync.WaitGroup
	stop    context.CancelFunc
}

// serve begins the honest client, and to watch which threads wait for a CPU.
func (s *serverProcess) serve(t *testing.T) *service {
	t.Helper()
	if _, err := os.ReadFile("/proc/self/schedstat"); err != nil {
		kerneltest.Without(t, "/proc/PID/schedstat (CONFIG_SCHED_INFO)")
	}
	v := &service{client: exec.Command("honest")}
	out, err := v.client.StdoutPipe()
	if err != nil {
		t.Fatal(err)
	}
	if err := kerneltest.Start(v.client); err != nil {
		t.Fatal(err)
	}
	ctx, cancel := context.WithCancel(t.Context())
	v.stop = cancel
	lines := bufio.NewScanner(out)
	if !lines.Scan() || strings.HasPrefix(lines.Text(), "0 ") { // the first does not wait
		t.Errorf("the honest client: %q", lines.Text())
	}
	v.begun = sched.Now()
	v.ended.Go(func() {
		for lines.Scan() {
			at, why, _ := strings.Cut(lines.Text(), " ")
			ns, _ := strconv.ParseInt(at, 10, 64)
			v.mu.Lock()
			if ns == 0 {
				v.why = why
			} else {
				v.at(ns).served++
			}
			v.mu.Unlock()
		}
	})
	v.ended.Go(func() {
		server, client := waits{}, waits{}
		for ctx.Err() == nil {
			from, to, other := server.read(s.command.Process.Pid), client.read(v.client.Process.Pid), sched.Now()
			v.mu.Lock()
			v.wait(from, other)
			v.wait(to, other)
			v.at(other).ran += from.ran
			v.at(other).watched++
			v.mu.Unlock()
			time.Sleep(100 * time.Millisecond)
		}
	})
	return v
}

// at is the second that an instant is in; what was before the first is counted there.
func (v *service) at(ns int64) *second {
	i := max(0, int((ns-v.begun)/1e9))
	for len(v.seconds) <= i {
		v.seconds = append(v.seconds, second{})
	}
	return &v.seconds[i]
}

// wait adds the longest wait of a thread, which the kernel counts when it ends, to the seconds that it was in.
func (v *service) wait(w waited, end int64) {
	for left, at := w.longest, end; left > 0 && at > v.begun; {
		begin := max(v.begun+(at-1-v.begun)/1e9*1e9, at-left)
		v.at(begin).waited += float64(at-begin) / 1e9
		left -= at - begin
		at = begin
	}
}

// waits are the run times and run delays of a process's threads at the last reading, in nanoseconds
// (Documentation/scheduler/sched-stats.rst).
type waits map[string][2]int64

// waited is the longest run delay of a thread since the last reading, and the run time of all.
type waited struct {
	longest int64
	ran     float64
}

func (w waits) read(pid int) (since waited) {
	threads, _ := filepath.Glob(fmt.Sprintf("/proc/%d/task/*/schedstat", pid))
	for _, at := range threads {
		text, err := os.ReadFile(at)
		fields := bytes.Fields(text)
		if err != nil || len(fields) < 2 {
			continue
		}
		var now [2]int64
		for i := range now {
			now[i], _ = strconv.ParseInt(string(fields[i]), 10, 64)
		}
		if before, known := w[at]; known {
			since.ran += float64(now[0]-before[0]) / 1e9
			since.longest = max(since.longest, now[1]-before[1])
		}
		w[at] = now
	}
	return since
}

// starved reports whether since an instant server and client waited for a CPU for as long as a measurement takes.
func (v *service) starved(since time.Time) bool {
	v.mu.Lock()
	defer v.mu.Unlock()
	var waited float64
	for ns := sched.Now(); ns > v.begun && ns > sched.Now()-int64(time.Since(since))-1e9; ns -= 1e9 {
		waited += v.at(ns).waited
	}
	return waited >= 0.3
}

// unserved are the seconds that are over and count, in which no client was served.
func (v *service) unserved() (list []string) {
	v.mu.Lock()
	defer v.mu.Unlock()
	for i, s := range v.seconds {
		if int64(i+1)*1e9 < sched.Now()-v.begun-1e9 && s.served == 0 && s.counts() {
			list = append(list, fmt.Sprintf("no honest client was served in second %d: %+v; the last that was not: %s", i+1,
				s, v.why))
		}
	}
	return list
}

// end ends the client. Each second that counts must have had one served.
func (v *service) end(t *testing.T) (said string) {
	t.Helper()
	time.Sleep(1100 * time.Millisecond) // the last second that is judged is over, and so is what waited in it
	for _, why := range v.unserved() {
		t.Error(why)
	}
	v.close()
	var clients, served, counted int
	for _, s := range v.seconds {
		clients += s.served
		if s.served > 0 {
			served++
		}
		if s.counts() {
			counted++
		}
	}
	return fmt.Sprintf("%d honest clients served, in %d of %d seconds, of which %d count", clients, served,
		len(v.seconds), counted)
}

func (v *service) close() {
	v.stop()
	_ = v.client.Process.Kill()
	v.ended.Wait()
	_ = v.client.Wait()
}

// TestSecondsWithoutService: a server that stands still while it could have a CPU is seen.
func TestSecondsWithoutService(t *testing.T) {
	kerneltest.Parallel(t)
	kerneltest.InNamespace(t, func(t *testing.T) {
		kerneltest.Do(t, "ip", "link", "set", "lo", "up")
		s := startServer(t)
		v := s.serve(t)
		defer v.close()
		if err := s.command.Process.Signal(syscall.SIGSTOP); err != nil {
			t.Fatal(err)
		}
		kerneltest.Await(t, "a second without service", func() bool { return len(v.unserved()) > 0 })
	})
}

// TestSecondsThatCount: a wait that ends in a later second is one of the seconds that it was in.
func TestSecondsThatCount(t *testing.T) {
	v := &service{begun: 5e9}
	v.wait(waited{longest: 2.2e9}, 5e9+3.5e9)
	for i, want := range []float64{0, 0.7, 1, 0.5} {
		if got := v.seconds[i].waited; got < want-1e-6 || got > want+1e-6 {
			t.Errorf("second %d: %v, want %v", i, got, want)
		}
	}
	v.wait(waited{longest: 20e9}, 5e9+5e8)
	if got := v.seconds[0].waited; got != 0.5 {
		t.Errorf("before the first: %v", got)
	}
	for _, c := range []struct {
		second
		want bool
	}{
		{second{watched: 10}, true}, {second{watched: 10, waited: 0.6}, false},
		{second{watched: 10, waited: 0.6, ran: float64(runtime.NumCPU())}, true}, {second{watched: 2}, false},
	} {
		if got := c.counts(); got != c.want {
			t.Errorf("%+v counts: %v", c.second, got)
		}
	}
}
