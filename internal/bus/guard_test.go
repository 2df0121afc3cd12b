package bus

import (
	"bytes"
	"context"
	"errors"
	"io"
	"net"
	"strings"
	"testing"
	"testing/iotest"
	"time"

	"linerate/internal/model/message"
)

// fixed is a stream from which a text comes.
type fixed struct {
	net.Conn
	io.Reader
}

func (f fixed) Read(p []byte) (int, error) { return f.Reader.Read(p) }

func TestGuarded(t *testing.T) {
	for _, test := range []struct{ name, text, passes, err string }{
		{"what servers say", "INFO {}\r\nPING\r\n+OK\r\nMSG a 1 5\r\nhello\r\nMSG a 1 r 0\r\n\r\n", "", ""},
		{"a message like a line", "MSG a 1 6\r\nMSG x\n\r\nPONG\r\n", "", ""},
		{"too large", "PING\r\nMSG a 1 101\r\n", "PING\r\n", "a message of 101 bytes: expected at most 100"},
		{"far too large", "MSG a 1 99999999999999999999\r\n", "", "expected a message"},
		{"negative", "MSG a 1 -5\r\n", "", "expected a message"},
		{"another spelling", "MSG a 1 +5\r\n", "", "expected a message"},
		{"words between tabs", "MSG\ta\t1\t5\r\n", "", "an unfinished line"},
		{"two sizes", "MSG a  1 2 3\r\n", "", "expected a message"},
		{"headers", "HMSG a 1 2 3\r\n", "", "expected a message"},
		{"what clients say", "PUB a 5\r\nhello\r\n", "", "expected a message"},
		{"no end", strings.Repeat("x", 20000), "", "a line of more than"},
		{"half an end", "PING\n", "", "an unfinished line"},
	} {
		t.Run(test.name, func(t *testing.T) {
			if test.err == "" {
				test.passes = test.text
			}
			for _, slow := range []bool{false, true} {
				var from io.Reader = strings.NewReader(test.text)
				if slow {
					from = iotest.OneByteReader(from)
				}
				got, err := io.ReadAll(Guarded(fixed{Reader: from}, 100))
				if string(got) != test.passes {
					t.Errorf("passed on %q, want %q", got, test.passes)
				}
				if (err == nil) != (test.err == "") || err != nil && !strings.Contains(err.Error(), test.err) {
					t.Errorf("%v, want %q", err, test.err)
				}
			}
		})
	}
}

// FuzzGuarded: what is passed on is the beginning of what came, unchanged, and no
// message in it is larger than allowed.
func FuzzGuarded(f *testing.F) {
	f.Add([]byte("INFO {}\r\nMSG a 1 5\r\nhello\r\nPING\r\n"))
	f.Add([]byte("MSG a 1 r 100\r\n"))
	f.Add([]byte("MSG a 1 2\r\n\r\nMSG"))
	f.Fuzz(func(t *testing.T, data []byte) {
		const most = 50
		got, _ := io.ReadAll(Guarded(fixed{Reader: bytes.NewReader(data)}, most))
		if !bytes.HasPrefix(data, got) {
			t.Fatalf("%q became %q", data, got)
		}
		for len(got) > 0 {
			line, rest, whole := bytes.Cut(got, []byte("\r\n"))
			if !whole {
				t.Fatalf("passed on an unfinished line %q", got)
			}
			got = rest
			if bytes.HasPrefix(line, []byte("MSG ")) {
				n, err := bodyLength(append(line, "\r\n"...), most)
				if err != nil || n > most+2 {
					t.Fatalf("passed on %q: %d, %v", line, n, err)
				}
				got = got[min(n, len(got)):]
			}
		}
	})
}

// TestGuardedAgent: a conductor that claims a message of a terabyte is left; one
// that keeps to the bounds is answered.
func TestGuardedAgent(t *testing.T) {
	near, far := net.Pipe()
	b, _ := pair(t, near, Guarded(far, 4096))
	var got greeting
	if err := b.ask(t.Context(), "h1", "echo", greeting{"hello"}, &got); err != nil || got.Text != "hello" {
		t.Fatalf("%v, %+v", err, got)
	}
	err := b.ask(t.Context(), "h1", "echo", greeting{strings.Repeat("x", 5000)}, nil)
	if !errors.Is(err, message.Gone) {
		t.Errorf("a message beyond the bound: %v, want that the agent is gone", err)
	}

	near, far = net.Pipe()
	go func() {
		_, _ = io.WriteString(near, `INFO {"max_payload":1099511627776,"proto":1}`+"\r\n")
		go func() { _, _ = io.WriteString(near, "PONG\r\nMSG linerate.agent.h1.x 1 1099511627776\r\nxxxx") }()
		_, _ = io.Copy(io.Discard, near)
	}()
	agent, err := Join("h1", Guarded(far, 4096), Silence)
	if err != nil {
		t.Fatal(err)
	}
	defer agent.Close()
	select {
	case <-agent.Done():
	case <-time.After(20 * time.Second):
		t.Fatal("the agent waits for a terabyte")
	}
}

