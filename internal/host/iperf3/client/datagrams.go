package client

import (
	"context"
	"fmt"
	"net"
	"net/netip"
	"time"

	"linerate/internal/bus/greeting"
	"linerate/internal/host/datagram"
	"linerate/internal/host/iperf3"
	"linerate/internal/host/socket"
	"linerate/internal/model/message"
)

// hellos is how often a UDP stream is requested within the timeout: iperf3 asks only once, but datagrams may be
// lost. strays is how many other datagrams may precede the answer, since a sending server does not wait.
const (
	hellos = 5
	strays = 1000
)

// openDatagrams opens a UDP stream: it sends a request and waits for the server's answer.
func openDatagrams(ctx context.Context, e *datagram.Engine, request message.FlowRequest, wide bool,
	limit time.Duration) (netip.AddrPort, error) {
	// options for TCP, which these streams do not have
	request.MSS, request.CongestionControl, request.NoDelay = 0, "", nil
	conn, err := datagram.Dial(ctx, request)
	if err != nil {
		return netip.AddrPort{}, err
	}
	local := socket.AddrPort(conn.LocalAddr())
	if err := openStream(conn, request, limit); err != nil {
		conn.Close()
		return local, err
	}
	return local, e.Adopt(request, conn, iperf3.DatagramHeader{Wide: wide})
}

func openStream(conn *net.UDPConn, request message.FlowRequest, limit time.Duration) error {
	buffer := make([]byte, iperf3.MaxUDPLength)
	failed := func(err error) error {
		return fmt.Errorf("opening a stream: %w", socket.Reason(err, request.Remote.Addr()))
	}
	for range hellos {
		if err := conn.SetDeadline(time.Now().Add(limit / hellos)); err != nil {
			return err
		}
		if _, err := conn.Write(iperf3.Hello[:]); err != nil {
			return failed(err)
		}
		for range strays {
			n, err := conn.Read(buffer)
			if greeting.TimedOut(err) {
				break
			}
			if err != nil {
				return failed(err)
			}
			if n == iperf3.HelloBytes && iperf3.IsHelloAnswer(buffer[:n]) {
				return conn.SetDeadline(time.Time{})
			}
		}
	}
	return fmt.Errorf("no answer over UDP from %s within %v: a firewall may let TCP through alone",
		request.Remote, limit)
}
