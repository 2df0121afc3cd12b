package reach

import (
	"cmp"
	"context"
	_ "embed" // of PlainScript
	"errors"
	"fmt"
	"os/exec"
	"slices"
	"strings"
	"sync"
	"syscall"
	"time"

	"linerate/internal/kernel/proc"
	"linerate/internal/model/netstate"
	"linerate/internal/model/pasted"
	"linerate/internal/model/plain"
)

// PlainScript is a script for sh(1) that prints what the tools of a host say of it, such as ip and
// ss, as text for package pasted.
//
//go:embed plain.sh
var PlainScript string

// Plain is what the tools of a host say.
type Plain struct {
	Snapshot netstate.HostSnapshot
	// NotUnderstood and Lost are as in pasted.Text.
	NotUnderstood []string
	Lost          int
	// Missing are tools that the host does not have.
	Missing []string
}

// plainTimeout bounds PlainScript, each command of which ends within 20 s.
const plainTimeout = 2 * time.Minute

// mostPrinted bounds what PlainScript prints of a host in bytes; it prints bounded numbers of rows.
const mostPrinted = 8 << 20

// mostSaid bounds the standard error of PlainScript in bytes: what ssh prints, and the missing tools.
const mostSaid = 4 << 10

// ReadPlain executes PlainScript on hosts of Via and Here, 32 of them at the same time: linerate is not
// needed there. It returns what was read in the order of the hosts. The error joins an *Error for
// each host that is missing.
func ReadPlain(ctx context.Context, hosts []Host) ([]Plain, error) {
	list, errs := make([]*Plain, len(hosts)), make([]error, len(hosts))
	var reading sync.WaitGroup
	for i, host := range hosts {
		reading.Go(func() {
			starting <- struct{}{}
			defer func() { <-starting }()
			p, err := host.plain(ctx)
			if errs[i] = err; err == nil {
				list[i] = &p
			}
		})
	}
	reading.Wait()
	var taken []Plain
	for _, p := range list {
		if p != nil {
			taken = append(taken, *p)
		}
	}
	return taken, errors.Join(errs...)
}

func (h Host) plain(ctx context.Context) (Plain, error) {
	// The words are as any login shell understands them, and the host needs no file for the script.
	argv := append(unattended(h.Via), "sh", "-s")
	cmd := proc.Command(argv[0], argv[1:]...)
	out, said := &proc.FirstBytes{Most: mostPrinted}, &proc.FirstBytes{Most: mostSaid}
	cmd.Stdin, cmd.Stdout, cmd.Stderr = strings.NewReader(PlainScript), out, said
	cmd.WaitDelay, cmd.SysProcAttr = stderrTimeout, &syscall.SysProcAttr{Setsid: true}
	if bySSH(h.Via) {
		cmd.Env = append(cmd.Env, "LC_ALL=C") // for sshMessages
	}
	if err := cmd.Start(); err != nil {
		return Plain{}, notStarted(h.Name, argv, err)
	}
	within, cancel := context.WithTimeoutCause(ctx, plainTimeout, fmt.Errorf("no end of the commands within %s",
		plainTimeout))
	defer cancel()
	stop := context.AfterFunc(within, func() { _ = proc.SignalGroup(cmd.Process, syscall.SIGKILL) })
	err := cmd.Wait()
	stop()
	e := &Error{Host: h.Name, Words: h.Via, Exit: cmd.ProcessState.ExitCode(), Said: oneLine(said.String())}
	if h.Here {
		e.Words = argv
	}
	switch {
	case ctx.Err() != nil:
		return Plain{}, ctx.Err()
	case within.Err() != nil:
		e.Reason, e.Err = TimedOut, context.Cause(within)
	case err != nil && !errors.Is(err, exec.ErrWaitDelay):
		e.Reason = cmp.Or(reasonOf(h.Via, e.Exit, e.Said), Ended)
		e.Err = fmt.Errorf("executing sh there: %w", err)
	case out.Len() > mostPrinted:
		e.Reason, e.Err = TooLarge, fmt.Errorf("the tools print more than %d bytes", mostPrinted)
	default:
		p, err := h.parsed(out.String(), said.String())
		if err == nil {
			return p, nil
		}
		e.Reason, e.Err = Ended, err
	}
	return Plain{}, e
}

// parsed parses the output and the standard error of PlainScript.
func (h Host) parsed(out, said string) (Plain, error) {
	text, err := pasted.Parse(out)
	if err != nil {
		return Plain{}, err
	}
	// A line of a banner may look like the name of another machine.
	most := slices.MaxFunc(text.Machines, func(a, b netstate.HostSnapshot) int {
		return len(a.Pasted) - len(b.Pasted)
	})
	p := Plain{Snapshot: most, NotUnderstood: text.NotUnderstood, Lost: text.Lost}
	if name := h.Called; name != "" {
		p.Snapshot.Reading.Host, p.Snapshot.Host.Host, p.Snapshot.Reading.Snapshot.Host = name, name, name
	}
	for line := range strings.Lines(said) {
		if tool, is := strings.CutPrefix(strings.TrimSpace(line), "missing: "); is {
			p.Missing = append(p.Missing, plain.Short(tool, 20))
		}
	}
	return p, nil
}
