package replay

import (
	"encoding/binary"
	"errors"
	"fmt"
	"net"
	"strings"
	"time"

	"linerate/internal/kernel/packet"
	"linerate/internal/model/record"
	"linerate/internal/model/unit"
)

// Fitting selects what to do with frames that cannot be sent as they were captured. The zero value refuses a
// capture that has any, except incomplete ones, which are sent as far as the file has them.
type Fitting struct {
	Pad     bool // incomplete frames are sent in full length, with zeros
	Segment bool // too large TCP segments are sent in several frames
	Skip    bool // others are left out, and incomplete ones too
	// MostGap is the maximum time between two frames; later ones are due earlier. 0: unlimited.
	MostGap time.Duration
}

// link is the interface that transmits.
type link struct {
	name    string
	mtu     int
	address net.HardwareAddr
}

// largest returns the size of the largest frame that it sends, with the tags of a frame.
func (l link) largest(frame []byte) int {
	n := l.mtu + ethernet
	if binary.BigEndian.Uint16(frame[ethernet-2:]) == 0x8100 {
		n += 4
	}
	return min(n, packet.MaxBytes)
}

// Prepare makes frames of the capture that the interface can send, changed as the options say. The error names
// every kind of frame that prevents it, the first of them, and what to do.
func (c *Capture) Prepare(o Options) error {
	to := link{name: o.Interface, mtu: packet.MaxBytes - ethernet}
	if i, err := net.InterfaceByName(o.Interface); err == nil { // otherwise packet.Open says why
		to.mtu, to.address = i.MTU, i.HardwareAddr
		if len(to.address) == 0 && i.Flags&net.FlagLoopback == 0 {
			return fmt.Errorf("%s sends no Ethernet frames, but IP packets, as a tunnel does: send by an Ethernet "+
				"interface", to.name)
		}
	}
	problems := []error{c.unreadable(o), c.untimely(o)}
	frames, err := c.fit(o, to)
	if err := errors.Join(append(problems, err)...); err != nil {
		return err
	}
	if len(frames) == 0 {
		return errors.New("no frame is left to send")
	}
	for i := range frames {
		f := &frames[i]
		if f.made && o.Source == nil {
			copy(f.Data[6:], to.address)
		}
		o.Rewrite.Apply(f.Data)
	}
	c.Frames = frames
	c.shorten(o)
	return nil
}

// unreadable returns what of the file cannot be sent whatever the interface is.
func (c *Capture) unreadable(o Options) error {
	var problems []error
	if c.Cut != nil && c.Cut.Damaged != "" && !o.Skip {
		problems = append(problems, fmt.Errorf("the file is damaged behind frame %d: %s; --skip sends the frames "+
			"before", c.Cut.After, c.Cut.Damaged))
	}
	if r := c.remarks[record.ReplayForeignLink]; r != nil && !o.Skip {
		problems = append(problems, fmt.Errorf("%s: %s, without Ethernet or IP; capture by the Ethernet interface "+
			"(tcpdump -i eth0), or leave them out with --skip", r.Numbers(), c.foreign))
	}
	if r := c.remarks[record.ReplayTooShort]; r != nil && !o.Skip {
		problems = append(problems, fmt.Errorf("%s: shorter than the %d bytes of an Ethernet header; leave them "+
			"out with --skip", r.Numbers(), ethernet))
	}
	if r := c.remarks[record.ReplayHeader]; r != nil && o.Destination == nil && !o.Skip {
		problems = append(problems, fmt.Errorf("%s: without an Ethernet header, as captured by tcpdump -i any or "+
			"on a tunnel; give them one with --destination-mac ADDRESS, that of the router (the source is "+
			"--source-mac, or else the address of %s), capture by the Ethernet interface, or leave them out with "+
			"--skip", r.Numbers(), o.Interface))
	}
	return errors.Join(problems...)
}

// untimely returns why the times of the file are no schedule.
func (c *Capture) untimely(o Options) error {
	const instead = "send at a constant rate with --pace 1000, or as fast as possible with --speed max"
	last := 0
	if n := len(c.Frames); n > 0 {
		last = c.Frames[n-1].Number
	}
	switch {
	case !o.timed():
		delete(c.remarks, record.ReplayEarlier)
	case last <= 1:
	case c.timeless > 0:
		return fmt.Errorf("frame %d has no time in the file (a Simple Packet Block): %s", c.timeless, instead)
	case c.zeros >= last:
		return fmt.Errorf("all frames have the time 0 in the file: %s", instead)
	case c.gap > 0 && o.MostGap == 0:
		return fmt.Errorf("frame %d is %s later than the one before, as if a clock had been set: shorten such "+
			"gaps with --max-gap 1s, %s", c.gap, unit.FormatSeconds(c.gapLength.Seconds()), instead)
	}
	return nil
}

// shorten makes the gaps between frames as short as the options say.
func (c *Capture) shorten(o Options) {
	if o.MostGap == 0 || !o.timed() {
		return
	}
	var before, moved time.Duration
	for i := range c.Frames {
		f := &c.Frames[i]
		gap := f.At - before
		before = f.At
		if i == 0 {
			moved = gap
		} else if gap > o.MostGap {
			moved += gap - o.MostGap
			c.remark(record.ReplayGap, f.Number)
		}
		f.At -= moved
	}
}

