//go:build linux

package cli

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"syscall"
	"testing"
	"time"

	"linerate/internal/control/controltest"
	"linerate/internal/kernel/kerneltest"
	"linerate/internal/model/flow"
	"linerate/internal/show/export"
)

// in is a linerate inside a host.
func in(t *testing.T, host string, args ...string) *exec.Cmd {
	t.Helper()
	cmd := command(t, t.Context(), t.TempDir(), args...)
	cmd.Args = append([]string{"ip", "netns", "exec", host, cmd.Path}, cmd.Args[1:]...)
	ip, err := exec.LookPath("ip")
	if err != nil {
		t.Fatal(err)
	}
	cmd.Path = ip
	return cmd
}

// served is a running linerate serve.
type served struct {
	*exec.Cmd
	mu   sync.Mutex
	said bytes.Buffer
	over chan struct{}
}

// ends waits for the end of the server, which a signal has been sent to.
func (s *served) ends(t *testing.T) {
	t.Helper()
	select {
	case <-s.over:
	case <-time.After(30 * time.Second):
		t.Fatal("the server did not end within 30s")
	}
}

func (s *served) Write(p []byte) (int, error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.said.Write(p)
}

func (s *served) log() string {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.said.String()
}

// until waits for what the server says.
func (s *served) until(t *testing.T, words string, times int) {
	t.Helper()
	for end := time.Now().Add(90 * time.Second); strings.Count(s.log(), words) < times; time.Sleep(
		10 * time.Millisecond) {
		if time.Now().After(end) {
			t.Fatalf("the server has not said %q %d times:\n%s", words, times, s.log())
		}
	}
}

func serving(t *testing.T, args ...string) *served {
	t.Helper()
	s := &served{Cmd: in(t, "server", append([]string{"serve"}, args...)...), over: make(chan struct{})}
	s.Stderr = s
	if err := s.Start(); err != nil {
		t.Fatal(err)
	}
	go func() { _ = s.Wait(); close(s.over) }()
	t.Cleanup(func() { _ = s.Process.Kill(); <-s.over })
	s.until(t, "listening on", 1)
	return s
}

// measured runs a measurement to its end.
func measured(t *testing.T, host string, args ...string) (m export.Measurement, status int, said string) {
	t.Helper()
	overUDP := flow.Names(func(p flow.Protocol) bool { return p.Transport == flow.UDP })
	if !slices.ContainsFunc(args, func(arg string) bool { return slices.Contains(overUDP, arg) }) {
		args = append([]string{"--congestion-control", "cubic"}, args...)
	}
	return measuredPlainly(t, host, args...)
}

// measuredPlainly is measured without options of its own: what `linerate measure`
// says, its exit status, and what it wrote besides.
func measuredPlainly(t *testing.T, host string, args ...string) (m export.Measurement, status int, said string) {
	t.Helper()
	cmd := in(t, host, append([]string{"measure", "--json", "--quiet"}, args...)...)
	var out, errs bytes.Buffer
	cmd.Stdout, cmd.Stderr = &out, &errs
	if err := cmd.Run(); err != nil && cmd.ProcessState == nil {
		t.Fatal(err)
	}
	if out.Len() > 0 {
		if err := json.Unmarshal(out.Bytes(), &m); err != nil {
			t.Fatalf("%v\n%s", err, out.String())
		}
	}
	return m, cmd.ProcessState.ExitCode(), errs.String()
}

// doubts are the failed trust checks that a busy machine does not explain.
func doubts(m export.Measurement) string { return controltest.Failures(m.Trust) }

// TestMeasureGate: what is expected decides the exit status.
func TestMeasureGate(t *testing.T) {
	kerneltest.Parallel(t)
	kerneltest.InNamespace(t, func(t *testing.T) {
		controltest.Wired(t, "100mbit", "client")
		serving(t)
		for gate, met := range map[string]bool{">= 1mbit": true, ">= 200mbit": false, "< 200 Mbit/s": true,
			"200mbit": false} {
			m, status, said := measured(t, "client", "10.0.0.1", "--duration", "500ms", "--warmup", "300ms",
				"--expect", gate)
			if m.Expect == nil || m.Expect.Met != met {
				t.Errorf("%s: %+v", gate, m.Expect)
			}
			if !met && (status != ExitDoubt ||
				!strings.Contains(said, "expected goodput "+m.Expect.Gate+", got write ")) {
				t.Errorf("%s: exit status %d, %q", gate, status, said)
			}
			if met && doubts(m) == "" && status != ExitOK && status != ExitDoubt {
				t.Errorf("%s: exit status %d, %q", gate, status, said)
			}
		}
	})
}

