//go:build linux && !portable

package sock

import (
	"io"
	"net"
	"testing"

	"linerate/internal/model/netstate"
)

// TCP_INFO of a loopback connection must agree with what was written and read.
func TestTCPInfo(t *testing.T) {
	listener, err := net.Listen("tcp4", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	defer listener.Close()
	near, err := net.Dial("tcp4", listener.Addr().String())
	if err != nil {
		t.Fatal(err)
	}
	defer near.Close()
	far, err := listener.Accept()
	if err != nil {
		t.Fatal(err)
	}
	defer far.Close()
	const size = 100_000
	if _, err := near.Write(make([]byte, size)); err != nil {
		t.Fatal(err)
	}
	if _, err := io.ReadFull(far, make([]byte, size)); err != nil {
		t.Fatal(err)
	}
	infoOf := func(c net.Conn) (i netstate.TCPInfo) {
		raw, err := c.(*net.TCPConn).SyscallConn()
		if err != nil {
			t.Fatal(err)
		}
		var readErr error
		if err := raw.Control(func(fd uintptr) { i, readErr = TCPInfo(int(fd)) }); err != nil || readErr != nil {
			t.Fatal(err, readErr)
		}
		return i
	}
	sender, receiver := infoOf(near), infoOf(far)
	const established = 1
	if sender.State != established || receiver.State != established || sender.SndMSS == 0 || sender.SndCwnd == 0 {
		t.Errorf("sender %+v", sender)
	}
	if receiver.BytesReceived != size || sender.BytesSent < size || sender.BytesAcked > size+1 {
		t.Errorf("%d bytes: sent %d, acknowledged %d, received %d", size, sender.BytesSent, sender.BytesAcked,
			receiver.BytesReceived)
	}
	if _, err := TCPInfo(-1); err == nil {
		t.Error("TCP_INFO of no socket")
	}
	if bitsPerSecond(^uint64(0)) != 0 || bitsPerSecond(125) != 1000 {
		t.Error("rates")
	}
}
