// Package bgp runs a routing daemon on a host that linerate made: BIRD 2, in the
// host's network namespace, as a child of its agent. It tells it whom to speak to,
// waits until the routes that it is to bring are in the kernel's table, and kills
// it when that is asked for.
//
// It speaks no BGP itself (RFC 4271), and does not read what the daemon thinks:
// whether routes are there is the kernel's to say. The daemon's files are in a
// directory in memory that only it sees, so that nothing is left of them either.
package bgp

import (
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"sync"
	"time"

	"linerate/internal/bus"
	"linerate/internal/host/program"
	"linerate/internal/kernel/file"
	"linerate/internal/model/message"
)

// Package is what Debian and its relatives call what is to be installed.
const Package = "bird2"

// Program is the daemon.
const Program = "bird"

// Daemon is a host's. The zero value has started nothing.
type Daemon struct {
	mu      sync.Mutex
	launch  *program.Launcher
	path    string
	dir     string
	version string
	process *program.Program
}

// Start starts the daemon, unless it runs.
func (d *Daemon) Start(o message.BGPRequest) (message.BGPStarted, error) {
	d.mu.Lock()
	defer d.mu.Unlock()
	if d.process != nil && d.process.Running() {
		return message.BGPStarted{}, nil
	}
	if err := d.prepare(); err != nil {
		return message.BGPStarted{}, err
	}
	config, socket := filepath.Join(d.dir, "bird.conf"), filepath.Join(d.dir, "bird.ctl")
	err := d.launch.Do(func() error { return os.WriteFile(config, []byte(Config(o)), 0o600) })
	if err != nil {
		return message.BGPStarted{}, err
	}
	d.process, err = d.launch.Start([]string{d.path, "-f", "-c", config, "-s", socket}, false)
	return message.BGPStarted{Began: true}, err
}

// Probe finds out whether the host can have a daemon: which one, or why not.
func (d *Daemon) Probe() message.BGPDaemon {
	d.mu.Lock()
	defer d.mu.Unlock()
	if err := d.prepare(); err != nil {
		return message.BGPDaemon{Lacking: err.Error()}
	}
	return message.BGPDaemon{Daemon: d.version}
}

// prepare finds the daemon, and makes its directory.
func (d *Daemon) prepare() error {
	if d.launch != nil {
		return nil
	}
	path, err := find()
	if err != nil {
		return err
	}
	launch := program.NewLauncher()
	d.version, err = version(launch, path)
	if err == nil {
		err = launch.Do(func() error {
			d.dir, err = file.PrivateTmpfs()
			return err
		})
	}
	if err != nil {
		launch.Close()
		return err
	}
	d.path, d.launch = path, launch
	return nil
}

// find says where the daemon's program itself is: a link to it may be in a directory
// that it will not see, such as NixOS's in /run (see kernel.PrivateTmpfs).
func find() (string, error) {
	path, err := program.Find(Program)
	if err != nil {
		return "", bus.Coded(message.NotFound, fmt.Errorf("%s is not installed: apt-get install %s", Program, Package))
	}
	return filepath.EvalSymlinks(path)
}

var versionLine = regexp.MustCompile(`BIRD version (\d+)(\.\S+)?`)

// version asks the program for it: the configuration is for BIRD 2 and later.
func version(launch *program.Launcher, path string) (string, error) {
	p, err := launch.Start([]string{path, "--version"}, false)
	if err != nil {
		return "", err
	}
	select {
	case <-p.Ended():
	case <-time.After(10 * time.Second):
		p.Kill()
		return "", fmt.Errorf("%s --version did not end within 10 s", path)
	}
	said := p.Said()
	found := versionLine.FindStringSubmatch(said)
	switch {
	case found == nil:
		return "", fmt.Errorf("%s --version said %.100q: expected BIRD 2", path, strings.TrimSpace(said))
	case found[1] == "0" || found[1] == "1":
		return "", fmt.Errorf("%s is BIRD %s%s: expected BIRD 2 (package %s)", path, found[1], found[2], Package)
	}
	return "BIRD " + found[1] + found[2], nil
}

// Kill kills the daemon at once (SIGKILL), as when a router's control plane dies:
// its connections end, and its routes stay in the kernel's table.
func (d *Daemon) Kill() error {
	d.mu.Lock()
	defer d.mu.Unlock()
	if d.process == nil || !d.process.Running() {
		return errors.New("the routing daemon does not run")
	}
	d.process.Kill()
	<-d.process.Ended()
	d.process = nil
	return nil
}

// Broken is why the daemon ended without having been stopped; empty: it runs, or was stopped.
func (d *Daemon) Broken() string {
	d.mu.Lock()
	defer d.mu.Unlock()
	if d.process == nil || d.process.Running() {
		return ""
	}
	return d.process.Last()
}

// Close ends the daemon.
func (d *Daemon) Close() {
	d.mu.Lock()
	defer d.mu.Unlock()
	if d.process != nil {
		d.process.Kill()
		<-d.process.Ended()
	}
	if d.launch != nil {
		d.launch.Close()
	}
	d.launch, d.process = nil, nil
}
