//go:build linux

package cli

import (
	"cmp"
	"context"
	"encoding/json"
	"fmt"
	"math"
	"math/rand/v2"
	"net"
	"os"
	"os/exec"
	"path/filepath"
	"reflect"
	"regexp"
	"strconv"
	"strings"
	"sync"
	"sync/atomic"
	"syscall"
	"testing"
	"time"

	"linerate/internal/bus"
	"linerate/internal/bus/greeting"
	"linerate/internal/bus/hub"
	"linerate/internal/kernel/kerneltest"
	"linerate/internal/kernel/sched"
	"linerate/internal/model/flow"
	"linerate/internal/model/message"
	"linerate/internal/model/netstate"
	"linerate/internal/model/record"
)

// The bounds that a server keeps to whatever its clients do (docs/server.md).
const (
	hostileGuests  = 16
	mostMemory     = 256 << 20
	mostThreads    = 512
	stopsWithin    = 2 * time.Second
	stopsMargin    = 2 * time.Second // of a machine that does other things
	settlesWithin  = 20 * time.Second
	spareResources = 24 // threads and descriptors that the runtime keeps
)

// hostileTime is how long they are at work; TestSoak has hours.
const hostileTime = 5 * time.Second

// TestHostileClients: beside sixteen clients that send random requests with extreme values, a measurement
// succeeds every time, and the server keeps to its bounds; when they are gone, it has what it had before.
func TestHostileClients(t *testing.T) {
	kerneltest.Parallel(t)
	kerneltest.InNamespace(t, func(t *testing.T) {
		kerneltest.Do(t, "ip", "link", "set", "lo", "up")
		for name, source := range map[string]func(int) string{
			"one address":       func(int) string { return "127.0.0.2" },
			"several addresses": func(i int) string { return fmt.Sprintf("127.0.0.%d", 2+i) },
		} {
			t.Run(name, func(t *testing.T) {
				s := startServer(t, "--max-clients", "40")
				s.measure(t)
				before := s.reading(t)
				ctx, cancel := context.WithTimeout(t.Context(), hostileTime)
				defer cancel()
				guests := attack(ctx, source)
				worst := before
				for measured := 0; ctx.Err() == nil; measured++ {
					s.measure(t)
					now := s.reading(t)
					worst = reading{threads: max(worst.threads, now.threads), descriptors: max(worst.descriptors,
						now.descriptors), peak: max(worst.peak, now.peak)}
				}
				cancel()
				guests.Wait()
				t.Logf("at most %d threads, %d descriptors, %d MiB; before %d, %d, %d MiB",
					worst.threads, worst.descriptors, worst.peak>>20, before.threads, before.descriptors,
					before.peak>>20)
				if worst.threads > mostThreads+spareResources {
					t.Errorf("the server had %d threads, want at most %d", worst.threads, mostThreads)
				}
				if worst.peak > mostMemory {
					t.Errorf("the server had %d MiB resident, want at most %d", worst.peak>>20, mostMemory>>20)
				}
				s.settles(t, before)
				s.measure(t)
				if n, stacks := s.goroutines(t); n > spareResources {
					t.Errorf("%d goroutines are left:\n%s", n, stacks)
				}
			})
		}
	})
}

// TestServerStops: SIGTERM ends the server at any instant, whatever clients do.
func TestServerStops(t *testing.T) {
	kerneltest.Parallel(t)
	kerneltest.InNamespace(t, func(t *testing.T) {
		kerneltest.Do(t, "ip", "link", "set", "lo", "up")
		random := rand.New(rand.NewPCG(1, 2))
		for range 4 {
			s := startServer(t)
			ctx, cancel := context.WithCancel(t.Context())
			guests := attack(ctx, func(i int) string { return fmt.Sprintf("127.0.0.%d", 2+i) })
			time.Sleep(time.Duration(200+random.IntN(1500)) * time.Millisecond)
			began := time.Now()
			if err := s.command.Process.Signal(syscall.SIGTERM); err != nil {
				t.Fatal(err)
			}
			if !s.ends(stopsWithin + stopsMargin) {
				t.Errorf("the server goes on %v after SIGTERM", time.Since(began))
			}
			t.Logf("ended %v after SIGTERM", time.Since(began).Round(time.Millisecond))
			cancel()
			guests.Wait()
			if said := s.said.String(); strings.Contains(said, "sessions went on") {
				t.Error(said)
			}
		}
	})
}

