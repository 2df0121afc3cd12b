//go:build linux && !portable

package packet

import (
	"bytes"
	"errors"
	"net/netip"
	"os"
	"testing"
	"time"

	"golang.org/x/sys/unix"

	"linerate/internal/kernel/kerneltest"
)

// cable makes a veth pair, and a socket that receives what arrives at its other end.
func cable(t *testing.T) (receive int) {
	kerneltest.Do(t, "ip", "link", "add", "near", "mtu", "9000", "type", "veth", "peer", "name", "far", "mtu", "9000")
	for _, name := range []string{"near", "far"} {
		kerneltest.Do(t, "sysctl", "-w", "net.ipv6.conf."+name+".disable_ipv6=1") // it would send by itself
		kerneltest.Do(t, "ip", "link", "set", name, "up")
	}
	link, _, err := describe("far")
	if err != nil {
		t.Fatal(err)
	}
	all := uint16(unix.ETH_P_ALL)<<8 | uint16(unix.ETH_P_ALL)>>8
	if receive, err = unix.Socket(unix.AF_PACKET, unix.SOCK_RAW|unix.SOCK_CLOEXEC|unix.SOCK_NONBLOCK, 0); err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { unix.Close(receive) })
	_ = unix.SetsockoptInt(receive, unix.SOL_SOCKET, unix.SO_RCVBUFFORCE, 16<<20)
	if err := unix.Bind(receive, &unix.SockaddrLinklayer{Ifindex: link.Index, Protocol: all}); err != nil {
		t.Fatal(err)
	}
	return receive
}

// arrived is every frame that has come in.
func arrived(t *testing.T, receive int) (frames [][]byte) {
	buffer := make([]byte, MaxBytes+1)
	for {
		n, err := unix.Read(receive, buffer)
		if err == unix.EAGAIN {
			return frames
		}
		if err != nil {
			t.Fatal(err)
		}
		frames = append(frames, bytes.Clone(buffer[:n]))
	}
}

// carries: frames of all sizes and of several protocols arrive as they were made, and no
// others; what a full queue refuses is not counted as sent.
func carries(t *testing.T, mode string) {
	receive := cable(t)
	s, err := Open(Options{Interface: "near", Bytes: MaxBytes, Mode: mode})
	if err != nil {
		t.Fatal(err)
	}
	defer func() { s.Close() }()
	if got, refused := s.Mode(); got != mode || refused != "" {
		t.Errorf("sent by %q (%s), want %q", got, refused, mode)
	}
	made := make([][]byte, Room)
	for round, size := range []int{60, 1514, MaxBytes, 61} {
		for i := range made {
			b := size
			if size == MaxBytes && i%8 != 0 {
				b = 100 // the receiver's buffer has no room for as many
			}
			if i%3 == 1 {
				b = 34 + i // of different sizes in a batch
			}
			made[i] = bytes.Repeat([]byte{byte(i + round + 1)}, b)
			copy(made[i], "\x02\x00\x00\x00\x00\x02\x02\x00\x00\x00\x00\x01\x08\x00")
			if i >= Room/2 {
				made[i][13] = 6 // ARP
			}
			frame, err := s.Frame(i, b)
			if err != nil {
				t.Fatal(err)
			}
			copy(frame, made[i])
		}
		for sent := 0; sent < Room; {
			n, err := s.Send(sent, Room)
			if err != nil || n == 0 {
				t.Fatalf("%d of %d sent: %v", sent, Room, err)
			}
			sent += n
		}
		got := arrived(t, receive)
		if len(got) != len(made) {
			t.Fatalf("round %d: %d frames arrived, want %d", round, len(got), len(made))
		}
		for i := range got {
			if !bytes.Equal(got[i], made[i]) {
				t.Fatalf("round %d, frame %d: %d bytes % .40x, want %d bytes % .40x", round, i, len(got[i]), got[i],
					len(made[i]), made[i])
			}
		}
	}
	if frame, err := s.Frame(0, MinBytes); err != nil { // no more than a header, at the beginning of a batch
		t.Fatal(err)
	} else {
		copy(frame, made[0])
	}
	if n, err := s.Send(0, 1); n != 1 || err != nil {
		t.Errorf("a frame of %d bytes: %d sent, %v", MinBytes, n, err)
	} else if got := arrived(t, receive); len(got) != 1 || !bytes.Equal(got[0], made[0][:MinBytes]) {
		t.Errorf("a frame of %d bytes: % x arrived", MinBytes, got)
	}
	for _, size := range []int{0, MinBytes - 1, MaxBytes + 1} {
		if _, err := s.Frame(0, size); !errors.Is(err, ErrSize) {
			t.Errorf("%d bytes: %v, want %v", size, err, ErrSize)
		}
	}

	// A queue for a few frames, which leave it slowly.
	kerneltest.Do(t, "tc", "qdisc", "add", "dev", "near", "root", "tbf", "rate", "1mbit", "burst", "2000",
		"limit", "8000")
	s.Close() // one that was opened before passes the queue by, where that was there
	if s, err = Open(Options{Interface: "near", Bytes: 1000, Mode: mode}); err != nil {
		t.Fatal(err)
	}
	for i := range Room {
		frame, _ := s.Frame(i, 1000)
		copy(frame, made[0])
	}
	sent, refused := 0, 0
	for range 10 {
		n, err := s.Send(0, Room)
		sent += n
		if err == unix.ENOBUFS || err == unix.EAGAIN {
			refused++
		} else if err != nil {
			t.Fatal(err)
		}
	}
	got := 0
	for until := time.Now().Add(10 * time.Second); got < sent &&
		time.Now().Before(until); time.Sleep(time.Millisecond) {
		got += len(arrived(t, receive))
	}
	if got != sent || refused == 0 || sent == 0 {
		t.Errorf("%d sent, %d calls refused, %d arrived", sent, refused, got)
	}
}

