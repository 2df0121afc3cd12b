package cli

import (
	"errors"
	"net"
	"os"
	"strings"
	"syscall"
	"testing"

	"linerate/internal/host/agent"
	"linerate/internal/host/serve"
)

// TestSessionLog: the log says why there was no test, also where the client was refused
// and left.
func TestSessionLog(t *testing.T) {
	for want, session := range map[string]serve.Session{
		"  no test: the client left before its test was over\n": {},
		"  no test: the server was stopped\n":                   {Err: errors.New("the server was stopped")},
		"  refused: flow \"a\": congestion control \"bbrr\", the server has reno, and the like of other flows\n": {
			Summary: agent.Summary{Refused: errors.New("flow \"a\": congestion control \"bbrr\", the server has reno\nflow \"b\": the same")},
		},
	} {
		var b strings.Builder
		(&sessionLog{w: &b}).line(session)
		if !strings.HasSuffix(b.String(), want) {
			t.Errorf("%q, want %q", b.String(), want)
		}
	}
}

// TestPrivilegedPort: without the privilege for a port below 1024, the error names the ways to listen.
func TestPrivilegedPort(t *testing.T) {
	denied := &net.OpError{Op: "listen", Net: "tcp", Err: os.NewSyscallError("bind", syscall.EACCES)}
	for flag, want := range map[string]string{"--listen": "--listen :5202", "--iperf3": "--iperf3 :5201"} {
		if err := inUse(denied, ":80", flag); !strings.Contains(err.Error(), "CAP_NET_BIND_SERVICE; another port: "+want) {
			t.Errorf("%v", err)
		}
	}
	if err := inUse(denied, ":5202", "--listen"); strings.Contains(err.Error(), "CAP_NET_BIND_SERVICE") {
		t.Errorf("%v", err)
	}
}
