// Package replay transmits the frames of a capture file through one interface, on the file's schedule or
// another, and finds which arrive at another interface of the same host behind the device under test.
//
// capture.go reads files, rewrite.go changes addresses, schedule.go computes when each frame is due, match.go
// identifies frames that arrive, and replay.go runs it all. Package packet of internal/kernel transmits and
// receives.
//
// It answers nothing, so connections in the file have no real peer. Files are untrusted; the memory and time
// they take is bounded.
package replay

import (
	"bufio"
	"encoding/binary"
	"errors"
	"fmt"
	"io"
	"time"

	"github.com/gopacket/gopacket"
	"github.com/gopacket/gopacket/layers"
	"github.com/gopacket/gopacket/pcapgo"

	"linerate/internal/kernel/packet"
)

// Limits of a capture.
const (
	MostFrames = 4 << 20
	mostBytes  = 1 << 30
	// mostRest limits the bytes between two frames in the file; mostInterfaces limits the interfaces of a
	// pcapng file, since each takes memory.
	mostRest       = 1 << 20
	mostInterfaces = 4096
	// longest is the maximum time between two frames; more means that a clock was set.
	longest = 24 * time.Hour
)

// Frame is one frame of a capture, without its check sequence.
type Frame struct {
	At   time.Duration // time since the first frame; never before the previous one
	Data []byte
}

// Capture is the content of a capture file.
type Capture struct {
	Frames []Frame
	// Truncated frames are longer than the file's snap length and incomplete. Earlier frames have a timestamp
	// before that of the previous frame; they get its time instead.
	Truncated, Earlier int
}

// Read reads Ethernet frames from a pcap file, possibly gzip-compressed, or a pcapng file.
func Read(from io.Reader) (*Capture, error) {
	metered := &meter{from: from, left: mostRest}
	source, link, err := open(bufio.NewReader(metered))
	if err != nil {
		return nil, fmt.Errorf("no capture file of pcap or pcapng: %w", err)
	}
	c := &Capture{}
	var first, last time.Time
	bytes := 0
	for {
		data, info, err := source.ReadPacketData()
		number := len(c.Frames) + 1
		switch {
		case errors.Is(err, io.EOF):
			if number == 1 {
				return nil, errors.New("the file has no frames")
			}
			return c, nil
		case err != nil:
			return nil, fmt.Errorf("frame %d: %w", number, err)
		case link() != layers.LinkTypeEthernet:
			return nil, fmt.Errorf("frame %d is of link type %q: expected Ethernet", number, link())
		case len(data) < packet.MinBytes || len(data) > packet.MaxBytes:
			return nil,
				fmt.Errorf(
					"frame %d has %d bytes: expected %d to %d (larger ones were merged by receive offload, or not "+
						"yet cut: capture with gro, lro, gso and tso off)",
					number, len(data), packet.MinBytes, packet.MaxBytes)
		}
		if bytes += len(data); bytes > mostBytes || number > MostFrames {
			return nil, fmt.Errorf("the file has more than %d frames, or %d bytes", MostFrames, mostBytes)
		}
		metered.left = mostRest
		if ng, is := source.(*pcapgo.NgReader); is && ng.NInterfaces() > mostInterfaces {
			return nil, fmt.Errorf("the file has more than %d interfaces", mostInterfaces)
		}
		if number == 1 {
			first, last = info.Timestamp, info.Timestamp
		}
		switch gap := info.Timestamp.Sub(last); {
		case gap > longest:
			return nil, fmt.Errorf("frame %d is %v later than the one before it: expected at most %v", number,
				gap, longest)
		case gap < 0:
			c.Earlier++
		default:
			last = info.Timestamp
		}
		if info.CaptureLength < info.Length {
			c.Truncated++
		}
		c.Frames = append(c.Frames, Frame{At: last.Sub(first), Data: data})
	}
}

// meter fails if more than left bytes are read before the next frame.
type meter struct {
	from io.Reader
	left int64
}

func (m *meter) Read(b []byte) (int, error) {
	if m.left <= 0 {
		return 0, fmt.Errorf("more than %d bytes of the file without a frame", mostRest)
	}
	n, err := m.from.Read(b[:min(int64(len(b)), m.left)])
	m.left -= int64(n)
	return n, err
}

// open selects the reader by the first bytes of the file.
func open(from *bufio.Reader) (source gopacket.PacketDataSource, link func() layers.LinkType, err error) {
	const sectionHeader = 0x0a0d0d0a // pcapng; the same in either byte order
	begin, err := from.Peek(4)
	if err != nil {
		return nil, nil, err
	}
	if binary.LittleEndian.Uint32(begin) == sectionHeader {
		r, err := pcapgo.NewNgReader(from, pcapgo.NgReaderOptions{ErrorOnMismatchingLinkType: true,
			SkipUnknownVersion: true})
		if err != nil {
			return nil, nil, err
		}
		return r, r.LinkType, nil
	}
	r, err := pcapgo.NewReader(from)
	if err != nil {
		return nil, nil, err
	}
	return r, r.LinkType, nil
}
