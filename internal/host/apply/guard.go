package apply

import (
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"time"

	"linerate/internal/host/program"
	"linerate/internal/kernel/sched"
)

// Lease is how long settings of a real host stay changed without a sign of life from the
// conductor. It is longer than what networks and ssh(1) recover from by themselves, some
// retransmissions of TCP, and shorter than the time after which a user looks for a mistake
// of their own.
const Lease = time.Minute

// renewals is how many times a lease is renewed by a process that lives.
const renewals = 8

// GuardCommand is the command-line verb that runs this program as a guard: a process that
// reverts what an agent has changed if the agent ends without doing so, or does not renew its
// lease in time; it kills such an agent first. The agent starts the guard with its first
// change, and the guard ends after the agent. It survives the agent, its session and its
// conductor, has the agent's privileges and namespaces, and holds neither lock nor file while
// it waits.
const GuardCommand = "guard"

// guard is an agent's view of its guard: a pipe on which every byte renews the lease.
type guard struct {
	renewals *os.File
	ended    <-chan struct{}
}

// detach starts a guard; tests of what happens without one replace it.
var detach = program.Detach

func startGuard(journal string, lease time.Duration) (*guard, error) {
	fail := func(err error) (*guard, error) { return nil, fmt.Errorf("starting the guard of settings: %w", err) }
	journal, err := filepath.Abs(journal)
	if err != nil {
		return fail(err)
	}
	in, renewals, err := os.Pipe()
	if err != nil {
		return fail(err)
	}
	defer in.Close()
	ended, err := detach(in, GuardCommand, journal, lease.String(), strconv.Itoa(os.Getpid()))
	if err != nil {
		renewals.Close()
		return fail(err)
	}
	return &guard{renewals, ended}, nil
}

// Renew renews the lease of the settings. It is called when there is a sign of life from the conductor.
func (m *Manager) Renew() {
	if g := m.guard.Load(); g != nil {
		_, _ = g.renewals.Write([]byte{0}) // a guard that is gone is replaced with the next change
	}
}

// Keep renews the lease until stop is called, for changes that last as long as this process works.
func (m *Manager) Keep() (stop func()) {
	if m.journal == nil {
		return func() {}
	}
	done := make(chan struct{})
	go func() {
		for m.Renew(); ; m.Renew() {
			select {
			case <-done:
				return
			case <-time.After(m.lease / renewals):
			}
		}
	}()
	return func() { close(done) }
}

// protect starts the guard, unless it is there.
func (m *Manager) protect() error {
	if g := m.guard.Load(); g != nil {
		select {
		case <-g.ended:
			g.renewals.Close()
		default:
			return nil
		}
	}
	g, err := startGuard(m.journal.path, m.lease)
	if err == nil {
		m.guard.Store(g)
	}
	return err
}

// RunGuard runs a guard. in is the pipe from the agent, which closes when the agent ends, and args are the
// journal, the lease and the ID of the agent's process.
func RunGuard(in *os.File, args []string) error {
	if len(args) != 3 {
		return errors.New("expected a journal, a lease and a process: linerate starts this by itself")
	}
	lease, leaseErr := time.ParseDuration(args[1])
	pid, pidErr := strconv.Atoi(args[2])
	if err := errors.Join(leaseErr, pidErr); err != nil {
		return err
	}
	// A process with the agent's number is the agent while it is the parent.
	agent, err := os.FindProcess(pid)
	isAgent := err == nil && os.Getppid() == pid
	for received := make([]byte, 64); err == nil; {
		_, err = sched.ReadWithin(in, received, lease)
	}
	if errors.Is(err, os.ErrDeadlineExceeded) && isAgent && os.Getppid() == pid {
		// Whatever it is stopped by, it must not go on without its settings.
		_ = agent.Kill()
	}
	// Its locks end with it, which takes as long as the system call that it is in; linerate recover may hold
	// them; and the kernel answers late while others change its tables.
	for end := time.Now().Add(max(lease, guardTries)); ; time.Sleep(guardRetry) {
		list, err := Recover(RecoverOptions{Journal: args[0]})
		inUse := slices.ContainsFunc(list, func(r Recovered) bool { return r.Result == InUse || r.busy })
		if err == nil && !inUse || time.Now().After(end) {
			return err
		}
	}
}

const (
	// guardRetry is the time between two tries to revert.
	guardRetry = 50 * time.Millisecond
	// guardTries is how long a guard tries to revert at least, however short the lease is.
	guardTries = 40 * time.Second
)
