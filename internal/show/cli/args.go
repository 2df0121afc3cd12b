package cli

import (
	"context"
	"errors"
	"fmt"
	"math"
	"net"
	"strconv"
	"strings"
	"syscall"

	"linerate/internal/control/measure"
	"linerate/internal/host/iperf3"
	"linerate/internal/model/hostconfig"
	"linerate/internal/model/source"
	"linerate/internal/model/topology"
)

// places expands the ranges of an argument that names addresses: braces as in study files, which
// give every combination, and a dash as for aliases.
func places(text string) (all []string, err error) {
	if strings.Contains(text, "%d") {
		return nil, fmt.Errorf("a template is written as a range here: %s or, of addresses, 192.168.2.1-254",
			strings.Replace(text, "%d", "{1..254}", 1))
	}
	texts, err := source.Texts(text)
	if err != nil {
		return nil, err
	}
	for _, text := range texts {
		some, err := topology.Places(text)
		if err != nil {
			return nil, err
		}
		all = append(all, some...)
	}
	return all, nil
}

// portWords returns what a client must add to the command to reach a port; empty for the default
// port.
func portWords(port int, byDefault, format string) string {
	if fmt.Sprint(port) == byDefault {
		return ""
	}
	return fmt.Sprintf(format, port)
}

// listenAt completes the address at which a server listens, given as a port, an address, or both.
func listenAt(text, byDefault string) (string, error) {
	host, port, err := net.SplitHostPort(text)
	if _, number := strconv.Atoi(text); err != nil && number == nil {
		host, port = "", text
	} else if err != nil {
		at, err := measure.Complete(text, byDefault)
		if err != nil {
			return "", fmt.Errorf("%q: expected a port such as :%s, an address, or both as ADDRESS:PORT",
				text, byDefault)
		}
		return at, nil
	}
	if _, err := net.LookupPort("tcp", port); err != nil {
		return "", fmt.Errorf("%q: port %q: expected 0 to 65535, or a name of /etc/services", text, port)
	}
	return net.JoinHostPort(host, port), nil
}

// cannotListen returns an error that explains why a server cannot listen on an address and port,
// and which it can use instead.
func cannotListen(ctx context.Context, err error, address, flag string, addresses int) error {
	host, text, _ := net.SplitHostPort(address)
	another := host
	if addresses > 1 { // one address would leave out the others
		another = ""
	}
	port, wrong := strconv.Atoi(text)
	if errors.Is(err, syscall.EACCES) && wrong == nil && port < 1024 {
		free := measure.DefaultPort
		if flag == "--iperf3" {
			free = iperf3.DefaultPort
		}
		return fmt.Errorf(
			"port %s: permission denied: ports below net.ipv4.ip_unprivileged_port_start (by default 1024) need "+
				"root or CAP_NET_BIND_SERVICE; another port: %s %s",
			text, flag, net.JoinHostPort(another, free))
	}
	if errors.Is(err, syscall.EADDRNOTAVAIL) {
		return fmt.Errorf("%s %s: no interface of this host has the address %s (ip address lists them)", flag,
			address, host)
	}
	if !errors.Is(err, syscall.EADDRINUSE) || wrong != nil {
		return err
	}
	// For --iperf3 the listener is not asked what it is: a connection disturbs an iperf3 server.
	return fmt.Errorf("port %s is in use by %s; another port: %s %s", text, occupant(ctx, address, flag == "--listen"),
		flag, net.JoinHostPort(another, freePort(another, port)))
}

// freePort returns the first port after another one on which nothing listens and which is not a
// default port of linerate or iperf3.
func freePort(host string, after int) string {
	for port := after + 1; port <= math.MaxUint16; port++ {
		text := strconv.Itoa(port)
		if text == measure.DefaultPort || text == iperf3.DefaultPort {
			continue
		}
		if l, err := net.Listen("tcp", net.JoinHostPort(host, text)); err == nil {
			l.Close()
			return text
		}
	}
	return "0"
}

// quote quotes a word for the shell if it needs quotes.
func quote(word string) string { return hostconfig.Quote(word) }
