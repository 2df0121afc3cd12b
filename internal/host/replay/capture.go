// Package replay transmits the frames of a capture file through one interface, on the file's schedule or
// another, and finds which arrive at another interface of the same host behind the device under test.
//
// Package pcapfile reads files. capture.go makes Ethernet frames of their packets (linklayer.go), prepare.go
// those that the interface can send, with segment.go and rewrite.go; schedule.go computes when each
// frame is due, match.go identifies frames that arrive, and replay.go runs it all. Package packet of
// internal/kernel transmits and receives.
//
// It answers nothing, so connections in the file have no real peer. Files are untrusted; the memory and time
// they take is bounded.
package replay

import (
	"errors"
	"fmt"
	"io"
	"slices"
	"time"

	"linerate/internal/host/replay/pcapfile"
	"linerate/internal/kernel/packet"
	"linerate/internal/model/record"
	"linerate/internal/model/unit"
)

// Limits of a capture.
const (
	MostFrames = 4 << 20
	// mostBytes is the most memory that frames take, of which each takes perFrame besides its data. The garbage
	// collector needs as much again.
	mostBytes = 256 << 20
	perFrame  = 128
	// longest is the maximum time between two frames; more means that a clock was set.
	longest = 24 * time.Hour
)

// Frame is an Ethernet frame of a capture, without its check sequence.
type Frame struct {
	At     time.Duration // time since the first frame; never before the previous one
	Data   []byte        // what the file has of it
	Number int           // in the file, from 1
	// Length is the size that it had on the link: more than that of Data if the capture has only its beginning.
	Length int
	// made means that the Ethernet header is not of the file: its addresses are zero.
	made bool
}

// Capture is the content of a capture file.
type Capture struct {
	Frames []Frame
	// Cut says that the file ends early; nil: it is complete.
	Cut     *record.ReplayCut
	remarks map[record.ReplayCode]*record.ReplayRemark
	// foreign is the link type of the first frame of one that is no Ethernet and has no IP.
	foreign pcapfile.LinkType
	// gap is the first frame that is more than longest later than the one before, by gapLength.
	gap       int
	gapLength time.Duration
	timeless  int // number of the first frame without a time; 0: none
	zeros     int // number of frames at the beginning that have the time 0
}

// mostNumbers is how many frames a remark lists.
const mostNumbers = 5

// remark notes something about a frame.
func (c *Capture) remark(code record.ReplayCode, number int) {
	r := c.remarks[code]
	if r == nil {
		r = &record.ReplayRemark{Code: code}
		c.remarks[code] = r
	}
	r.Frames++
	if len(r.First) < mostNumbers {
		r.First = append(r.First, number)
	}
}

// Remarks returns what is to be said about frames, in the order of record.ReplayCodes.
func (c *Capture) Remarks() (list []record.ReplayRemark) {
	for _, code := range record.ReplayCodes {
		if r := c.remarks[code]; r != nil {
			list = append(list, *r)
		}
	}
	return list
}

// Read reads a capture file. One that ends early, or is damaged, is read as far as that; Cut says so.
func Read(from io.Reader) (*Capture, error) {
	file, err := pcapfile.Open(from)
	if err != nil {
		return nil, err
	}
	c := &Capture{remarks: map[record.ReplayCode]*record.ReplayRemark{}}
	var clock clock
	bytes := 0
	for number := 1; ; number++ {
		p, err := file.Next()
		if err != nil {
			if err := c.end(err); err != nil {
				return nil, err
			}
			if number == 1 {
				return nil, c.noFrames()
			}
			return c, nil
		}
		if bytes += len(p.Data) + perFrame; bytes > mostBytes || number > MostFrames {
			return nil, fmt.Errorf("the file has more than %s frames, or they need more than %s bytes of memory: "+
				"split it, as by editcap -c 1000000 FILE OUT", unit.FormatCount(MostFrames),
				unit.FormatCount(mostBytes))
		}
		at := clock.read(c, number, p.At)
		if f, ok := c.frame(number, p); ok {
			f.At = at
			c.Frames = append(c.Frames, f)
		}
	}
}

// end notes how the file ends; an error if it could not be read.
func (c *Capture) end(err error) error {
	var cut *pcapfile.Cut
	var damage *pcapfile.Damage
	switch {
	case errors.Is(err, io.EOF):
	case errors.As(err, &cut):
		c.Cut = &record.ReplayCut{After: cut.After, InFrame: cut.InPacket, Missing: cut.Missing}
	case errors.As(err, &damage):
		c.Cut = &record.ReplayCut{After: damage.After, Damaged: damage.Why}
	default:
		return err
	}
	return nil
}

// noFrames returns why there are none.
func (c *Capture) noFrames() error {
	switch cut := c.Cut; {
	case cut == nil:
		return errors.New("the file has no frames: it is complete, and nothing was captured")
	case cut.Damaged != "":
		return fmt.Errorf("the file is damaged before its first frame: %s", cut.Damaged)
	case cut.InFrame:
		return fmt.Errorf("the file has no complete frame: it ends in the first, of which %d bytes are missing",
			cut.Missing)
	}
	return errors.New("the file has no frames: it ends before the first")
}

// clock reads the times of frames.
type clock struct {
	first, last time.Time
	before      int // number of the frame with the time last; 0: none had one
}

// read returns the time of a frame since the first, never before that of the frame before it.
func (k *clock) read(c *Capture, number int, at time.Time) time.Duration {
	switch {
	case at.IsZero():
		if c.timeless == 0 {
			c.timeless = number
		}
		return k.last.Sub(k.first)
	case k.before == 0:
		k.first, k.last = at, at
	}
	if at.Equal(time.Unix(0, 0)) && c.zeros == number-1 {
		c.zeros++
	}
	switch gap := at.Sub(k.last); {
	case gap < 0:
		c.remark(record.ReplayEarlier, number)
		return k.last.Sub(k.first)
	case gap > longest && c.gap == 0:
		c.gap, c.gapLength = number, gap
	}
	k.last, k.before = at, number
	return k.last.Sub(k.first)
}

// frame makes an Ethernet frame of a packet; false if that is impossible.
func (c *Capture) frame(number int, p pcapfile.Packet) (Frame, bool) {
	header, payload, length, fcs, ok := strip(p)
	if !ok {
		if c.remarks[record.ReplayForeignLink] == nil {
			c.foreign = p.Link
		}
		c.remark(record.ReplayForeignLink, number)
		return Frame{}, false
	}
	if code := checkSequence(header, payload, length, fcs); code != "" {
		c.remark(code, number)
		length -= fcsBytes
		payload = payload[:min(len(payload), max(length, 0))]
	}
	f := Frame{Number: number, Data: slices.Concat(header, payload), Length: len(header) + max(length, 0),
		made: header != nil}
	if f.made {
		c.remark(record.ReplayHeader, number)
	}
	if f.Length < packet.MinBytes {
		c.remark(record.ReplayTooShort, number)
		return f, false
	}
	return f, true
}
