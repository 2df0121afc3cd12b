//go:build linux

package foreign

import (
	"fmt"
	"net"
	"net/netip"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"linerate/internal/kernel/kerneltest"
	"linerate/internal/kernel/sched"
	"linerate/internal/model/flow"
	"linerate/internal/model/message"
)

// serving is a server in perl that reads what its clients send, each in a process of its
// own, and writes a byte.
const serving = `$l = IO::Socket::INET->new(Listen => 99, LocalAddr => "$$ADDRESS", LocalPort => $$PORT);
while ($c = $l->accept) { if (fork) { close $c; next } while (sysread $c, $b, 65536) {}; syswrite $c, "."; exit }`

func script(client, server string) flow.Tool {
	d := flow.Tool{Client: []string{"bash", "-c", client}}
	if server != "" {
		text := strings.ReplaceAll(strings.ReplaceAll(strings.ReplaceAll(server, "$$", "\x00"), "$", "$$"), "\x00", "$")
		d.Server = []string{"perl", "-MIO::Socket::INET", "-e", text}
	}
	return d
}

func describedRequest(id string, tool flow.Tool) message.FlowRequest {
	return message.FlowRequest{ID: id, Sends: true, Process: "p" + id, Spec: flow.Spec{Tool: tool}}
}

// TestConnectionsTogether: of a program that opens one connection after another, and of one
// that has several at once, both hosts count all that was carried, to the byte: neither a
// connection that has ended nor one that no reading has seen is missed or counted twice.
func TestConnectionsTogether(t *testing.T) {
	needs(t, "perl", "bash")
	kerneltest.InNamespace(t, func(t *testing.T) {
		kerneltest.Do(t, "ip", "link", "set", "lo", "up")
		const rounds, bytes = 40, 100_000
		send := fmt.Sprintf("exec 3<>/dev/tcp/$ADDRESS/$PORT; head -c %d /dev/zero >&3; exec 3>&-", bytes)
		requests := []message.FlowRequest{
			describedRequest("a", script(fmt.Sprintf("for i in $$(seq %d); do ( %s ); done; : $SECONDS; sleep 600",
				rounds, send), serving)),
			describedRequest("b", script(
				fmt.Sprintf("for i in $$(seq %d); do ( %s; sleep 600 ) & done; : $SECONDS; wait", rounds,
					strings.TrimSuffix(send, "; exec 3>&-")), serving)),
		}
		opener, acceptor := opened(t, requests...)
		now := sched.Now()
		w := message.WindowRequest{StartNs: now, StopNs: now + 60e9}
		opener.Start(w)
		acceptor.Start(w)
		var near, far []message.FlowEnd
		var latest [2]int64
		for deadline := time.Now().Add(patience); time.Now().Before(deadline); time.Sleep(5 * time.Millisecond) {
			near, far = opener.Read(), acceptor.Read()
			done := true
			for i := range far {
				if far[i].ReceivedBytes < latest[i] {
					t.Errorf("%s: the count fell from %d to %d", far[i].ID, latest[i], far[i].ReceivedBytes)
				}
				latest[i] = far[i].ReceivedBytes
				done = done && far[i].ReceivedBytes >= rounds*bytes && near[i].WrittenBytes >= rounds*bytes
			}
			if done {
				break
			}
		}
		for i := range near {
			// Each connection that has ended has a FIN each way, which counts as a byte.
			if got := far[i].ReceivedBytes; got < rounds*bytes || got > rounds*(bytes+1) {
				t.Errorf("%s: received %d bytes of %d", far[i].ID, got, rounds*bytes)
			}
			if got := near[i].WrittenBytes; got < rounds*bytes || got > rounds*(bytes+1) {
				t.Errorf("%s: wrote %d bytes of %d", near[i].ID, got, rounds*bytes)
			}
			if !near[i].Alive || !far[i].Alive || near[i].Local.Port() != 0 {
				t.Errorf("%s:\nopener   %+v\nacceptor %+v", near[i].ID, near[i], far[i])
			}
		}
	})
}

// TestClientWithoutDuration: it is interrupted at the trial's stop, whether it heeds SIGINT
// or not, which is not an error; one whose words have a duration is left alone.
func TestClientWithoutDuration(t *testing.T) {
	needs(t, "perl", "bash")
	kerneltest.InNamespace(t, func(t *testing.T) {
		kerneltest.Do(t, "ip", "link", "set", "lo", "up")
		requests := []message.FlowRequest{
			describedRequest("heeds",
				script("trap 'echo figure 7; exit 3' INT; while :; do sleep 0.01; done", serving)),
			describedRequest("ignores", script("trap '' INT; echo figure 8; while :; do sleep 0.01; done", serving)),
			describedRequest("timed", script("sleep 0.$SECONDS; sleep 2; echo figure 9", serving)),
		}
		opener, _ := opened(t, requests...)
		now := sched.Now()
		opener.Start(message.WindowRequest{StartNs: now, StopNs: now + 500e6})
		for i, p := range opener.Printed(t.Context(), message.ToolsRequest{TimeoutNs: int64(patience)}) {
			took := time.Duration(p.EndNs - p.StartNs)
			if p.EndNs == 0 || !strings.Contains(p.Text, fmt.Sprintf("figure %d", 7+i)) {
				t.Errorf("%s: ended %d, printed %q", p.Process, p.EndNs, p.Text)
			}
			if (took > 2*time.Second) != (p.Process == "ptimed") {
				t.Errorf("%s took %v", p.Process, took)
			}
		}
	})
}

