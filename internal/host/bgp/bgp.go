// Package bgp runs a routing daemon on a host that linerate made: BIRD 2, in the host's
// network namespace, as a child of its agent. It configures the sessions, waits until the
// expected routes are in the kernel's table, and kills the daemon on request.
//
// It does not speak BGP itself (RFC 4271) and does not query the daemon: only the
// kernel's table decides which routes exist. The daemon's files are in a private tmpfs,
// which is deleted with it.
package bgp

import (
	"context"
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
	"linerate/internal/model/topology"
)

// Package is the name of the daemon's package in Debian and its derivatives.
const Package = "bird2"

// Program is the name of the daemon's program.
const Program = topology.BGPDaemon

// Daemon is a host's routing daemon. The zero value is not running.
type Daemon struct {
	mu      sync.Mutex
	launch  *program.Launcher
	path    string
	dir     string
	version string
	process *program.Program
}

// Start starts the daemon, unless it is running.
func (d *Daemon) Start(_ context.Context, request message.BGPRequest) (message.BGPStarted, error) {
	d.mu.Lock()
	defer d.mu.Unlock()
	if d.process != nil && d.process.Running() {
		return message.BGPStarted{}, nil
	}
	if err := d.prepare(); err != nil {
		return message.BGPStarted{}, err
	}
	config, socket := filepath.Join(d.dir, "bird.conf"), filepath.Join(d.dir, "bird.ctl")
	err := d.launch.Do(func() error { return os.WriteFile(config, []byte(Config(request)), 0o600) })
	if err != nil {
		return message.BGPStarted{}, err
	}
	d.process, err = d.launch.Start([]string{d.path, "-f", "-c", config, "-s", socket}, false)
	return message.BGPStarted{Began: true}, err
}

// Probe returns which daemon the host can run, or why it cannot.
func (d *Daemon) Probe(context.Context, struct{}) (message.BGPDaemon, error) {
	d.mu.Lock()
	defer d.mu.Unlock()
	if err := d.prepare(); err != nil {
		return message.BGPDaemon{Lacking: err.Error()}, nil
	}
	return message.BGPDaemon{Daemon: d.version}, nil
}

// prepare finds the daemon and makes its directory.
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

// find returns the path of the daemon's program without symbolic links: a link may be in
// a directory that the daemon will not see, such as NixOS's /run (file.PrivateTmpfs).
func find() (string, error) {
	path, err := program.Find(Program)
	if err != nil {
		return "", bus.Coded(message.NotFound, fmt.Errorf("%s is not installed: apt-get install %s", Program, Package))
	}
	return filepath.EvalSymlinks(path)
}

var versionLine = sync.OnceValue(func() *regexp.Regexp { return regexp.MustCompile(`BIRD version (\d+)(\.\S+)?`) })

// version returns the program's version, and an error unless it is BIRD 2 or later, for
// which the configuration is.
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
	output := p.Said()
	found := versionLine().FindStringSubmatch(output)
	switch {
	case found == nil:
		return "", fmt.Errorf("%s --version printed %.100q: expected BIRD 2", path, strings.TrimSpace(output))
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
		return errors.New("the routing daemon is not running")
	}
	d.process.Kill()
	<-d.process.Ended()
	d.process = nil
	return nil
}

// Broken returns why the daemon ended by itself; empty: it is running, or was stopped.
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
