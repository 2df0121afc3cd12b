// Package daemon runs server programs on a lab's hosts: a routing daemon, an SNMP agent,
// servers of applications. Each is a Descriptor. It runs as a child of the host's agent in
// the host's network namespace, is confined (proc.Confine), and has its files in a private
// tmpfs, which is deleted with it. It ends with the agent, however that ends.
//
// The protocols of the programs are not known here.
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
	// versionTimeout bounds the wait for a program's version, and readyTimeout that until
	// it serves.
	versionTimeout = 10 * time.Second
	readyTimeout   = 10 * time.Second
	readyEvery     = 20 * time.Millisecond
)

// Descriptor says how a program serves.
type Descriptor struct {
	// Program is its name, and Package that of its package in Debian and its derivatives.
	Program, Package string
	// Paths are where the program may be that serves, if that is another than Program.
	Paths []string
	// VersionBy are the program and the arguments that print the version, by default
	// Program itself, and Version reads it; nil: it is not asked for. An error refuses it.
	VersionBy []string
	Version   func(printed string) (string, error)
	// Forks: it makes further processes, which end with it.
	Forks bool
	// Keep are capabilities that it needs as root besides those of every program.
	Keep []proc.Capability
	// Configure writes its files to an empty directory that it alone will see, and returns
	// its arguments.
	Configure func(dir string) (args []string, err error)
	// Ready returns nil once it serves; nil: it serves when it is started.
	Ready func(context.Context) error
}

// Daemon is a program that serves. The zero value is not running.
type Daemon struct {
	mu      sync.Mutex
	launch  *program.Launcher
	path    string
	dir     string
	version string
	process *program.Program
}

// Prepare finds the program and makes its directory, unless that is done, and returns its
// version.
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
	launch := program.NewLauncher(d.Keep...)
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

// version returns what a program says of itself.
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

// Start starts the program, unless it runs, and waits until it serves. began: it did not run.
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

// Do calls f with the directory of a prepared program, on the thread that sees it.
func (s *Daemon) Do(f func(dir string) error) error {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.launch == nil {
		return errors.New("the program has not been started")
	}
	return s.launch.Do(func() error { return f(s.dir) })
}

// Kill kills the program at once (SIGKILL), as when it crashes: its connections end.
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

// Broken returns why the program ended by itself; empty: it runs, or was stopped.
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