// TestConnectionsBeyondTheBound: of more connections than a client has asked for, each with
// its flow's cookie, the server keeps no more than are within the client's bound.
func TestConnectionsBeyondTheBound(t *testing.T) {
	kerneltest.Parallel(t)
	kerneltest.InNamespace(t, func(t *testing.T) {
		kerneltest.Do(t, "ip", "link", "set", "lo", "up")
		s := startServer(t, "--max-connections", "4", "--max-flows", "4")
		s.measure(t)
		before := s.reading(t)
		for _, protocol := range flow.Names(func(p flow.Protocol) bool { return p.Transport == flow.TCP }) {
			h := &hostile{from: net.TCPAddr{IP: net.ParseIP("127.0.0.2")}}
			b, control, err := h.enter(t.Context())
			if err != nil {
				t.Fatal(err)
			}
			o := message.FlowRequest{ID: "a", Cookie: greeting.NewCookie(), Spec: flow.Spec{Protocol: protocol}}
			if flow.Of(protocol).Transactional() {
				o.Connections = 4
			}
			if _, err := bus.Call(t.Context(), b, "server", message.Listen, []message.FlowRequest{o}); err != nil {
				t.Fatalf("%s: %v", protocol, err)
			}
			const many, most = 300, 4 * 4 // with the threads' epolls, and crr's twice as many
			var held []net.Conn
			for range many {
				if c, err := h.dial(); err == nil {
					_, _ = c.Write(greeting.CookieFrame(o.Cookie))
					held = append(held, c)
				}
			}
			s.measure(t)
			var now reading
			within := before.descriptors + 2*most + spareResources
			for until := time.Now().Add(settlesWithin); time.Now().Before(until); time.Sleep(50 * time.Millisecond) {
				if now = s.reading(t); now.descriptors <= within {
					break
				}
			}
			if now.descriptors > within {
				t.Errorf("%s: %d descriptors with %d connections, %d before", protocol, now.descriptors, many,
					before.descriptors)
			}
			for _, c := range held {
				c.Close()
			}
			b.Close()
			control.Close()
		}
	})
}

// server is one in a process of its own.
type serverProcess struct {
	command *exec.Cmd
	ended   chan struct{}
	said    *transcript
	inspect string // where its runtime is asked
}

const hostilePort = "5202"

func startServer(t *testing.T, arguments ...string) *serverProcess {
	t.Helper()
	command, inspect := serverCommand(arguments...), filepath.Join(t.TempDir(), "inspect")
	command.Env = append(os.Environ(), inspectAt+"="+inspect)
	s := startServerAs(t, command)
	s.inspect = inspect
	s.listens(t)
	return s
}

// listens waits until the server says so.
func (s *serverProcess) listens(t *testing.T) {
	t.Helper()
	for until := time.Now().Add(20 * time.Second); !strings.Contains(s.said.String(), "listening on"); time.Sleep(
		10 * time.Millisecond) {
		if time.Now().After(until) {
			t.Fatalf("the server does not listen: %s", s.said)
		}
	}
}

func serverCommand(arguments ...string) *exec.Cmd {
	return exec.Command("linerate", append([]string{"serve", "--listen", ":" + hostilePort, "--iperf3", ":5201",
		"--max-duration", "30s"}, arguments...)...)
}

// startServerAs starts a server by a command of its own, and does not wait until it listens.
func startServerAs(t *testing.T, command *exec.Cmd) *serverProcess {
	t.Helper()
	s := &serverProcess{command: command, ended: make(chan struct{}), said: &transcript{}}
	if command.Stdout == nil {
		command.Stdout = s.said
	}
	if command.Stderr == nil {
		command.Stderr = s.said
	}
	if err := kerneltest.Start(command); err != nil {
		t.Fatal(err)
	}
	go func() {
		_ = s.command.Wait()
		close(s.ended)
	}()
	t.Cleanup(func() {
		_ = s.command.Process.Kill()
		<-s.ended
	})
	return s
}

func (s *serverProcess) ends(within time.Duration) bool {
	select {
	case <-s.ended:
		return true
	case <-time.After(within):
		return false
	}
}

// measure has an honest client measure. A machine that is busy fails trust checks, with
// status 3: it has measured all the same.
func (s *serverProcess) measure(t *testing.T) {
	t.Helper()
	s.answers(t, "127.0.0.1:"+hostilePort)
}

// answers is measure with an address and flags of its own.
func (s *serverProcess) answers(t *testing.T, arguments ...string) {
	t.Helper()
	if err := s.asked(t.Context(), arguments...); err != nil {
		t.Error(err)
	}
}

