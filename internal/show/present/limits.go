package present

import (
	"fmt"

	"linerate/internal/model/unit"
	"linerate/internal/science/limits"
	"linerate/internal/show/document"
)

// Goodput shows the most that a link carries, and what the bytes of a frame are.
func Goodput(l limits.GoodputAnswer, frame limits.Frame) document.Document {
	what := "of a frame"
	if n := frame.Packets(); n > 1 {
		what = fmt.Sprintf("of the %d frames of a datagram", n)
	}
	t := &document.Table{Columns: []document.Column{{Head: what}, {Head: "bytes", Align: document.Right}}}
	for _, part := range frame.Parts() {
		t.Add(part.Name, fmt.Sprint(part.Bytes))
	}
	t.Add("together", fmt.Sprint(l.WireBytes))
	t.Notes = []string{fmt.Sprintf("%.0f frames/s", l.FramesPerS)}
	return document.Document{
		Title: fmt.Sprintf("%s carries at most %s of payload (%.1f MB/s), %.3f %%.",
			unit.FormatRate(l.RateBps), unit.FormatRate(l.GoodputBps), l.GoodputBps/8e6, 100*l.Fraction),
		Summary: [][]document.Block{{t}},
	}
}

// Linux's own third values of tcp_rmem and tcp_wmem (tcp(7)), on a machine with
// memory enough.
const (
	linuxRmem = 6 << 20
	linuxWmem = 4 << 20
)

// BDP shows the bytes in flight, the window and the buffers that fill a path.
func BDP(l limits.BDPAnswer) document.Document {
	var rows [][]string
	line := func(name, format string, args ...any) {
		rows = append(rows, []string{name, fmt.Sprintf(format, args...)})
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
	line("slow start", "%d round trips, %.3g s, until that much is in flight", l.Rounds, l.SlowS)
	if l.Answer > 0 {
		line("answer", "%d bytes on a new connection that begins with %d segments:", l.Answer, l.First)
		line("", "%d round trips, %.3g s; fewer is not possible, more where a window is smaller", l.AnswerTrips, l.AnswerS)
	}
	line("receiver", "net.ipv4.tcp_rmem = 4096 131072 %d%s", l.TCPRmem, enoughBy(l.TCPRmem, linuxRmem))
	line("sender", "net.ipv4.tcp_wmem = 4096 16384 %d%s", l.TCPWmem, enoughBy(l.TCPWmem, linuxWmem))
	return document.Document{
		Title: fmt.Sprintf("%.0f bytes (%.1f kbit) are in flight when %s with a round trip of %s are full.",
			l.BDPBytes, l.BDPBytes*8/1e3, unit.FormatRate(l.RateBps), unit.Duration(l.RTTS*1e9)),
		Summary: [][]document.Block{{document.FigureList(rows)}, {document.Prose{Text: "The third value is how far Linux enlarges a connection's buffer by itself. " +
			"Setting SO_RCVBUF or SO_SNDBUF turns that off for a socket, and net.core.rmem_max and wmem_max bound it then."}}},
	}
}

// enoughBy names Linux's default where that is enough.
func enoughBy(needed, normally int64) string {
	if needed <= normally {
		return fmt.Sprintf(" (the default is %d)", normally)
	}
	return ""
}