// TestMeasureRefused: every refusal says its reason.
func TestMeasureRefused(t *testing.T) {
	kerneltest.Parallel(t)
	kerneltest.InNamespace(t, func(t *testing.T) {
		controltest.Wired(t, "1gbit", "client", "other")
		token := filepath.Join(t.TempDir(), "token")
		wrong := filepath.Join(t.TempDir(), "wrong")
		for file, text := range map[string]string{token: strings.Repeat("open sesame", 3) + "\n",
			wrong: strings.Repeat("open barley", 3)} {
			if err := os.WriteFile(file, []byte(text), 0o600); err != nil {
				t.Fatal(err)
			}
		}
		s := serving(t, "--token", token, "--allow", "10.0.0.2", "--allow", "fd00::/64", "--max-duration", "2s",
			"--max-flows", "3")
		kerneltest.Do(t, "ip", "netns", "exec", "server", "true")
		stranger := exec.Command("ip", "netns", "exec", "server", "stranger", "10.0.0.1:2222")
		if err := stranger.Start(); err != nil {
			t.Fatal(err)
		}
		t.Cleanup(func() { _ = stranger.Process.Kill(); _ = stranger.Wait() })
		for _, test := range []struct {
			name, from string
			args       []string
			want       string
		}{
			{"no token", "client", []string{"10.0.0.1"}, "the server requires a token: --token"},
			{"wrong token", "client", []string{"10.0.0.1", "--token", wrong}, "wrong token"},
			{"not allowed", "other", []string{"10.0.0.1", "--token", token}, "10.0.0.3 is not among the addresses"},
			{"too long", "client", []string{"10.0.0.1", "--token", token, "--duration", "3s"},
				"4s with the warm-up: the server allows 2s"},
			{"too many", "client", []string{"10.0.0.1", "--token", token, "--direction", "both", "--streams", "2",
				"--duration", "1s"}, "4 flows: the server allows 3"},
			{"no server", "client", []string{"10.0.0.1:5203"},
				"nothing listens there, or a firewall rejects connections to this port\nStart linerate serve"},
			{"no host", "client", []string{"10.0.0.77"}, "no route to host\nNo answer to ARP"},
			{"another program", "client", []string{"10.0.0.1:2222"},
				`the program that listens at 10.0.0.1:2222 is not linerate serve: it begins with "SSH-2.0-`},
			{"no such name", "client", []string{"nosuch.invalid"}, "nosuch.invalid"},
		} {
			_, status, said := measured(t, test.from, test.args...)
			if status != ExitFailed || !strings.Contains(said, test.want) {
				t.Errorf("%s: exit status %d, %q; want %q", test.name, status, said, test.want)
			}
		}
		if m, status, said := measured(t, "client", "10.0.0.1", "--token", token, "--duration", "500ms", "--warmup",
			"200ms", "--rate-cap", "20mbit"); m.ReceivedBytes == 0 {
			t.Errorf("with the token: exit status %d, %q", status, said)
		}
		if log := s.log(); !strings.Contains(log, "refused: ") || !strings.Contains(log, "1 flow in ") {
			t.Errorf("the server said\n%s", log)
		}
	})
}

// TestIperf3Instead: where only iperf3's port is open, the flag that measures with it is named.
func TestIperf3Instead(t *testing.T) {
	kerneltest.Parallel(t)
	kerneltest.InNamespace(t, func(t *testing.T) {
		controltest.Wired(t, "1gbit", "client")
		const hint = "that of iperf3, is open there: linerate measure --iperf3 10.0.0.1\n"
		if _, status, said := measured(t, "client", "10.0.0.1"); status != ExitFailed ||
			strings.Contains(said, "--iperf3") {
			t.Errorf("without an iperf3 server: exit status %d, %q", status, said)
		}
		iperf3Server(t, "server", 5201)
		if _, status, said := measured(t, "client", "10.0.0.1"); status != ExitFailed ||
			!strings.HasSuffix(said, hint) {
			t.Errorf("exit status %d, %q; want %q", status, said, hint)
		}
		if _, _, said := measured(t, "client", "10.0.0.1:5203"); strings.Contains(said, "--iperf3") {
			t.Errorf("of another port: %q", said)
		}
	})
}

