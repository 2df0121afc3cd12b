package bus

import (
	"context"
	"encoding/json"
	"errors"
	"io"
	"net"
	"os"
	"strings"
	"testing"
	"time"
)

type greeting struct {
	Text string `json:"text"`
}

// pair starts a bus with one agent over the given two ends of a stream.
func pair(t *testing.T, near, far io.ReadWriteCloser) (*Bus, *Conn) {
	t.Helper()
	b, err := Start()
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(b.Close)
	arrived := make(chan string, 1)
	if err := b.Hellos(func(data []byte) { arrived <- string(data) }); err != nil {
		t.Fatal(err)
	}
	if err := b.Attach("h1", near); err != nil {
		t.Fatal(err)
	}
	c, err := Join("h1", far)
	if err != nil {
		t.Fatal(err)
	}
	err = c.Serve(t.Context(), "h1", map[string]Handler{
		"echo": func(_ context.Context, request []byte) (any, error) {
			var g greeting
			err := json.Unmarshal(request, &g)
			return g, err
		},
		"fail":  func(context.Context, []byte) (any, error) { return nil, errors.New("no such port: eth9") },
		"sleep": func(ctx context.Context, _ []byte) (any, error) { <-ctx.Done(); return nil, ctx.Err() },
	})
	if err != nil {
		t.Fatal(err)
	}
	if err := c.Announce(greeting{"here"}); err != nil {
		t.Fatal(err)
	}
	select {
	case data := <-arrived:
		if !strings.Contains(data, "here") {
			t.Fatalf("announcement %q", data)
		}
	case <-time.After(20 * time.Second):
		t.Fatal("no announcement")
	}
	return b, c
}

func TestCallOverSocketAndPipes(t *testing.T) {
	left, right := net.Pipe()
	inR, inW, _ := os.Pipe()
	outR, outW, _ := os.Pipe()
	for name, ends := range map[string][2]io.ReadWriteCloser{
		"socket": {left, right},
		"pipes":  {Pipes(outR, inW), Pipes(inR, outW)},
	} {
		t.Run(name, func(t *testing.T) {
			b, _ := pair(t, ends[0], ends[1])
			var got greeting
			big := strings.Repeat("x", 3<<20)
			if err := b.Call(t.Context(), "h1", "echo", greeting{big}, &got); err != nil || got.Text != big {
				t.Fatalf("echo of 3 MiB: %v, %d bytes", err, len(got.Text))
			}
			err := b.Call(t.Context(), "h1", "fail", nil, nil)
			if err == nil || err.Error() != "h1: no such port: eth9" {
				t.Fatalf("error reads %v", err)
			}
		})
	}
}

// A conductor must learn at once, and not by a timeout, that a host is gone.
func TestCallFailsWhenTheAgentGoes(t *testing.T) {
	left, right := net.Pipe()
	b, c := pair(t, left, right)
	result := make(chan error, 1)
	go func() { result <- b.Call(context.Background(), "h1", "sleep", nil, nil) }()
	time.Sleep(50 * time.Millisecond)
	right.Close()
	select {
	case err := <-result:
		if !errors.Is(err, errLost) {
			t.Fatalf("got %v", err)
		}
	case <-time.After(20 * time.Second):
		t.Fatal("the call still waits for an agent that is gone")
	}
	select {
	case <-c.Done():
	case <-time.After(20 * time.Second):
		t.Fatal("the agent did not notice that its stream ended")
	}
}