func TestSocket(t *testing.T) {
	kerneltest.InNamespace(t, func(t *testing.T) { carries(t, Socket) })
}

func TestProgram(t *testing.T) {
	kerneltest.AsRoot(t, func(t *testing.T) { carries(t, Program) })
}

// TestNothingIsLeft: a sender gives back its descriptors.
func TestNothingIsLeft(t *testing.T) {
	kerneltest.InNamespace(t, func(t *testing.T) {
		kerneltest.Do(t, "ip", "link", "set", "lo", "up")
		open := func() int {
			list, err := os.ReadDir("/proc/self/fd")
			if err != nil {
				t.Fatal(err)
			}
			return len(list)
		}
		before := open()
		for range 5 {
			s, err := Open(Options{Interface: "lo", Bytes: 60})
			if err != nil {
				t.Fatal(err)
			}
			s.Close()
			if _, err := Open(Options{Interface: "none", Bytes: 60}); !errors.Is(err, unix.ENODEV) {
				t.Errorf("no interface: %v", err)
			}
		}
		if after := open(); after != before {
			t.Errorf("%d descriptors, %d before", after, before)
		}
	})
}

// TestOpenRefuses: frames that are too long for the interface, and interfaces that send
// nothing, are refused: drivers drop what they get then, and report no error.
func TestOpenRefuses(t *testing.T) {
	kerneltest.InNamespace(t, func(t *testing.T) {
		cable(t)
		kerneltest.Do(t, "ip", "link", "set", "near", "mtu", "1500")
		for bytes, want := range map[int]error{1518: nil, 1519: ErrSize} {
			s, err := Open(Options{Interface: "near", Bytes: bytes})
			if !errors.Is(err, want) {
				t.Errorf("%d bytes: %v, want %v", bytes, err, want)
			}
			if err == nil {
				defer s.Close()
				kerneltest.Do(t, "ip", "link", "set", "far", "down")
				if err := Check("near"); !errors.Is(err, unix.ENETDOWN) {
					t.Errorf("the other end is down: %v", err)
				}
				kerneltest.Do(t, "ip", "link", "set", "far", "up")
			}
		}
		kerneltest.Do(t, "ip", "link", "set", "near", "down")
		if _, err := Open(Options{Interface: "near", Bytes: 60}); !errors.Is(err, unix.ENETDOWN) {
			t.Errorf("it is down: %v", err)
		}
	})
}

// TestCounter: what matches is counted, whatever the buffer has no room for, and nothing else.
func TestCounter(t *testing.T) {
	kerneltest.InNamespace(t, func(t *testing.T) {
		cable(t)
		match := Match{Destination: netip.MustParsePrefix("10.0.0.2/31"), Port: 7, Word: 0x01020304, Mask: ^uint32(1)}
		c, err := OpenCounter("far", match)
		if err != nil {
			t.Fatal(err)
		}
		defer c.Close()
		s, err := Open(Options{Interface: "near", Bytes: 100, Mode: Socket})
		if err != nil {
			t.Fatal(err)
		}
		defer s.Close()
		matching := make([]byte, 100)
		copy(matching, "\x02\x00\x00\x00\x00\x02\x02\x00\x00\x00\x00\x01\x08\x00\x45")
		matching[14+9] = 17
		copy(matching[14+16:], "\x0a\x00\x00\x02\x00\x00\x00\x07")
		copy(matching[14+28:], "\x01\x02\x03\x04")
		send := func(frame []byte, times int) {
			t.Helper()
			for sent := 0; sent < times; {
				for i := range Room {
					room, err := s.Frame(i, len(frame))
					if err != nil {
						t.Fatal(err)
					}
					copy(room, frame)
				}
				n, err := s.Send(0, min(Room, times-sent))
				if err != nil && err != unix.ENOBUFS && err != unix.EAGAIN {
					t.Fatal(err)
				}
				sent += n
			}
		}
		const many = 20_000
		send(matching, many)
		matching[14+28+3] = 5 // differs where the mask has no bit
		matching[14+19] = 3   // the other address of the prefix
		send(matching, 1)
		for at, value := range map[int]byte{12: 9, 14: 0x46, 14 + 9: 6, 14 + 18: 1, 14 + 19: 4, 14 + 23: 8, 14 + 28: 2,
			14 + 31: 7} {
			other := bytes.Clone(matching)
			other[at] = value
			send(other, 10)
		}
		var got int64
		for until := time.Now().Add(10 * time.Second); got < many+1 &&
			time.Now().Before(until); time.Sleep(time.Millisecond) {
			if got, err = c.Count(); err != nil {
				t.Fatal(err)
			}
		}
		time.Sleep(50 * time.Millisecond)
		if got, err = c.Count(); err != nil || got != many+1 {
			t.Errorf("%d counted, want %d: %v", got, many+1, err)
		}
	})
}
