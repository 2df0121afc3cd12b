package reach

import (
	"bufio"
	"bytes"
	"cmp"
	"compress/gzip"
	"context"
	"crypto/rand"
	_ "embed" // of carryScript
	"errors"
	"fmt"
	"io"
	"strings"
	"time"

	"linerate/internal/bus"
	"linerate/internal/model/hostconfig"
	"linerate/internal/model/message"
	"linerate/internal/model/plain"
	"linerate/internal/version"
)

// carryScript is a script for sh(1) that executes linerate's agent on a host that may not have it.
//
//go:embed carry.sh
var carryScript string

// Install says what becomes of linerate's agent on a host that does not have linerate of this version.
type Install string

const (
	Temporary Install = "temporary" // it is carried to the host, and nothing of it is left
	Keep      Install = "keep"      // it is carried, and stays in the user's cache for the next time
	Never     Install = "never"     // linerate must be on the PATH there
)

const (
	// mostBefore bounds what a login prints before the script does, in bytes.
	mostBefore = 64 << 10
	// slowest is how slow a connection may be that carries a program, in bytes per second.
	slowest = 100_000
)

// errNoShell means that the command executes no sh.
var errNoShell = errors.New("there is no sh, which brings linerate")

// carry has the command, which is sh -s, execute an agent with these words. It returns the agent's output. It calls
// sending before it sends a program, with the time that this may take. The error is errNoShell if nothing executed the
// script, and an *Error for what the script says.
func (c *command) carry(ctx context.Context, words []string, install Install, sending func(time.Duration)) (io.Reader,
	error) {
	stop := context.AfterFunc(ctx, func() {
		_ = c.out.SetReadDeadline(time.Now())
		_ = c.in.SetWriteDeadline(time.Now())
	})
	h := &heard{out: bufio.NewReaderSize(c.out, 4<<10), mark: rand.Text()}
	err := c.converse(h, words, install, sending)
	switch {
	case !stop():
		return nil, context.Cause(ctx)
	case err != nil && !h.any && c.noShell():
		return nil, errNoShell
	}
	if e, is := errors.AsType[*Error](err); is {
		e.Words = c.via
	}
	return h.out, err
}

// converse is the conductor's part of the script.
func (c *command) converse(h *heard, words []string, install Install, sending func(time.Duration)) error {
	go c.write(strings.NewReader(fmt.Sprintf("mark=%s version=%s install=%s\n%s\nmain %s\n", h.mark,
		hostconfig.Quote(version.String()), install, carryScript, hostconfig.Command(words...))))
	said, err := h.next("needs", 3)
	if err != nil || said == nil {
		return err
	}
	p, err := carriedFor(said[0], said[1])
	if err != nil {
		return err
	}
	body, sent := io.Reader(bytes.NewReader(p.packed)), len(p.packed)
	if said[2] != "gzip" {
		if body, err = gzip.NewReader(body); err != nil {
			return err
		}
		sent = p.size
	}
	go c.write(strings.NewReader(fmt.Sprintln(p.sum, p.size, sent)))
	if said, err = h.next("send", 0); err != nil || said == nil {
		return err
	}
	sending(time.Duration(sent) * time.Second / slowest)
	go c.write(body)
	if said, err = h.next("", 0); err == nil && said != nil {
		err = h.notTheScript()
	}
	return err
}

// write writes to the command. If the command does not read it, what it prints says more than the error.
func (c *command) write(from io.Reader) { _, _ = io.Copy(c.in, from) }

// heard reads what the script says.
type heard struct {
	out    *bufio.Reader
	mark   string // begins each line of the script
	any    bool   // there was a line of the script
	before int    // bytes that were not the script's
	first  string // line of these
}

// notTheScript is the error of a command that prints something else.
func (h *heard) notTheScript() error {
	return bus.Coded(message.Gone, fmt.Errorf("%w, but with %.60q", bus.ErrNotAnAgent, h.first))
}

// next reads the next line of the script, and returns its words behind the expected one: a number of them. They are
// nil if the script has started the agent instead, whose output follows.
func (h *heard) next(expected string, number int) ([]string, error) {
	said, err := h.line()
	if err != nil {
		return nil, err
	}
	h.any = true
	switch word, rest := said[0], said[1:]; {
	case word == "start":
		return nil, nil
	case word == "fail" && len(rest) > 0:
		if err := failure(rest); err != nil {
			return nil, err
		}
	case word == expected && len(rest) == number:
		return rest, nil
	}
	return nil, h.notTheScript()
}

// line returns the words of the next line of the script: at least one. What a login prints precedes it.
func (h *heard) line() ([]string, error) {
	for {
		line, err := h.out.ReadSlice('\n')
		if words, is := strings.CutPrefix(string(line), h.mark+" "); is && err == nil {
			if said := strings.Fields(plain.Line(words)); len(said) > 0 {
				return said, nil
			}
		}
		h.before += len(line)
		h.first = cmp.Or(h.first, string(line))
		switch {
		case h.before > mostBefore, errors.Is(err, io.EOF) && h.before > 0 && !h.any:
			return nil, h.notTheScript()
		case errors.Is(err, io.EOF):
			return nil, bus.Coded(message.Gone, bus.ErrEarly)
		case err != nil && !errors.Is(err, bufio.ErrBufferFull):
			return nil, bus.Coded(message.Gone, err)
		}
	}
}

// failure is the error that the script says; nil: it is none of the script's.
func failure(said []string) error {
	what := plain.Short(strings.Join(said[1:], " "), 40)
	switch reason := Reason(said[0]); reason {
	case NoSpace:
		return &Error{Reason: reason, Err: errors.New("no directory there has room for linerate's agent")}
	case NoExec:
		return &Error{Reason: reason, Err: errors.New("in no directory there linerate's agent may be executed")}
	case NoPlace:
		return &Error{Reason: reason, Err: errors.New("in no directory there linerate's agent may be written")}
	case NoTool:
		return &Error{Reason: reason, Err: fmt.Errorf("%s is missing there, which brings linerate's agent", what)}
	case Damaged:
		return &Error{Reason: reason, Err: errors.New("linerate's agent did not arrive there as it was sent")}
	}
	return nil
}
