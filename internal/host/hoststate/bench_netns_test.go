//go:build linux && !portable

package hoststate

import (
	"context"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"net"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"golang.org/x/sys/unix"

	"linerate/internal/kernel/ethtool"
	"linerate/internal/kernel/kerneltest"
	"linerate/internal/kernel/netlink"
	"linerate/internal/model/netstate"
	"linerate/internal/model/record"
	"linerate/internal/science/diagnose"
	"linerate/internal/show/wording"
)

// bench is a lab of hosts on one subnet, 10.0.0.0/24 and fd00::/64, whose switch is a bridge:
// server (.1), client (.2) and other (.3). Each is a network namespace.
type bench struct {
	t     *testing.T
	hosts map[string]*netlink.Namespace
	ends  []func() // of what a fault has started
	// probe is what the client sends before it is read; nil: nothing.
	probe func() (netstate.Probe, error)
	// resolvers are files that hosts have as resolv.conf(5).
	resolvers map[string]string
}

var benchHosts = []string{"server", "client", "other"}

func newBench(t *testing.T) *bench {
	t.Helper()
	b := &bench{t: t, hosts: map[string]*netlink.Namespace{}, resolvers: map[string]string{}}
	for _, name := range append(slices.Clone(benchHosts), "switch") {
		ns, err := netlink.NewNamespace(name)
		if err != nil {
			kerneltest.Skip(t, err.Error())
		}
		t.Cleanup(ns.Close)
		b.hosts[name] = ns
		b.in(name, func() error { // link-local addresses are there at once
			err := writeParameter("net.ipv6.conf.default.accept_dad", "0")
			if errors.Is(err, fs.ErrNotExist) { // no IPv6
				err = nil
			}
			return err
		})
	}
	b.sh("switch", "ip link add name br0 type bridge && ip link set dev br0 up")
	for i, name := range benchHosts {
		b.link(name, "eth0", i+1)
		b.sh(name,
			fmt.Sprintf("ip link set dev lo up && ip address add 10.0.0.%d/24 dev eth0 && ip link set dev eth0 up",
				i+1))
		if hasIPv6() {
			b.sh(name, fmt.Sprintf("ip address add fd00::%d/64 dev eth0 nodad", i+1))
		}
	}
	t.Cleanup(func() {
		for _, end := range slices.Backward(b.ends) {
			end()
		}
	})
	return b
}

func hasIPv6() bool {
	_, err := os.Stat("/proc/sys/net/ipv6")
	return err == nil
}

// needsIPv6 skips a fault of IPv6 on a kernel without it.
func (b *bench) needsIPv6() {
	b.t.Helper()
	if !hasIPv6() {
		kerneltest.Skip(b.t, "no IPv6")
	}
}

// resolver has a host ask name servers.
func (b *bench) resolver(host string, servers ...string) {
	b.t.Helper()
	b.resolvers[host] = filepath.Join(b.t.TempDir(), "resolv.conf")
	if err := os.WriteFile(b.resolvers[host], []byte("nameserver "+strings.Join(servers, "\nnameserver ")+"\n"),
		0o644); err != nil {
		b.t.Fatal(err)
	}
}

// link joins an interface of a host to the switch.
func (b *bench) link(host, name string, n int) {
	b.t.Helper()
	port := host + "-" + name
	a := netlink.LinkEnd{Namespace: b.hosts[host], Interface: name, MAC: fmt.Sprintf("02:00:00:00:%02x:%02x", n,
		len(name)), MTU: 1500}
	if err := a.NewVethPair(netlink.LinkEnd{Namespace: b.hosts["switch"], Interface: port,
		MAC: fmt.Sprintf("02:00:00:01:%02x:%02x", n, len(name)), MTU: 1500}); err != nil {
		kerneltest.Skip(b.t, err.Error())
	}
	b.sh("switch", "ip link set dev "+port+" master br0 up")
}

// in calls f on a thread in a host.
func (b *bench) in(host string, f func() error) {
	b.t.Helper()
	if err := b.hosts[host].DoAsHost(f); err != nil {
		b.t.Fatalf("%s: %v", host, err)
	}
}

// sh executes a shell script in a host.
func (b *bench) sh(host, script string) {
	b.t.Helper()
	b.in(host, func() error {
		out, err := exec.Command("sh", "-c", script).CombinedOutput()
		if err != nil {
			return fmt.Errorf("%s: %w: %s", script, err, out)
		}
		return nil
	})
}

// nft adds rules of nftables in a host.
func (b *bench) nft(host, rules string) {
	b.t.Helper()
	if _, err := exec.LookPath("nft"); err != nil {
		kerneltest.Skip(b.t, "nft is not installed")
	}
	b.sh(host, "nft '"+rules+"'")
}

// disable turns features of an interface off.
func (b *bench) disable(host, name string, features ...string) {
	b.t.Helper()
	b.in(host, func() error {
		h, err := ethtool.Open()
		if err != nil {
			return err
		}
		defer h.Close()
		for _, feature := range features {
			err = errors.Join(err, h.SetFeature(name, feature, false))
		}
		return err
	})
}

