package cli

import (
	"context"
	"errors"
	"io"
	"net"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"linerate/internal/bus"
	"linerate/internal/bus/greeting"
	"linerate/internal/kernel/file"
	"linerate/internal/kernel/kerneltest"
	"linerate/internal/model/message"
	"linerate/internal/model/plain"
	"linerate/internal/model/record"
)

// TestFilesDoNotActOnTheTerminal: a file that is printed as it is, is so in a pipe alone.
func TestFilesDoNotActOnTheTerminal(t *testing.T) {
	path := filepath.Join(t.TempDir(), "evil.yaml")
	const text = "# a comment \x1b]0;owned\x07 and \u009b2J\nstudy: evil\n"
	if err := os.WriteFile(path, []byte(text), 0o600); err != nil {
		t.Fatal(err)
	}
	controller, terminal, err := file.OpenPTY()
	if err != nil {
		t.Fatal(err)
	}
	defer controller.Close()
	shown := make(chan string)
	go func() {
		all, _ := io.ReadAll(controller) // EIO once the terminal is closed
		shown <- string(all)
	}()
	status := Main([]string{"show", path}, strings.NewReader(""), terminal, io.Discard)
	terminal.Close()
	got := strings.ReplaceAll(<-shown, "\r\n", "\n")
	if want := plain.Text(text); status != ExitOK || got != want {
		t.Errorf("status %d, on the terminal: %q, want %q", status, got, want)
	}
	var pipe strings.Builder
	if Main([]string{"show", path}, strings.NewReader(""), &pipe, io.Discard); pipe.String() != text {
		t.Errorf("in a pipe: %q, want the file", pipe.String())
	}
}

// TestServersDoNotActOnTheTerminal: what a server says is shown, and does not act.
func TestServersDoNotActOnTheTerminal(t *testing.T) {
	kerneltest.Parallel(t)
	const evil = "no\x1b]0;owned\x07\x1b[2J\u009b31m\rhidden\u202e"
	l, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	defer l.Close()
	closed := make(chan string, 1) // why the next client is refused; empty: it is not
	go func() {
		for {
			conn, err := l.Accept()
			if err != nil {
				return
			}
			server := greeting.Server{Name: "rogue", Closed: <-closed}
			peer, welcome, err := server.Receive(conn)
			if err != nil || !peer.Cookie.IsZero() || welcome() != nil {
				conn.Close()
				continue
			}
			c, err := bus.Join(record.NodeServer, conn, bus.Silence)
			if err != nil {
				continue
			}
			refuse := bus.Handle(message.Listen, func(context.Context, []message.FlowRequest) ([]message.Listening,
				error) {
				return nil, errors.New(evil)
			})
			_ = errors.Join(c.Serve(t.Context(), []bus.Handling{refuse}, bus.Gate{}),
				c.Announce(message.Hello{Node: record.NodeServer, Version: evil}))
		}
	}()
	for _, why := range []string{evil, ""} {
		closed <- why
		ctx, cancel := context.WithTimeout(t.Context(), time.Minute)
		defer cancel()
		status, said := statusOf(t, command(t, ctx, t.TempDir(), "measure", l.Addr().String(), "--no-save", "--quiet"))
		if status != ExitFailed || !strings.Contains(said, "owned") || plain.Text(said) != said {
			t.Errorf("refused for %q: status %d, %q", why, status, said)
		}
	}
}
