package proc

import (
	"cmp"
	"context"
	"errors"
	"fmt"
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
	out, said := &FirstBytes{Most: mostLLDP}, &FirstBytes{Most: 4096}
	command.Stdout, command.Stderr = out, said
	err = command.Run()
	switch {
	case out.Len() > mostLLDP:
		return nil, fmt.Errorf("%s printed more than %d bytes", program, mostLLDP)
	case errors.Is(ctx.Err(), context.DeadlineExceeded), errors.Is(err, exec.ErrWaitDelay): // or a child of it did not
		return nil, fmt.Errorf("%s did not end within %v", program, lldpTime)
	case err != nil:
		first, _, _ := strings.Cut(strings.TrimSpace(said.String()), "\n")
		return nil, errors.New(program + ": " + cmp.Or(plain.Short(first, 200), err.Error()))
	}
	return out.Bytes(), nil
}