func (s *serverProcess) asked(ctx context.Context, arguments ...string) error {
	ctx, cancel := context.WithTimeout(ctx, time.Minute)
	defer cancel()
	output, err := exec.CommandContext(ctx, "linerate", append([]string{"measure", "--source", "127.0.1.1",
		"--duration", "300ms", "--warmup", "100ms", "--no-save", "--json"}, arguments...)...).CombinedOutput()
	if exit, is := err.(*exec.ExitError); err != nil && !(is && exit.ExitCode() == ExitDoubt) {
		return fmt.Errorf("an honest measurement (%s): %w\n%.2000s\nthe server: %.2000s", strings.Join(arguments, " "),
			err, output, s.said)
	}
	return nil
}

// reading is what the server's process has; memory is anonymous: other pages are those of
// its program, which the kernel keeps as long as it likes.
type reading struct{ threads, descriptors, peak, memory int }

func (s *serverProcess) reading(t *testing.T) (r reading) {
	t.Helper()
	at := fmt.Sprintf("/proc/%d", s.command.Process.Pid)
	text, err := os.ReadFile(filepath.Join(at, "status"))
	if err != nil {
		t.Fatalf("the server is gone: %v\n%.3000s", err, s.said)
	}
	field := func(name string) int {
		found := regexp.MustCompile(name + `:\s+(\d+)`).FindSubmatch(text)
		if found == nil {
			t.Fatalf("no %s in\n%s", name, text)
		}
		n, _ := strconv.Atoi(string(found[1]))
		return n
	}
	list, err := os.ReadDir(filepath.Join(at, "fd"))
	if err != nil {
		t.Fatal(err)
	}
	return reading{field("Threads"), len(list), field("VmHWM") << 10, field("RssAnon") << 10}
}

// settles waits until the server has what it had before. Threads that the runtime has made
// stay, but no more are made for the next clients.
func (s *serverProcess) settles(t *testing.T, before reading) {
	t.Helper()
	var now reading
	for until := time.Now().Add(settlesWithin); time.Now().Before(until); time.Sleep(50 * time.Millisecond) {
		if now = s.reading(t); now.descriptors <= before.descriptors+spareResources/4 &&
			now.threads <= before.threads+threadsKept {
			return
		}
	}
	t.Errorf("%d threads and %d descriptors are left, before there were %d and %d", now.threads, now.descriptors,
		before.threads, before.descriptors)
}

// threadsKept is how many threads more the runtime may keep than before: those that waited
// in the kernel at the same time.
const threadsKept = 64

// goroutines ends the server with SIGQUIT, which prints them.
func (s *serverProcess) goroutines(t *testing.T) (n int, stacks string) {
	t.Helper()
	if err := s.command.Process.Signal(syscall.SIGQUIT); err != nil || !s.ends(10*time.Second) {
		t.Fatalf("SIGQUIT: %v", err)
	}
	stacks = s.said.String()
	return len(regexp.MustCompile(`(?m)^goroutine \d+ .*\[`).FindAllString(stacks, -1)), stacks
}

// attack has hostile clients at work until ctx ends, each from a source address.
func attack(ctx context.Context, source func(int) string) *guests {
	var all guests
	for i := range hostileGuests {
		h := &hostile{random: rand.New(rand.NewPCG(uint64(i), 7)), from: net.TCPAddr{IP: net.ParseIP(source(i))}}
		all.Go(func() {
			for ctx.Err() == nil {
				h.visit(ctx)
				all.visits.Add(1)
			}
		})
	}
	return &all
}

// guests are hostile clients at work.
type guests struct {
	sync.WaitGroup
	visits atomic.Int64
}

// hostile is a client that keeps to no bound.
type hostile struct {
	random *rand.Rand
	from   net.TCPAddr
	to     string // the server's address; empty: 127.0.0.1
}

func (h *hostile) dial() (net.Conn, error) {
	dialer := net.Dialer{LocalAddr: &h.from, Timeout: time.Second}
	return dialer.Dial("tcp", net.JoinHostPort(cmp.Or(h.to, "127.0.0.1"), hostilePort))
}

// enter greets the server, and returns a bus on which it is and the connection.
func (h *hostile) enter(ctx context.Context) (b *bus.Bus, control net.Conn, err error) {
	control, err = h.dial()
	if err != nil {
		return nil, nil, err
	}
	_ = control.SetDeadline(time.Now().Add(5 * time.Second))
	_, err = greeting.Introduce(control, "")
	_ = control.SetDeadline(time.Time{})
	if err == nil {
		b, err = hub.Start()
	}
	if err == nil {
		b.Attach(record.NodeServer, control)
		_, err = b.Hellos(ctx, []string{record.NodeServer})
	}
	if err != nil {
		if b != nil {
			b.Close()
		}
		control.Close()
	}
	return b, control, err
}

