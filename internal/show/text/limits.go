package text

import (
	"fmt"
	"io"

	"linerate/internal/model/unit"
	"linerate/internal/science/limits"
)

// Goodput writes the most that a link carries, and under it where each byte of a frame
// goes.
func Goodput(out io.Writer, l limits.GoodputAnswer, frame limits.Frame) error {
	fmt.Fprintf(out, "%s carries at most %s of payload (%.1f MB/s), %.3f %%.\n\n",
		unit.FormatRate(l.RateBps), unit.FormatRate(l.GoodputBps), l.GoodputBps/8e6, 100*l.Fraction)
	for _, part := range frame.Parts() {
		fmt.Fprintf(out, "  %5d bytes  %s\n", part.Bytes, part.Name)
	}
	of := "per frame"
	if n := frame.Packets(); n > 1 {
		of = fmt.Sprintf("for the %d frames of a datagram", n)
	}
	_, err := fmt.Fprintf(out, "  %5d bytes  of the rate %s, %.0f frames/s\n", l.WireBytes, of, l.FramesPerS)
	return err
}

// Linux's own third values of tcp_rmem and tcp_wmem (tcp(7)), on a machine with
// memory enough.
const (
	linuxRmem = 6 << 20
	linuxWmem = 4 << 20
)

// BDP writes what a path takes to be full.
func BDP(out io.Writer, l limits.BDPAnswer) error {
	fmt.Fprintf(out, "%.0f bytes (%.1f kbit) are under way when %s with a round trip of %s are full.\n\n",
		l.BDPBytes, l.BDPBytes*8/1e3, unit.FormatRate(l.RateBps), unit.Duration(l.RTTS*1e9))
	line := func(name, format string, args ...any) {
		fmt.Fprintf(out, "  %-12s %s\n", name, fmt.Sprintf(format, args...))
	}
	line("window", "%d segments of %d bytes", l.Segments, l.MSSBytes)
	switch {
	case l.Flows > 1:
		line("", "more than TCP's largest window of 1 GiB (RFC 7323): %d connections at least", l.Flows)
	case l.Scaling:
		line("", "more than 65535 bytes: needs window scaling (RFC 7323), without it at most %s", unit.FormatRate(l.Unscaled))
	}
	if l.Window > 0 {
		line("", "%d bytes let at most %s through, %.4g %% of the rate", l.Window, unit.FormatRate(l.WindowBps), 100*l.WindowBps/l.RateBps)
	}
	line("slow start", "%d round trips, %.3g s, until that much is under way", l.Rounds, l.SlowS)
	if l.Answer > 0 {
		line("answer", "%d bytes on a new connection that begins with %d segments:", l.Answer, l.First)
		line("", "%d round trips, %.3g s; fewer is not possible, more where a window is smaller", l.AnswerTrips, l.AnswerS)
	}
	line("receiver", "net.ipv4.tcp_rmem = 4096 131072 %d%s", l.TCPRmem, enoughBy(l.TCPRmem, linuxRmem))
	line("sender", "net.ipv4.tcp_wmem = 4096 16384 %d%s", l.TCPWmem, enoughBy(l.TCPWmem, linuxWmem))
	_, err := fmt.Fprintf(out, "\nThe third value is how far Linux enlarges a connection's buffer by itself; a program\nthat sets SO_RCVBUF or SO_SNDBUF ends that, and is held to net.core.rmem_max and wmem_max.\n")
	return err
}

// enoughBy says so where Linux's default does.
func enoughBy(needed, normally int64) string {
	if needed <= normally {
		return fmt.Sprintf("  (Linux's usual %d is enough)", normally)
	}
	return ""
}