// fit returns the frames to send. The error says why the interface cannot send some.
func (c *Capture) fit(o Options, to link) (frames []Frame, err error) {
	large := &Capture{remarks: map[record.ReplayCode]*record.ReplayRemark{}}
	var first error
	for _, f := range c.Frames {
		if f.made && o.Destination == nil && o.Skip {
			delete(c.remarks, record.ReplayHeader)
			c.remark(record.ReplayForeignLink, f.Number)
			continue
		}
		whole := len(f.Data) == f.Length
		if !whole {
			switch {
			case o.Pad && f.Length <= mostPadded:
				f.Data = append(f.Data, make([]byte, f.Length-len(f.Data))...)
				c.remark(record.ReplayPadded, f.Number)
			case o.Skip || len(f.Data) < ethernet:
				c.remark(record.ReplayNoPart, f.Number)
				continue
			default:
				c.remark(record.ReplayIncomplete, f.Number)
			}
		}
		code := record.ReplayCode("")
		if whole {
			code = complete(f.Data)
		}
		largest := to.largest(f.Data)
		if h := parse(f.Data); len(f.Data) > largest && h.ip != 0 && !h.cut && h.end <= largest {
			f.Data = f.Data[:h.end]
			c.remark(record.ReplayTrailer, f.Number)
		}
		if len(f.Data) <= largest {
			if code != "" {
				c.remark(code, f.Number)
			}
			frames = append(frames, f)
			continue
		}
		if parts := segments(f.Data, largest); o.Segment && parts != nil {
			if len(frames)+len(parts) > MostFrames {
				return nil, fmt.Errorf("more than %s segments", unit.FormatCount(MostFrames))
			}
			c.remark(record.ReplaySegmented, f.Number)
			for _, b := range parts {
				frames = append(frames, Frame{At: f.At, Data: b, Number: f.Number, Length: len(b), made: f.made})
			}
			continue
		}
		if o.Skip {
			c.remark(record.ReplayTooLarge, f.Number)
			continue
		}
		if large.remark(record.ReplayTooLarge, f.Number); first == nil {
			first = errors.New(tooLarge(f, largest, to))
		}
	}
	if first != nil {
		return nil, fmt.Errorf("%s: %w", large.remarks[record.ReplayTooLarge].Numbers(), first)
	}
	return frames, nil
}

// mostPadded is the size up to which an incomplete frame is padded: the length that the file says is not trusted.
const mostPadded = 1 << 16

// tooLarge says why the interface cannot send a frame, where that comes from, and what to do.
func tooLarge(f Frame, largest int, to link) string {
	h := parse(f.Data)
	text := fmt.Sprintf("larger than %s sends: frame %d has %d bytes, and the MTU of %d allows %d", to.name, f.Number,
		len(f.Data), to.mtu, largest)
	if to.mtu+ethernet > packet.MaxBytes {
		text = fmt.Sprintf("larger than this program sends: frame %d has %d bytes, and at most %d are sent", f.Number,
			len(f.Data), largest)
	}
	merged := h.protocol == tcp || h.cut || len(f.Data) > packet.MaxBytes
	var ways []string
	if merged {
		text += ". It is several packets in one: GRO or LRO had merged them, or TSO or GSO had not yet cut them"
		if !h.cut && len(f.Data) <= packet.MaxBytes {
			text += ", or the network had a larger MTU"
		}
		if segments(f.Data, largest) != nil {
			ways = append(ways, "send it in segments of this MTU with --segment")
		}
	}
	if !h.cut && len(f.Data) <= packet.MaxBytes {
		ways = append(ways, fmt.Sprintf("send by an interface with an MTU of %d", len(f.Data)-(largest-to.mtu)))
	}
	ways = append(ways, "leave it out with --skip")
	if merged {
		ways = append(ways, "or capture again with offload off, on that host: "+
			"ethtool -K eth0 gro off lro off gso off tso off")
	}
	return text + ". Ways out: " + strings.Join(ways, "; ")
}

// towards returns where most of the frames go.
func towards(frames []Frame) (out record.ReplayTowards) {
	const most = 1 << 16 // destinations that are counted
	macs, ips := map[string]int{}, map[string]int{}
	add := func(to map[string]int, key []byte) {
		if _, known := to[string(key)]; known || len(to) < most {
			to[string(key)]++
		}
	}
	for _, f := range frames {
		add(macs, f.Data[:6])
		if h := parse(f.Data); h.ip != 0 {
			add(ips, f.Data[h.addr+h.addrLen:h.addr+2*h.addrLen])
		}
	}
	for key, n := range macs {
		if text := net.HardwareAddr(key).String(); n > out.Frames || n == out.Frames && text < out.MAC {
			out.MAC, out.Frames = text, n
		}
	}
	for key, n := range ips {
		if text := net.IP(key).String(); n > out.Packets || n == out.Packets && text < out.IP {
			out.IP, out.Packets = text, n
		}
	}
	return out
}
