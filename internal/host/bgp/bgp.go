// Package bgp runs a routing daemon, BIRD 2, on a host that linerate created. It configures the sessions, waits
// until the expected routes are in the kernel's table, and kills the daemon on request. Package daemon starts
// and ends it.
//
// It neither speaks BGP (RFC 4271) nor queries the daemon: only the kernel's table shows which routes exist.
package bgp

import (
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"

	"linerate/internal/host/daemon"
	"linerate/internal/model/message"
	"linerate/internal/model/pattern"
	"linerate/internal/model/topology"
)

// Package is the name of the daemon's package in Debian and its derivatives.
const Package = "bird2"

// Program is the name of the daemon's program.
const Program = topology.BGPDaemon

// Daemon is a host's routing daemon. The zero value is not running.
type Daemon struct{ daemon daemon.Daemon }

// descriptor returns the daemon's descriptor; preparing it needs no request.
func descriptor(request message.BGPRequest) daemon.Descriptor {
	return daemon.Descriptor{
		Program: Program, Package: Package, VersionBy: []string{Program, "--version"}, Version: version,
		UnixSockets: true, // its control socket
		Configure: func(dir string) ([]string, error) {
			config, socket := filepath.Join(dir, "bird.conf"), filepath.Join(dir, "bird.ctl")
			return []string{"-f", "-c", config, "-s", socket}, os.WriteFile(config, []byte(Config(request)), 0o600)
		},
	}
}

// Start starts the daemon, unless it is running.
func (d *Daemon) Start(ctx context.Context, request message.BGPRequest) (message.BGPStarted, error) {
	began, err := d.daemon.Start(ctx, descriptor(request))
	return message.BGPStarted{Began: began}, err
}

// Probe returns which daemon the host can run, or why it cannot.
func (d *Daemon) Probe(context.Context, struct{}) (message.BGPDaemon, error) {
	version, err := d.daemon.Prepare(descriptor(message.BGPRequest{}))
	if err != nil {
		return message.BGPDaemon{Lacking: err.Error()}, nil
	}
	return message.BGPDaemon{Daemon: version}, nil
}

var versionLine = pattern.MustCompile(`BIRD version (\d+)(\.\S+)?`)

// version reads the program's version: the configuration is for BIRD 2 and later.
func version(printed string) (string, error) {
	found := versionLine.FindStringSubmatch(printed)
	switch {
	case found == nil:
		return "", errors.New("expected BIRD 2")
	case found[1] == "0" || found[1] == "1":
		return "", fmt.Errorf("expected BIRD 2 (package %s)", Package)
	}
	return "BIRD " + found[1] + found[2], nil
}

// Kill kills the daemon at once (SIGKILL), as when a router's control plane dies:
// its connections end, and its routes stay in the kernel's table.
func (d *Daemon) Kill() error {
	if err := d.daemon.Kill(); err != nil {
		return fmt.Errorf("the routing daemon: %w", err)
	}
	return nil
}

// Broken returns why the daemon ended by itself; empty: it is running, or was stopped.
func (d *Daemon) Broken() string { return d.daemon.Broken() }

// Close ends the daemon.
func (d *Daemon) Close() { d.daemon.Close() }
