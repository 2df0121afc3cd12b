// Package daemon runs server programs on a lab's hosts: a routing daemon, an SNMP agent, application servers. A
// Descriptor describes each. The program runs as a child of the host's agent in the host's network namespace,
// is confined (proc.Confine), and has its files in a private tmpfs that is deleted with it. It ends with the
// agent, however that ends.
//
// This package does not know the programs' protocols.
package daemon

import (
	"context"
	"errors"
	"fmt"
	"path/filepath"
	"strings"
	"sync"
	"time"

	"linerate/internal/bus"
	"linerate/internal/host/program"
	"linerate/internal/kernel/file"
	"linerate/internal/kernel/proc"
	"linerate/internal/model/message"
)

const (
	// versionTimeout limits the wait for a program's version, readyTimeout the wait until it serves.
	versionTimeout = 10 * time.Second
	readyTimeout   = 10 * time.Second
	readyEvery     = 20 * time.Millisecond
)

// Descriptor describes a server program.
type Descriptor struct {
	// Program is its name, Package the name of its Debian package.
	Program, Package string
	// Paths lists where the server binary may be, if it is not Program.
	Paths []string
	// VersionBy is the command that prints the version, by default Program; Version parses its output, and an
	// error rejects the program. Version nil: the version is not read.
	VersionBy []string
	Version   func(printed string) (string, error)
	// Forks: it starts further processes, which end with it.
	Forks bool
	// Keep lists the capabilities that it needs as root, in addition to those of every program.
	Keep []proc.Capability
	// UnixSockets: it makes Unix sockets of its own.
	UnixSockets bool
	// Configure writes its files to an empty directory that only it will see, and returns its arguments.
	Configure func(dir string) (args []string, err error)
	// Ready returns nil once the program serves; if Ready is nil, it serves as soon as it is started.
	Ready func(context.Context) error
}

// Daemon is a server program. The zero value is not running.
type Daemon struct {
	mu      sync.Mutex
	launch  *program.Launcher
	path    string
	dir     string
	version string
	process *program.Program
}

// Prepare finds the program and creates its directory if necessary, and returns its version.
func (s *Daemon) Prepare(d Descriptor) (version string, err error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	err = s.prepare(d)
	return s.version, err
}

func (s *Daemon) prepare(d Descriptor) error {
	if s.launch != nil {
		return nil
	}
	path, err := find(d.Program, d.Package)
	for _, other := range d.Paths {
		if found, err := find(other, d.Package); err == nil {
			path = found
		}
	}
	if err != nil {
		return err
	}
	needs := proc.Needs{Capabilities: d.Keep}
	if d.UnixSockets {
		needs.UnixSockets = path
	}
	launch := program.NewLauncher(needs)
	if d.Version != nil {
		s.version, err = version(launch, path, d)
	}
	if err == nil {
		err = launch.Do(func() error {
			s.dir, err = file.PrivateTmpfs()
			return err
		})
	}
	if err != nil {
		launch.Close()
		return err
	}
	s.path, s.launch = path, launch
	return nil
}

// find returns the path of a program without symbolic links: a link may be in a directory
// that the program will not see, such as NixOS's /run (file.PrivateTmpfs).
func find(name, pkg string) (string, error) {
	path, err := proc.Find(name)
	if err != nil {
		return "", bus.Coded(message.NotFound, fmt.Errorf("%s is not installed: apt-get install %s", name, pkg))
	}
	return filepath.EvalSymlinks(path)
}

// version returns the version that a program prints.
func version(launch *program.Launcher, path string, d Descriptor) (string, error) {
	command := []string{path}
	if len(d.VersionBy) > 0 {
		command = append(command, d.VersionBy[1:]...)
		if by := d.VersionBy[0]; by != d.Program {
			var err error
			if command[0], err = find(by, d.Package); err != nil {
				return "", err
			}
		}
	}
	p, err := launch.Start(command, false)
	if err != nil {
		return "", err
	}
	select {
	case <-p.Ended():
	case <-time.After(versionTimeout):
		p.Kill()
		return "", fmt.Errorf("%s did not end within %v", strings.Join(command, " "), versionTimeout)
	}
	text, err := d.Version(p.Said())
	if err != nil {
		return "", fmt.Errorf("%s printed %.100q: %w", strings.Join(command, " "), strings.TrimSpace(p.Said()), err)
	}
	return text, nil
}

// Start starts the program if it is not running, and waits until it serves. began reports whether it was
// started.
func (s *Daemon) Start(ctx context.Context, d Descriptor) (began bool, err error) {
	process, began, err := s.begin(d)
	if err == nil && d.Ready != nil {
		err = await(ctx, d, process)
	}
	return began, err
}

func (s *Daemon) begin(d Descriptor) (*program.Program, bool, error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.process != nil && s.process.Running() {
		return s.process, false, nil
	}
	if err := s.prepare(d); err != nil {
		return nil, false, err
	}
	var args []string
	err := s.launch.Do(func() (err error) {
		args, err = d.Configure(s.dir)
		return err
	})
	if err == nil {
		s.process, err = s.launch.Start(append([]string{s.path}, args...), d.Forks)
	}
	return s.process, true, err
}

func await(ctx context.Context, d Descriptor, process *program.Program) error {
	ctx, cancel := context.WithTimeout(ctx, readyTimeout)
	defer cancel()
	for {
		err := d.Ready(ctx)
		if err == nil {
			return nil
		}
		select {
		case <-process.Ended():
			return errors.New(process.Last())
		case <-ctx.Done():
			if said := process.LastLine(); said != "" {
				err = fmt.Errorf("%w; it wrote: %s", err, said)
			}
			return fmt.Errorf("%s does not serve within %v: %w", d.Program, readyTimeout, err)
		case <-time.After(readyEvery):
		}
	}
}

// Do calls f with the directory of a prepared program, on the thread that can see it.
func (s *Daemon) Do(f func(dir string) error) error {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.launch == nil {
		return errors.New("the program has not been started")
	}
	return s.launch.Do(func() error { return f(s.dir) })
}

// Kill kills the program at once (SIGKILL), as in a crash; its connections end.
func (s *Daemon) Kill() error {
	s.mu.Lock()
	process := s.process
	s.mu.Unlock()
	if process == nil || !process.Running() {
		return errors.New("it is not running")
	}
	process.Kill()
	<-process.Ended()
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.process == process {
		s.process = nil
	}
	return nil
}

// Broken returns why the program ended by itself; empty if it is running or was stopped.
func (s *Daemon) Broken() string {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.process == nil || s.process.Running() {
		return ""
	}
	return s.process.Last()
}

// Close ends the program.
func (s *Daemon) Close() {
	s.mu.Lock()
	process, launch := s.process, s.launch
	s.launch, s.process = nil, nil
	s.mu.Unlock()
	if process != nil {
		process.Kill()
		<-process.Ended()
	}
	if launch != nil {
		launch.Close()
	}
}
