package application_test

import (
	"fmt"
	"net"
	"net/netip"
	"os/exec"
	"testing"
	"time"

	"linerate/internal/kernel/kerneltest"
	"linerate/internal/model/flow"
)

// TestRealServers: Redis and memcached themselves answer, on loops and in sessions.
func TestRealServers(t *testing.T) {
	t.Parallel()
	for name, command := range map[string]func(port int) []string{
		flow.Redis: func(port int) []string {
			return []string{"redis-server", "--port", fmt.Sprint(port), "--bind", "127.0.0.1", "--save", "", "--dir",
				t.TempDir()}
		},
		flow.Memcached: func(port int) []string {
			return []string{"memcached", "-l", "127.0.0.1", "-p", fmt.Sprint(port), "-U", "0", "-u", "nobody"}
		},
	} {
		l, err := net.Listen("tcp", "127.0.0.1:0")
		if err != nil {
			t.Fatal(err)
		}
		to := addressOf(t, l.Addr().String())
		l.Close()
		args := command(int(to.Port()))
		path, err := exec.LookPath(args[0])
		if err != nil {
			kerneltest.Skip(t, err.Error())
		}
		server := exec.CommandContext(t.Context(), path, args[1:]...)
		if err := server.Start(); err != nil {
			t.Fatal(err)
		}
		t.Cleanup(func() { _ = server.Process.Kill(); _ = server.Wait() })
		kerneltest.Await(t, name+" answers", func() bool {
			c, err := net.Dial("tcp", to.String())
			if err == nil {
				c.Close()
			}
			return err == nil
		})
		for _, c := range []struct {
			spec flow.Spec
			want string
		}{
			{flow.Spec{Pipeline: 8, Connections: 3, Threads: 2}, map[string]string{flow.Redis: "PONG",
				flow.Memcached: "miss"}[name]},
			{flow.Spec{Path: "/key", PerConnection: 5}, map[string]string{flow.Redis: "nil",
				flow.Memcached: "miss"}[name]},
		} {
			c.spec.Protocol = name
			one(t, c.spec, to, c.want)
		}
	}
}

// one makes the transactions of a flow, all of which have the same outcome.
func one(t *testing.T, spec flow.Spec, to netip.AddrPort, want string) {
	t.Helper()
	x := served(t, spec, to, 300*time.Millisecond)
	if x.Failed+x.Unanswered+x.Application.Errors != 0 || x.Done < 20 || len(x.Application.Outcomes) != 1 ||
		x.Application.Outcomes[want] == 0 {
		t.Errorf("%s: %+v %v, want %s", spec.Protocol, x, x.Application.Outcomes, want)
	}
}
