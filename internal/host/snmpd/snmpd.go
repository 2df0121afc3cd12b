// Package snmpd runs an SNMP agent, net-snmp's snmpd, on a switch that linerate created. It listens only on the
// loopback of the switch's namespace; Exchange passes datagrams to it. Package daemon starts and ends it.
package snmpd

import (
	"context"
	"crypto/rand"
	"errors"
	"fmt"
	"net"
	"os"
	"path/filepath"
	"sync"
	"time"

	"linerate/internal/host/daemon"
	"linerate/internal/model/message"
	"linerate/internal/model/topology"
)

// Package is the name of the program's package in Debian and its derivatives.
const Package = "snmpd"

const (
	address = "127.0.0.1:161"
	// replyTimeout limits the wait for a reply.
	replyTimeout = 2 * time.Second
	mostReply    = 65535 // bytes
)

// Daemon is a switch's SNMP agent. The zero value is not running.
type Daemon struct {
	daemon    daemon.Daemon
	draw      sync.Once
	community string
}

// Start starts the agent if it is not running, and waits until it listens.
func (d *Daemon) Start(ctx context.Context, _ struct{}) (message.SNMPDaemon, error) {
	d.draw.Do(func() { d.community = rand.Text() })
	_, err := d.daemon.Start(ctx, daemon.Descriptor{
		Program: topology.SNMPDaemon, Package: Package, Ready: func(context.Context) error { return listens() },
		Configure: func(dir string) ([]string, error) {
			config := filepath.Join(dir, "snmpd.conf")
			text := fmt.Sprintf("agentaddress udp:%s\nrwcommunity %s 127.0.0.1\n[snmp] persistentDir %s\n", address,
				d.community, dir)
			return []string{"-f", "-Lo", "-C", "-c", config, "-I", "-smux"}, os.WriteFile(config, []byte(text), 0o600)
		},
	})
	return message.SNMPDaemon{Community: d.community}, err
}

// listens returns nil once the program has bound its socket: a port without a listener refuses a datagram
// (ECONNREFUSED), and the agent ignores one that is not SNMP.
func listens() error {
	conn, err := net.Dial("udp4", address)
	if err != nil {
		return err
	}
	defer conn.Close()
	if _, err := conn.Write([]byte{0}); err != nil {
		return err
	}
	_ = conn.SetReadDeadline(time.Now().Add(20 * time.Millisecond))
	if _, err = conn.Read(make([]byte, 1)); errors.Is(err, os.ErrDeadlineExceeded) {
		return nil
	}
	return err
}

// Exchange passes a datagram to the agent and returns the reply.
func (d *Daemon) Exchange(ctx context.Context, request message.SNMPDatagram) (message.SNMPDatagram, error) {
	var reply message.SNMPDatagram
	var dialer net.Dialer
	conn, err := dialer.DialContext(ctx, "udp4", address)
	if err != nil {
		return reply, err
	}
	defer conn.Close()
	if err := conn.SetDeadline(time.Now().Add(replyTimeout)); err != nil {
		return reply, err
	}
	if _, err := conn.Write(request.Datagram); err != nil {
		return reply, err
	}
	buffer := make([]byte, mostReply)
	n, err := conn.Read(buffer)
	reply.Datagram = buffer[:n]
	return reply, err
}

func (d *Daemon) Close() { d.daemon.Close() }
