package cli

import (
	"bytes"
	"errors"
	"fmt"
	"io"
	"net"
	"os"
	"runtime"
	"strings"
	"syscall"
	"testing"
	"testing/synctest"
	"time"

	"linerate/internal/bus/greeting"
	"linerate/internal/host/agent"
	"linerate/internal/host/serve"
)

// TestSessionLog: the log says why there was no test, also where the client was refused
// and left. Its fields are one blank apart, as where a narrow terminal has them filled.
func TestSessionLog(t *testing.T) {
	for want, session := range map[string]serve.Session{
		" no test: the client left without asking for one, as it does if that exceeds the bounds\n": {},
		" test not finished: the client left\n": {
			Summary: agent.Summary{Asked: true}},
		" test not finished: the server was stopped\n": {
			Summary: agent.Summary{Asked: true}, Err: errors.New("the server was stopped")},
		" left without asking for one, as it does if that exceeds the bounds\n": {
			Err: fmt.Errorf("joining the bus: %w", io.EOF)},
		" no test: the server was stopped\n": {
			Err: errors.New("the server was stopped")},
		" refused: flow \"a\": congestion control \"bbrr\", the server has reno, and the like of other flows\n": {
			Summary: agent.Summary{Refused: errors.New(
				"flow \"a\": congestion control \"bbrr\", the server has reno\nflow \"b\": the same")},
		},
	} {
		var b strings.Builder
		(&sessionLog{w: &b}).line(session)
		if !strings.HasSuffix(b.String(), want) || strings.Contains(b.String(), "  ") {
			t.Errorf("%q, want %q", b.String(), want)
		}
	}
}

// TestUntestedSessions: sessions without a test are a line a second, whatever ended them;
// each with one is a line.
func TestUntestedSessions(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		var b strings.Builder
		l := sessionLog{w: &b}
		for i := range 100 {
			l.line([]serve.Session{{}, {Program: "iperf3"}, {Err: greeting.Refused{Reason: "full"}},
				{Summary: agent.Summary{Asked: true}}}[i%4])
		}
		if n := strings.Count(b.String(), "\n"); n != 1 {
			t.Errorf("%d lines of 100 sessions, want 1:\n%s", n, b.String())
		}
		b.Reset()
		for range 3 {
			l.line(serve.Session{Summary: agent.Summary{Windows: 1, WindowS: 1}})
		}
		if n := strings.Count(b.String(), "\n"); n != 3 {
			t.Errorf("%d lines of 3 tests:\n%s", n, b.String())
		}
		b.Reset()
		time.Sleep(untestedInterval)
		l.line(serve.Session{})
		if !strings.HasSuffix(b.String(), " (and 99 more without a test)\n") {
			t.Errorf("%q", b.String())
		}
	})
}

// TestOccupant: another server on the port is named; a listener that says something else, or
// nothing to the end, is named as its process is.
func TestOccupant(t *testing.T) {
	name, err := os.ReadFile("/proc/self/comm")
	if err != nil {
		t.Fatal(err)
	}
	another := fmt.Sprintf("%s, pid %d, of user ", bytes.TrimSpace(name), os.Getpid())
	for want, answer := range map[string]func(net.Conn){
		fmt.Sprintf("another linerate serve, pid %d, of user ", os.Getpid()): func(c net.Conn) {
			_, _, _ = greeting.Server{Name: "x"}.Receive(c)
		},
		another: func(c net.Conn) {
			for _, err := c.Write([]byte("l")); err == nil; _, err = c.Write([]byte("l")) {
			}
		},
		another + " silent": func(c net.Conn) { _, _ = io.Copy(io.Discard, c) },
	} {
		l, port := listening(t)
		go func() {
			c, err := l.Accept()
			if err == nil {
				answer(c)
				c.Close()
			}
		}()
		taken := &net.OpError{Op: "listen", Net: "tcp", Err: os.NewSyscallError("bind", syscall.EADDRINUSE)}
		err := cannotListen(t.Context(), taken, "127.0.0.1:"+port, "--listen", 1)
		if want := "port " + port + " is in use by " + strings.TrimSuffix(want, " silent"); !strings.HasPrefix(
			err.Error(), want) {
			t.Errorf("%v, want %q", err, want)
		}
		l.Close()
	}
}

// TestCannotListen: what cannot be listened on is named with its reason and the ways to listen.
func TestCannotListen(t *testing.T) {
	denied := &net.OpError{Op: "listen", Net: "tcp", Err: os.NewSyscallError("bind", syscall.EACCES)}
	for flag, want := range map[string]string{"--listen": "--listen :5202", "--iperf3": "--iperf3 :5201"} {
		if err := cannotListen(t.Context(), denied, ":80", flag, 1); !strings.Contains(err.Error(),
			"ip_unprivileged_port_start (by default 1024) need root or CAP_NET_BIND_SERVICE; another port: "+want) {
			t.Errorf("%v", err)
		}
	}
	taken := &net.OpError{Op: "listen", Net: "tcp", Err: os.NewSyscallError("bind", syscall.EADDRINUSE)}
	l, port := listening(t)
	defer l.Close()
	if err := cannotListen(t.Context(), taken, "127.0.0.1:"+port, "--listen", 4); !strings.Contains(err.Error(),
		"another port: --listen :") {
		t.Errorf("of four addresses: %v", err)
	}
	foreign := &net.OpError{Op: "listen", Net: "tcp", Err: os.NewSyscallError("bind", syscall.EADDRNOTAVAIL)}
	if err := cannotListen(t.Context(), foreign, "10.99.9.9:5202", "--listen", 1); !strings.Contains(err.Error(),
		"--listen 10.99.9.9:5202: no interface of this host has the address 10.99.9.9") {
		t.Errorf("%v", err)
	}
	if err := cannotListen(t.Context(), denied, ":5202", "--listen", 1); strings.Contains(err.Error(),
		"CAP_NET_BIND_SERVICE") {
		t.Errorf("%v", err)
	}
}

// TestLogWriter: a log that is not read does not delay its writers; how many messages it lost is logged
// when it is read again.
func TestLogWriter(t *testing.T) {
	r, w := io.Pipe()
	l := newLogWriter(w)
	say(l, "line\n")
	for len(l.messages) > 0 { // until the write that is not read has begun
		runtime.Gosched()
	}
	const lost = 3
	for range logQueue + lost {
		say(l, "line\n")
	}
	read := make(chan []byte)
	go func() {
		b, _ := io.ReadAll(r)
		read <- b
	}()
	l.close()
	<-l.written      // whatever the machine does meanwhile
	say(l, "line\n") // of a session that goes on
	w.Close()
	text := string(<-read)
	want := "line\n" + "3 messages not logged: the log was not read\n" + strings.Repeat("line\n", logQueue)
	if text != want {
		t.Errorf("%d bytes, want %d: %.200q", len(text), len(want), text)
	}
}
