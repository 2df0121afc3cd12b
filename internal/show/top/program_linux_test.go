package top

import (
	"bufio"
	"context"
	"errors"
	"io"
	"strings"
	"sync"
	"testing"
	"time"

	"golang.org/x/sys/unix"

	"linerate/internal/kernel/file"
	"linerate/internal/model/record"
)

// script is a source that gives samples, and then does what it is to do.
type script struct {
	samples []record.HostSample
	then    func(context.Context) error
}

func (*script) Name() string { return "nas" }

func (s *script) Next(ctx context.Context) (record.HostSample, error) {
	if len(s.samples) == 0 {
		return record.HostSample{}, s.then(ctx)
	}
	next := s.samples[0]
	s.samples = s.samples[1:]
	return next, nil
}

// shownBy is what Run writes to a terminal of its own, whose modes it has to restore. The
// terminal is not closed: after a panic bubbletea may still be reading it.
func shownBy(t *testing.T, ctx context.Context, s *script, keys string) (shown string, err error) {
	t.Helper()
	controller, terminal, err := file.OpenPTY()
	if err != nil {
		t.Fatal(err)
	}
	defer controller.Close()
	if err := unix.IoctlSetWinsize(int(terminal.Fd()), unix.TIOCSWINSZ, &unix.Winsize{Row: 24, Col: 80}); err != nil {
		t.Fatal(err)
	}
	before, err := unix.IoctlGetTermios(int(terminal.Fd()), unix.TCGETS)
	if err != nil {
		t.Fatal(err)
	}
	var reading sync.WaitGroup
	reading.Go(func() { shown, _ = bufio.NewReader(controller).ReadString(0) })
	if keys != "" {
		if _, err := controller.WriteString(keys); err != nil {
			t.Fatal(err)
		}
	}
	err = Run(ctx, Model{}, terminal, terminal, []Source{s})
	after, stateErr := unix.IoctlGetTermios(int(terminal.Fd()), unix.TCGETS)
	if stateErr != nil || *after != *before {
		t.Errorf("modes of the terminal: %+v, before %+v (%v)", after, before, stateErr)
	}
	if _, err := terminal.Write([]byte{0}); err != nil {
		t.Fatal(err)
	}
	reading.Wait()
	if strings.LastIndex(shown, "\x1b[?1049h") > strings.LastIndex(shown, "\x1b[?1049l") ||
		!strings.Contains(shown, "\x1b[?1049h") {
		t.Errorf("the alternate screen was not entered and left: %q", shown)
	}
	return shown, err
}

func waits(ctx context.Context) error { <-ctx.Done(); return ctx.Err() }

// TestRunRestoresTheTerminal: after the end of its context, and a key.
func TestRunRestoresTheTerminal(t *testing.T) {
	samples := []record.HostSample{sample("nas", 0), sample("nas", 1)}
	ctx, cancel := context.WithTimeout(t.Context(), time.Second)
	defer cancel()
	shown, err := shownBy(t, ctx, &script{samples, waits}, "")
	if err != nil || !strings.Contains(shown, "9.415G") || !strings.Contains(shown, "14:02:01") {
		t.Errorf("%v: %q", err, shown)
	}
	if _, err := shownBy(t, t.Context(), &script{samples, waits}, "q"); err != nil {
		t.Error(err)
	}
}

// TestRunGoesOn: a source that fails is said on the screen, and the end of a recording, too.
func TestRunGoesOn(t *testing.T) {
	for says, then := range map[string]error{"no route to it": errors.New("no route to it"),
		"end of the recording": io.EOF} {
		ctx, cancel := context.WithTimeout(t.Context(), time.Second)
		defer cancel()
		shown, err := shownBy(t, ctx, &script{[]record.HostSample{sample("nas", 0)}, func(context.Context) error {
			return then
		}}, "")
		if err != nil || !strings.Contains(shown, says) {
			t.Errorf("%v: %q is not in %q", err, says, shown)
		}
	}
}
