//go:build linux

package program

import (
	"fmt"
	"net"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"linerate/internal/kernel/kerneltest"
	"linerate/internal/kernel/proc"
)

// outside opens Unix sockets that everybody may connect to, of each kind, in directories that programs see, and one in
// the abstract namespace. It returns their addresses by the network's name.
func outside(t *testing.T) map[string][]string {
	t.Helper()
	dirs := []string{}
	home, _ := os.UserHomeDir()
	for _, at := range []string{"/run", home, "/var/lib", "/opt"} {
		dir, err := os.MkdirTemp(at, "linerate-outside-")
		if err != nil {
			continue
		}
		t.Cleanup(func() { _ = os.RemoveAll(dir) })
		if err := os.Chmod(dir, 0o755); err != nil {
			t.Fatal(err)
		}
		dirs = append(dirs, dir)
	}
	if len(dirs) == 0 {
		kerneltest.Without(t, "a directory outside /tmp to make sockets in")
	}
	all := map[string][]string{}
	for _, network := range []string{"unix", "unixpacket", "unixgram"} {
		addresses := []string{fmt.Sprintf("@linerate-%s-%d", network, os.Getpid())}
		for _, dir := range dirs {
			addresses = append(addresses, filepath.Join(dir, network))
		}
		for _, address := range addresses {
			var socket interface{ Close() error }
			var err error
			if network == "unixgram" {
				socket, err = net.ListenPacket(network, address)
			} else {
				socket, err = net.Listen(network, address)
			}
			if err != nil {
				t.Fatal(err)
			}
			t.Cleanup(func() { socket.Close() })
			if address[0] != '@' {
				if err := os.Chmod(address, 0o777); err != nil {
					t.Fatal(err)
				}
			}
		}
		all[network] = addresses
	}
	return all
}

// kinds are the numbers of types of sockets.
var kinds = map[string]int{"unix": 1, "unixgram": 2, "unixpacket": 5}

// reaching is a script that prints reached for each Unix socket that a program can connect to.
func reaching(all map[string][]string, first string) (script string, sockets int) {
	text := first
	for network, addresses := range all {
		for _, address := range addresses {
			path := strings.ReplaceAll(fmt.Sprintf("%q", address), "@", `\0`)
			text += fmt.Sprintf("made(%d); connect(S, pack_sockaddr_un(%s)) and print \"reached \", %s, \"\\n\";\n",
				kinds[network], path, path)
			sockets++
		}
	}
	return "exec perl -MSocket -e '" + text + "'", sockets
}

// TestUnixSockets: a program reaches no Unix socket of others, also those that everybody may connect to, by none of the
// ways to get a socket; pairs, which stay with each other, and those of the network it has.
func TestUnixSockets(t *testing.T) {
	kerneltest.Needs(t, "perl")
	kerneltest.InNamespace(t, func(t *testing.T) {
		l := NewLauncher(proc.Needs{})
		defer l.Close()
		ways := map[string]string{
			"socket": "sub made { socket(S, AF_UNIX, $_[0], 0) }\n",
			"a pair": "sub made { socketpair(S, P, AF_UNIX, $_[0], 0); connect(S, pack(\"S\", 0)); }\n",
			"a pair without its peer": "sub made { socketpair(S, P, AF_UNIX, $_[0], 0); close P; connect(S, " +
				"pack(\"S\", 0)); }\n",
		}
		all := outside(t)
		for way, first := range ways {
			script, sockets := reaching(all, first)
			if got := said(t, l, script+" 2>&1"); strings.Contains(got, "reached") {
				t.Errorf("%s: %s", way, got)
			}
			if l.unconfined != nil {
				t.Fatalf("not confined: %v", l.unconfined)
			}
			if way != "socket" {
				continue
			}
			out := kerneltest.Do(t, "sh", "-c", script) // as everybody else
			if n := strings.Count(out, "reached"); n != sockets {
				t.Errorf("outside it reaches %d of %d:\n%s", n, sockets, out)
			}
		}
		if got := said(t, l, "perl -e '$b = \"\\0\" x 120; syscall(425, 8, $b) < 0 and print \"errno \", $!+0'"); got != "errno 38" {
			t.Errorf("io_uring_setup(2): %q", got)
		}
		if got := said(t, l, "perl -MSocket -e 'for (AF_INET, 16, 17) { socket(S, $_, $_ == 2 ? 1 : 3, 0) or print "+
			"\"no $_: $!\" }; socketpair(A, B, AF_UNIX, SOCK_STREAM, 0) or print \"no pair\"; syswrite A, \"x\"; "+
			"sysread B, $x, 1; print $x'"); got != "x" {
			t.Errorf("other sockets: %q", got)
		}
	})
}

// TestUnixSocketsOfItsOwn: a program that needs Unix sockets has its own, and reaches no other one by a path.
func TestUnixSocketsOfItsOwn(t *testing.T) {
	kerneltest.Needs(t, "perl")
	kerneltest.InNamespace(t, func(t *testing.T) {
		l := NewLauncher(proc.Needs{UnixSockets: "/usr/bin/perl"})
		defer l.Close()
		script, _ := reaching(outside(t), "sub made { socket(S, AF_UNIX, $_[0], 0) }\n")
		// Of those that are not named by a path, the network namespace decides (unix(7)).
		got := said(t, l, strings.ReplaceAll(script, `\0`, "/none/")+" 2>&1")
		if l.unconfined != nil {
			t.Fatalf("not confined: %v", l.unconfined)
		}
		if strings.Contains(got, "reached") {
			t.Errorf("it reaches sockets of others: %s", got)
		}
		if got := said(t, l, "perl -MIO::Socket::UNIX -e '$l = IO::Socket::UNIX->new(Listen => 1, Local => \"/tmp/s\"); "+
			"print IO::Socket::UNIX->new(Peer => \"/tmp/s\") ? \"own\" : $!'"); got != "own" {
			t.Errorf("its own: %q", got)
		}
	})
}

// BenchmarkSystemCalls: what the filter costs a program that makes nothing but system calls.
func BenchmarkSystemCalls(b *testing.B) {
	calls := fmt.Sprintf("exec dd if=/dev/zero of=/dev/null bs=1 count=%d", 200_000)
	for name, needs := range map[string]proc.Needs{"filter": {}, "none": {UnixSockets: "/bin/sh"}} {
		b.Run(name, func(b *testing.B) {
			l := NewLauncher(needs)
			defer l.Close()
			for b.Loop() {
				p, err := l.Start([]string{"sh", "-c", calls}, false)
				if err != nil {
					b.Fatal(err)
				}
				select {
				case <-p.Ended():
				case <-time.After(time.Minute):
					b.Fatal(p.Said())
				}
				b.ReportMetric(float64(p.cmd.ProcessState.SystemTime())/4e5, "ns/call")
			}
		})
	}
}