// TestFixedPort: something else listens, and what is there before the program does not
// count; where nothing listens, that is said.
func TestFixedPort(t *testing.T) {
	needs(t, "bash")
	kerneltest.InNamespace(t, func(t *testing.T) {
		kerneltest.Do(t, "ip", "link", "set", "lo", "up")
		l, err := net.Listen("tcp", "127.0.0.1:7022")
		if err != nil {
			t.Fatal(err)
		}
		go func() {
			for {
				c, err := l.Accept()
				if err != nil {
					return
				}
				go func() {
					defer c.Close()
					for b := make([]byte, 1<<16); ; {
						if _, err := c.Read(b); err != nil {
							return
						}
					}
				}()
			}
		}()
		other, err := net.Dial("tcp", "127.0.0.1:7022")
		if err != nil {
			t.Fatal(err)
		}
		defer other.Close()
		tool := script("exec 3<>/dev/tcp/$ADDRESS/$PORT; head -c 50000 /dev/zero >&3; sleep 600", "")
		tool.Port = 7022
		opener, acceptor := opened(t, describedRequest("a", tool))
		now := sched.Now()
		opener.Start(message.WindowRequest{StartNs: now, StopNs: now + 60e9})
		var far message.FlowEnd
		for deadline := time.Now().Add(patience); far.ReceivedBytes < 50_000 &&
			time.Now().Before(deadline); time.Sleep(5 * time.Millisecond) {
			if _, err := other.Write(make([]byte, 1000)); err != nil {
				t.Fatal(err)
			}
			far = acceptor.Read()[0]
		}
		if near := opener.Read()[0]; far.ReceivedBytes != 50_000 || near.WrittenBytes != 50_000 || !far.Alive ||
			near.Info == nil || near.Local != far.Remote {
			t.Errorf("opener   %+v\nacceptor %+v", near, far)
		}
		l.Close()
		other.Close()
		e := New()
		defer e.Close()
		tool.Port = 7023
		request := describedRequest("b", tool)
		request.Local, request.Sends = far.Local.Addr(), false
		if l := e.Listen(t.Context(), []message.FlowRequest{request})[0]; l.Error == nil ||
			!strings.Contains(l.Error.Error(), "nothing listens on 127.0.0.1:7023") {
			t.Errorf("%+v", l)
		}
	})
}

// TestDescribedEndsWithItsAgent: what a described program has started ends with an agent
// that is killed, also where it has left the program's group and session.
func TestDescribedEndsWithItsAgent(t *testing.T) {
	needs(t, "bash", "setsid")
	const mark = "98765.4" // by which these processes are known
	if os.Getenv(asAgent) != "" {
		e := New()
		tool := script("setsid sleep "+mark+" & setsid bash -c 'sleep "+mark+" & wait' & wait", "")
		tool.Port = 9
		request := describedRequest("a", tool)
		request.Remote = netip.MustParseAddrPort("127.0.0.1:9")
		fmt.Println(e.Connect(t.Context(), []message.FlowRequest{request}, 0)[0].Error)
		e.Start(message.WindowRequest{StartNs: sched.Now(), StopNs: sched.Now() + 600e9})
		time.Sleep(10 * time.Minute)
	}
	sleeping := func() (n int) {
		files, _ := filepath.Glob("/proc/[0-9]*/cmdline")
		for _, file := range files {
			if words, _ := os.ReadFile(file); strings.HasPrefix(string(words), "sleep\x00"+mark) {
				n++
			}
		}
		return n
	}
	kerneltest.InNamespace(t, func(t *testing.T) {
		cmd := exec.Command(os.Args[0], "-test.run=^TestDescribedEndsWithItsAgent$")
		cmd.Env = append(os.Environ(), asAgent+"=1")
		if err := cmd.Start(); err != nil {
			t.Fatal(err)
		}
		deadline := time.Now().Add(patience)
		for sleeping() < 2 && time.Now().Before(deadline) {
			time.Sleep(10 * time.Millisecond)
		}
		there := sleeping()
		_ = cmd.Process.Kill()
		_ = cmd.Wait()
		if there != 2 {
			t.Errorf("%d processes of the program, want 2", there)
		}
		for deadline := time.Now().Add(patience); sleeping() > 0; time.Sleep(10 * time.Millisecond) {
			if time.Now().After(deadline) {
				t.Fatalf("%d processes are still there", sleeping())
			}
		}
	})
}