// visit is one session: connections that say nothing, or anything, and requests.
func (h *hostile) visit(ctx context.Context) {
	var held []net.Conn
	defer func() {
		for _, c := range held {
			c.Close()
		}
	}()
	hold := func(first []byte) {
		if c, err := h.dial(); err == nil {
			_, _ = c.Write(first)
			held = append(held, c)
		}
	}
	for range h.random.IntN(80) {
		hold([]byte("lin"))
	}
	ctx, cancel := context.WithTimeout(ctx, time.Duration(1+h.random.IntN(4))*time.Second)
	defer cancel()
	b, control, err := h.enter(ctx)
	if err != nil {
		return
	}
	defer control.Close()
	defer b.Close()
	for ctx.Err() == nil {
		verb, request, cookies := h.request()
		brief, stop := context.WithTimeout(ctx, time.Duration(1+h.random.IntN(200))*time.Millisecond)
		_, _ = bus.Call(brief, b, record.NodeServer, message.Verb[any, any]{Name: verb}, request)
		stop()
		for _, cookie := range cookies {
			for range 1 + h.random.IntN(8) {
				if len(held) > 400 {
					break
				}
				hold(append(greeting.CookieFrame(cookie), make([]byte, h.random.IntN(3)*70_000)...))
			}
		}
	}
}

// request is any request: most are like those of a measurement, but for some values.
func (h *hostile) request() (verb string, request any, cookies []message.Cookie) {
	now := sched.Now()
	switch h.random.IntN(8) {
	case 0:
		return "close", struct{}{}, nil
	case 1:
		return "clock", struct{}{}, nil
	case 2, 3:
		at := now + int64(h.random.IntN(100))*1e6
		r := message.WindowRequest{StartNs: at, BeginNs: at + 1e6, EndNs: at + 3e8, StopNs: at + 3e8, SampleNs: 1e6}
		r.Lookups = make([]netstate.RouteLookup, h.random.IntN(1000))
		h.corrupt(reflect.ValueOf(&r).Elem())
		return "window", r, nil
	case 4:
		r := message.ReadyRequest{TimeoutNs: 1e7}
		h.corrupt(reflect.ValueOf(&r).Elem())
		return "ready", r, nil
	case 5:
		return "listen", json.RawMessage("[" + strings.Repeat("{},", 20_000+h.random.IntN(20_000)) + "{}]"), nil
	case 6:
		r := message.CutRequest{EndNs: now + 1e6, StopNs: now + 2e6}
		h.corrupt(reflect.ValueOf(&r).Elem())
		return "cut", r, nil
	}
	protocols := flow.Names(func(flow.Protocol) bool { return true })
	// Few flows with absurd values, or many that are within their bounds.
	few := h.random.IntN(2) == 0
	n := 1 + h.random.IntN(130)
	if few {
		n = 1 + h.random.IntN(3)
	}
	list := make([]message.FlowRequest, n)
	for i := range list {
		o := &list[i]
		o.ID, o.Cookie, o.Protocol = fmt.Sprint(i), greeting.NewCookie(), protocols[h.random.IntN(len(protocols))]
		o.Sends = h.random.IntN(2) == 0
		if flow.Of(o.Protocol).Transactional() {
			o.Threads = 1 + h.random.IntN(64/n+1)
			o.Connections = o.Threads + h.random.IntN(64)
			o.Poll = new(bool)
			*o.Poll = h.random.IntN(4) == 0
		}
		if o.Protocol == flow.TCP && h.random.IntN(4) == 0 {
			o.ReadCap = 1e-6
		}
		if few && h.random.IntN(2) == 0 {
			h.corrupt(reflect.ValueOf(&o.Spec).Elem())
		}
		cookies = append(cookies, o.Cookie)
	}
	return "listen", list, cookies
}

// extremes are values that bounds and arithmetic may have missed.
var extremes = []float64{0, 1, -1, 2, 3, 1e-6, 1e-300, 1e300, 255, 256, 1024, 65535, 65536, 64_000, 1 << 24, 1<<31 - 1,
	1 << 31, 1<<63 - 1024, -(1 << 62)}

// corrupt sets one number of a structure to an extreme value.
func (h *hostile) corrupt(of reflect.Value) {
	for range 100 {
		f := of.Field(h.random.IntN(of.NumField()))
		x := extremes[h.random.IntN(len(extremes))]
		switch {
		case f.CanInt() && h.random.IntN(4) == 0:
			f.SetInt(math.MaxInt64)
		case f.CanInt():
			f.SetInt(int64(x))
		case f.CanFloat():
			f.SetFloat(x)
		default:
			continue
		}
		return
	}
}