// opened has what f opens closed when the fault is over.
func (b *bench) opened(host string, f func() (io.Closer, error)) io.Closer {
	b.t.Helper()
	var c io.Closer
	b.in(host, func() (err error) { c, err = f(); return err })
	b.ends = append(b.ends, func() { c.Close() })
	return c
}

func (b *bench) listen(host, address string) *net.TCPListener {
	b.t.Helper()
	return b.opened(host, func() (io.Closer, error) {
		return net.ListenTCP("tcp", net.TCPAddrFromAddrPort(addr(address)))
	}).(*net.TCPListener)
}

func (b *bench) dial(host, address string) *net.TCPConn {
	b.t.Helper()
	return b.opened(host, func() (io.Closer, error) {
		return net.DialTCP("tcp", nil, net.TCPAddrFromAddrPort(addr(address)))
	}).(*net.TCPConn)
}

// connect begins connections without waiting for them.
func (b *bench) connect(host, address string, n int) {
	b.t.Helper()
	for range n {
		b.opened(host, func() (io.Closer, error) { return beginConnect(addr(address)) })
	}
}

func (b *bench) udp(host, from, to string) *net.UDPConn {
	b.t.Helper()
	return b.opened(host, func() (io.Closer, error) {
		if to == "" {
			return net.ListenUDP("udp", net.UDPAddrFromAddrPort(addr(from)))
		}
		return net.DialUDP("udp", nil, net.UDPAddrFromAddrPort(addr(to)))
	}).(*net.UDPConn)
}

// send writes datagrams; what a full socket refuses is not sent again.
func send(c *net.UDPConn, n, size int) {
	for range n {
		_, _ = c.Write(make([]byte, size))
	}
}

// window is the least time between the two readings of a host, after what is done between them.
const window = 600 * time.Millisecond

// diagnosed reads hosts, with act between the two readings of all, and diagnoses them together.
func (b *bench) diagnosed(act func(b *bench), hosts ...string) record.Evaluation {
	b.t.Helper()
	snapshots := make([]netstate.HostSnapshot, len(hosts))
	errs := make(chan error, len(hosts))
	var begun sync.WaitGroup
	begun.Add(len(hosts))
	acted := make(chan struct{})
	for i, host := range hosts {
		go func() {
			errs <- b.hosts[host].DoAsHost(func() (err error) {
				if file := b.resolvers[host]; file != "" { // in the mount namespace of this thread
					if err := unix.Mount(file, "/etc/resolv.conf", "", unix.MS_BIND, ""); err != nil {
						return err
					}
				}
				var probes []netstate.Probe
				if host == "client" && b.probe != nil {
					p, err := b.probe()
					if err != nil {
						return err
					}
					probes = append(probes, p)
				}
				defer func() { snapshots[i].State.Probes = probes }()
				snapshots[i], err = Read(context.Background(), Options{Name: host, Over: window, began: func() {
					begun.Done()
					<-acted
				}})
				return err
			})
		}()
	}
	all := make(chan struct{})
	go func() { begun.Wait(); close(all) }()
	select {
	case <-all:
	case err := <-errs: // of a host that could not be read
		b.t.Fatal(err)
	}
	if act != nil {
		act(b)
	}
	close(acted)
	for range hosts {
		if err := <-errs; err != nil {
			b.t.Fatal(err)
		}
	}
	return wording.Evaluation(diagnose.Hosts(snapshots))
}

func summary(e record.Evaluation) string {
	var lines []string
	for _, f := range e.Findings {
		lines = append(lines, fmt.Sprintf("%s (%s, %s) %s %v", f.ID, f.Confidence, f.Host, f.ExplainedBy, f.Evidence))
	}
	return strings.Join(lines, "\n")
}

// exchange sends a megabyte from client to server, which reads it.
func exchange(b *bench) { transfer(b, "server", "10.0.0.1:7001") }

// transfer sends a megabyte from the client to a host, which reads it.
func transfer(b *bench, host, at string) {
	l := b.listen(host, at)
	done := make(chan error, 1)
	go func() {
		c, err := l.Accept()
		if err == nil {
			_, err = io.Copy(io.Discard, c)
			c.Close()
		}
		done <- err
	}()
	c := b.dial("client", at)
	if _, err := c.Write(make([]byte, 1<<20)); err != nil {
		b.t.Error(err)
	}
	c.Close()
	if err := <-done; err != nil {
		b.t.Error(err)
	}
}

// reconnect opens and closes some connections in order.
func reconnect(b *bench) {
	l := b.listen("server", "10.0.0.1:7002")
	go func() {
		for {
			c, err := l.Accept()
			if err != nil {
				return
			}
			_, _ = io.Copy(io.Discard, c)
			c.Close()
		}
	}()
	for range 20 {
		c := b.dial("client", "10.0.0.1:7002")
		_, _ = c.Write([]byte("hello"))
		c.Close()
	}
}