// TestBoundedNode: a node that is not trusted ends its stream by more operations than it has
// been asked for, and by what an agent does not send; the replies to requests are not among
// the former.
func TestBoundedNode(t *testing.T) {
	for name, text := range map[string]string{
		"subscriptions": strings.Repeat("SUB linerate.agent.h1.x 1\r\n", 10_000),
		"announcements": strings.Repeat("PUB linerate.hello.h1 2\r\n{}\r\n", 10_000),
		"pings":         strings.Repeat("PING\r\n", 10_000),
		"no operation":  "UNSUB 1\r\n",
		"half a line":   "PING\n",
	} {
		t.Run(name, func(t *testing.T) {
			b, err := Start()
			if err != nil {
				t.Fatal(err)
			}
			t.Cleanup(b.Close)
			b.Bound("h1", 4096)
			near, far := net.Pipe()
			b.Attach("h1", near)
			go func() { _, _ = io.Copy(io.Discard, far) }()
			go func() { _, _ = io.WriteString(far, "CONNECT {}\r\nPING\r\n"+text) }()
			select {
			case <-b.Lost("h1"):
			case <-time.After(20 * time.Second):
				t.Fatal("the stream goes on")
			}
		})
	}
	near, far := net.Pipe()
	b, err := Start()
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(b.Close)
	b.Bound("h1", 4096)
	b.Attach("h1", near)
	agent, err := Join("h1", far, Silence)
	if err != nil {
		t.Fatal(err)
	}
	nothing := func(context.Context, []byte) (any, error) { return nil, nil }
	if err := agent.Serve(t.Context(), handlings(map[string]Handler{"mark": nothing}), Gate{}); err != nil {
		t.Fatal(err)
	}
	for range 2 * unasked {
		if err := b.ask(t.Context(), "h1", "mark", nil, nil); err != nil {
			t.Fatal(err)
		}
	}
}

// TestSecondLine: what follows CONNECT has no body, in which operations could be.
func TestSecondLine(t *testing.T) {
	known := NewAccounts()
	if _, _, err := known.greeting("h1",
		strings.NewReader("CONNECT {}\r\nPUB linerate.hello.h1 1000\r\n")); err == nil {
		t.Error("a message is taken for the end of the greeting")
	}
}

// TestAskedWithoutEnd: requests whose answers are not awaited cost no more than those
// that are answered at once and those that wait.
func TestAskedWithoutEnd(t *testing.T) {
	near, far := net.Pipe()
	b, err := Start()
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(b.Close)
	b.Attach("h1", near)
	agent, err := Join("h1", far, Silence)
	if err != nil {
		t.Fatal(err)
	}
	began, release := make(chan struct{}, 1000), make(chan struct{})
	err = agent.Serve(t.Context(), handlings(map[string]Handler{
		"slow": func(context.Context, []byte) (any, error) { began <- struct{}{}; <-release; return nil, nil },
		"mark": func(context.Context, []byte) (any, error) { return nil, nil },
	}), Gate{})
	if err != nil {
		t.Fatal(err)
	}
	for range 500 {
		if err := b.conn.Publish(subject("h1", "slow"), nil); err != nil {
			t.Fatal(err)
		}
	}
	ctx, cancel := context.WithTimeout(t.Context(), 30*time.Second)
	defer cancel()
	if err := b.ask(ctx, "h1", "mark", nil, nil); err != nil {
		t.Fatal(err) // it came after all of them
	}
	for until := time.Now().Add(10 * time.Second); len(began) < maxConcurrent && time.Now().Before(until); {
		time.Sleep(time.Millisecond)
	}
	close(release)
	time.Sleep(100 * time.Millisecond)
	if n := len(began); n != maxConcurrent {
		t.Errorf("%d of 500 requests were handled, want %d, and the others refused", n, maxConcurrent)
	}
}