// TestServeEnds: Ctrl-C ends a server with a test in progress, without an error.
func TestServeEnds(t *testing.T) {
	kerneltest.Parallel(t)
	kerneltest.InNamespace(t, func(t *testing.T) {
		controltest.Wired(t, "100mbit", "client")
		s := serving(t)
		client := in(t, "client", "measure", "10.0.0.1", "--duration", "60s")
		if err := client.Start(); err != nil {
			t.Fatal(err)
		}
		defer func() { _ = client.Wait() }()
		time.Sleep(time.Second)
		if err := s.Process.Signal(syscall.SIGINT); err != nil {
			t.Fatal(err)
		}
		select {
		case <-s.over:
		case <-time.After(20 * time.Second):
			t.Fatal("the server goes on")
		}
		if status := s.ProcessState.ExitCode(); status != ExitOK ||
			!strings.Contains(s.log(), "the server was stopped") {
			t.Errorf("exit status %d:\n%s", status, s.log())
		}
	})
}

// TestServeSurvives: whatever is thrown at the port, the next one is served.
func TestServeSurvives(t *testing.T) {
	kerneltest.Parallel(t)
	kerneltest.InNamespace(t, func(t *testing.T) {
		kerneltest.Do(t, "ip", "link", "set", "dev", "lo", "up")
		kerneltest.Do(t, "mount", "-t", "tmpfs", "tmpfs", "/run")
		kerneltest.Do(t, "ip", "netns", "attach", "server", fmt.Sprint(os.Getpid()))
		s := serving(t, "--listen", "127.0.0.1:5202")
		dial := func() net.Conn {
			conn, err := net.Dial("tcp", "127.0.0.1:5202")
			if err != nil {
				t.Fatal(err)
			}
			return conn
		}
		hello := "linerateh\x00\x4b" + `{"protocol":1,"version":"x","nonce":"` + strings.Repeat("QUFB", 10) + `QUE="}`
		for _, garbage := range []string{
			"", "\x00", "GET / HTTP/1.1\r\nHost: x\r\n\r\n", "linerate", "linerateh\xff\xff", "linerateh\x00\x02{}",
			"linerateh\x00\x04null", "linerateq\x00\x00", "lineratet\x00\x10" + strings.Repeat("\x00", 16),
			"lineratet\x00\x10sixteen bytes ok", "lineratet\x00\x01x",
			hello, hello + "lineratep\x00\x00", hello + strings.Repeat("x", 1<<16), strings.Repeat("\xff", 1<<16),
		} {
			for _, end := range []func(net.Conn){
				func(c net.Conn) { c.Close() },
				func(c net.Conn) { _ = c.(*net.TCPConn).SetLinger(0); c.Close() },
				func(c net.Conn) {
					_ = c.(*net.TCPConn).CloseWrite()
					_ = c.SetReadDeadline(time.Now().Add(50 * time.Millisecond))
					_, _ = io.Copy(io.Discard, c)
					c.Close()
				},
			} {
				conn := dial()
				_, _ = io.WriteString(conn, garbage)
				end(conn)
			}
		}
		// Some connect and send nothing, or half a frame.
		for i := range 50 {
			conn := dial()
			defer conn.Close()
			_, _ = io.WriteString(conn, hello[:i])
		}
		// And some vanish in the middle of a test.
		for range 3 {
			client := in(t, "server", "measure", "127.0.0.1", "--duration", "60s", "--rate-cap", "1mbit")
			if err := client.Start(); err != nil {
				t.Fatal(err)
			}
			time.Sleep(500 * time.Millisecond)
			_ = client.Process.Kill()
			_ = client.Wait()
		}
		s.until(t, "test not finished: the client left", 1)
		m, status, said := measured(t, "server", "127.0.0.1", "--duration", "500ms", "--warmup", "200ms", "--rate-cap",
			"50mbit", "--direction", "both")
		if (status != ExitOK && status != ExitDoubt) || len(m.Flows) != 2 || !m.Flows[0].Alive || !m.Flows[1].Alive {
			t.Fatalf("afterwards: exit status %d, %q\n%s", status, said, s.log())
		}
		select {
		case <-s.over:
			t.Fatalf("the server ended:\n%s", s.log())
		default:
		}
		if err := syscall.Kill(s.Process.Pid, 0); errors.Is(err, os.ErrProcessDone) {
			t.Fatal("the server is gone")
		}
	})
}
