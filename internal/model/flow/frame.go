package flow

import (
	"fmt"
	"strconv"
	"strings"

	"linerate/internal/model/lists"
)

// FrameSize is one of the sizes of a flow's Ethernet frames. Its weight is the number of frames of
// that size in each round of sending.
type FrameSize struct {
	Bytes  int // with the frame check sequence, as in RFC 2544
	Weight int
}

// IMIX is the name of the simple Internet mix: IP packets of 40, 576 and 1500 bytes in the ratio
// 7:4:1. The table has the resulting Ethernet frames.
const IMIX = "imix"

var imix = []FrameSize{{64, 7}, {594, 4}, {1518, 1}}

// Bounds of frames; sizes include the frame check sequence.
const (
	frameHeaders = 14 + 4 // Ethernet header and frame check sequence
	leastFrame   = 64
	mostFrame    = frameHeaders + 9000
	mostSizes    = 16
	mostWeight   = 1000 // of all sizes together
	mostTuples   = 1_000_000
)

// ParseFrames parses the sizes of a flow's frames: imix, one size, or several with their weights,
// such as 64:7,594:4,1518:1.
func ParseFrames(text string) ([]FrameSize, error) {
	if text == IMIX {
		return imix, nil
	}
	var sizes []FrameSize
	round := 0
	for part := range strings.SplitSeq(text, ",") {
		size, weight, weighted := strings.Cut(part, ":")
		s := FrameSize{Weight: 1}
		var err error
		if s.Bytes, err = strconv.Atoi(size); err == nil && weighted {
			s.Weight, err = strconv.Atoi(weight)
		}
		if err != nil || s.Bytes < leastFrame || s.Bytes > mostFrame || s.Weight < 1 || s.Weight > mostWeight {
			return nil,
				fmt.Errorf(
					"%.40q: expected %s, or sizes of %d to %d bytes with weights, such as 64 or 64:7,594:4,1518:1",
					text, IMIX, leastFrame, mostFrame)
		}
		round += s.Weight
		if sizes = append(sizes, s); len(sizes) > mostSizes || round > mostWeight {
			return nil, fmt.Errorf("%.40q: expected at most %d sizes, whose weights add up to %d at most", text,
				mostSizes, mostWeight)
		}
	}
	return sizes, nil
}

// FramePayloads returns the UDP payload of each frame of a round in sending order. Frames of one
// size are spread as evenly over the round as their weight allows. A payload is 0 or negative if
// the frame has no room for one. Nil: the kernel makes the datagrams.
func (o Spec) FramePayloads(ipv6 bool) []int {
	sizes, err := ParseFrames(o.Frame)
	if o.Frame == "" || err != nil {
		return nil
	}
	headers := frameHeaders + 20 + 8
	if ipv6 {
		headers += 20
	}
	round := lists.Sum(sizes, func(s FrameSize) int { return s.Weight })
	credit := make([]int, len(sizes))
	out := make([]int, round)
	for k := range out {
		next := 0
		for i, s := range sizes {
			if credit[i] += s.Weight; credit[i] > credit[next] {
				next = i
			}
		}
		credit[next] -= round
		out[k] = sizes[next].Bytes - headers
	}
	return out
}

// DatagramBytes returns the UDP payload of a datagram, or the mean if they differ. 0: as large as
// the MTU allows.
func (o Spec) DatagramBytes(ipv6 bool) int {
	payloads := o.FramePayloads(ipv6)
	if payloads == nil {
		return int(o.Datagram)
	}
	sum := lists.Sum(payloads, func(n int) int { return n })
	return max(1, (sum+len(payloads)/2)/len(payloads))
}

// frameOptions are the rows of Options for frames.
var frameOptions = []*Option{
	{
		Key: "frame",
		Doc: "linerate makes the Ethernet frames itself, past the kernel's UDP, one by one; their size with the " +
			"check sequence: 64 to 9018, imix (64, 594 and 1518 bytes in the ratio 7:4:1), or sizes with weights, " +
			"such as 64:3,1518:1",
		Absent: "the kernel makes the datagrams", Protocols: []string{UDP}, Type: "size",
		check: func(s *Spec) string {
			if _, err := ParseFrames(s.Frame); err != nil {
				return " " + err.Error()
			}
			return ""
		},
		conflict: func(s *Spec) string {
			if s.Frame != "" && s.Datagram != 0 {
				return fmt.Sprintf(" %s: datagram %v says another size", s.Frame, s.Datagram)
			}
			return ""
		},
	},
	{
		Key: "tuples",
		Doc: "with frame: how many combinations of addresses and ports the frames have in turn: first source " +
			"ports, then source addresses in 198.18.0.0/15 or 2001:2::/48 (RFC 2544, RFC 5180)",
		Absent: "1", Protocols: []string{UDP}, Least: 1, Most: mostTuples,
		conflict: func(s *Spec) string {
			if s.Tuples > 1 && s.Frame == "" {
				return fmt.Sprintf(" %d without frame: the kernel's datagrams have one", s.Tuples)
			}
			return ""
		},
	},
}
