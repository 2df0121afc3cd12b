package proc

import (
	"bytes"
	"cmp"
	"context"
	"errors"
	"fmt"
	"io"
	"os/exec"
	"strings"
	"time"

	"linerate/internal/model/plain"
)

// lldpTime is how long lldpcli may take, which asks a daemon of this machine, and mostLLDP is
// how much of what it prints is read.
const lldpTime, mostLLDP = 2 * time.Second, 4 << 20

// LLDP is what lldpcli(8) prints as JSON of the neighbours that the daemon lldpd knows. The
// error says why there is nothing: there is no such program, or no daemon that it reaches.
func LLDP(ctx context.Context) ([]byte, error) {
	const program = "lldpcli"
	path, err := exec.LookPath(program)
	if err != nil {
		return nil, errors.New(program + " of lldpd is not on the PATH")
	}
	ctx, cancel := context.WithTimeout(ctx, lldpTime)
	defer cancel()
	command := exec.CommandContext(ctx, path, "-f", "json", "show", "neighbors", "details")
	command.Env, command.WaitDelay = ChildEnvironment(), lldpTime/4
	var said bytes.Buffer
	command.Stderr = &limited{&said, 4096}
	out, err := command.StdoutPipe()
	if err == nil {
		err = command.Start()
	}
	if err != nil {
		return nil, fmt.Errorf("%s: %w", program, err)
	}
	text, readErr := io.ReadAll(io.LimitReader(out, mostLLDP+1))
	if len(text) > mostLLDP {
		cancel()
	}
	err = cmp.Or(command.Wait(), readErr)
	switch {
	case len(text) > mostLLDP:
		return nil, fmt.Errorf("%s printed more than %d bytes", program, mostLLDP)
	case errors.Is(ctx.Err(), context.DeadlineExceeded):
		return nil, fmt.Errorf("%s did not end within %v", program, lldpTime)
	case err != nil:
		first, _, _ := strings.Cut(strings.TrimSpace(said.String()), "\n")
		return nil, errors.New(program + ": " + cmp.Or(plain.Short(first, 200), err.Error()))
	}
	return text, nil
}

// limited writes the first n bytes, and drops the others.
type limited struct {
	to io.Writer
	n  int
}

func (l *limited) Write(b []byte) (int, error) {
	first := b[:min(len(b), l.n)]
	l.n -= len(first)
	_, err := l.to.Write(first)
	return len(b), err
}
