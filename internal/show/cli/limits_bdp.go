package cli

import (
	"encoding/json"
	"fmt"
	"io"
	"time"

	"github.com/spf13/cobra"

	"linerate/internal/model/unit"
	"linerate/internal/science/limits"
)

// bdpLimit is what `linerate limits bdp --json` prints.
type bdpLimit struct {
	Schema    string  `json:"schema"`
	RateBps   float64 `json:"rate_bps"`
	RTTS      float64 `json:"rtt_s"`
	MSSBytes  int     `json:"mss_bytes"`
	BDPBytes  float64 `json:"bdp_bytes"`
	Segments  int     `json:"segments"`
	Scaling   bool    `json:"needs_window_scaling"`
	Flows     int     `json:"flows_needed"`
	Unscaled  float64 `json:"unscaled_window_bps"`
	Rounds    int     `json:"slow_start_round_trips"`
	SlowS     float64 `json:"slow_start_s"`
	TCPRmem   int64   `json:"tcp_rmem_max_bytes"`
	TCPWmem   int64   `json:"tcp_wmem_max_bytes"`
	Window    int64   `json:"window_bytes,omitempty"`
	WindowBps float64 `json:"window_bps,omitempty"`
	// An answer of some bytes on a new connection.
	Answer      int64   `json:"answer_bytes,omitempty"`
	First       int     `json:"first_window_segments,omitempty"`
	AnswerTrips int     `json:"answer_round_trips,omitempty"`
	AnswerS     float64 `json:"answer_s,omitempty"`
}

type bdpFlags struct {
	rate   unit.BitRate
	rtt    unit.Duration
	window unit.Bytes
	answer unit.Bytes
	first  int
	mss    int
	asJSON bool
}

func newLimitsBDPCommand(s streams) *cobra.Command {
	var f bdpFlags
	cmd := &cobra.Command{
		Use:   "bdp",
		Short: "What is under way when a path is full, and the buffers that takes",
		Long: `The bandwidth-delay product of a path: the bytes that are under way when it is
full. A connection needs a window as large as that, and both hosts have to allow
buffers that hold it. With --window, also the most that such a window lets through;
with --answer, how long so many bytes take on a connection that is new.`,
		Example: `  linerate limits bdp --rate 1gbit --rtt 25ms
  linerate limits bdp --rate 10gbit --rtt 80ms --window 4MiB
  linerate limits bdp --rate 100mbit --rtt 200ms --json
  linerate limits bdp --rate 1gbit --rtt 50ms --answer 64kB --first-window 40`,
		Args: noArgs,
		RunE: func(*cobra.Command, []string) error {
			if f.rtt <= 0 {
				return usageError(fmt.Errorf("--rtt %s: expected more than 0s", f.rtt))
			}
			if f.mss < 88 || f.mss > 65495 {
				return usageError(fmt.Errorf("--mss %d: expected 88 to 65495 bytes of payload in a segment", f.mss))
			}
			if f.first < 1 || f.first > 65535 {
				return usageError(fmt.Errorf("--first-window %d: expected 1 to 65535 segments", f.first))
			}
			limit := f.limit()
			if f.asJSON {
				return json.NewEncoder(s.out).Encode(limit)
			}
			return limit.print(s.out)
		},
	}
	flags := cmd.Flags()
	quantityVar(flags, &f.rate, unit.ParseBitRate, "rate", "rate", "1gbit", "rate of the path's slowest link")
	quantityVar(flags, &f.rtt, unit.ParseDuration, "rtt", "duration", "25ms", "round-trip time with empty queues")
	quantityVar(flags, &f.window, unit.ParseBytes, "window", "size", "", "a window to hold against the path, such as 64KiB")
	quantityVar(flags, &f.answer, unit.ParseBytes, "answer", "size", "", "an answer on a new connection, such as 64kB")
	flags.IntVar(&f.first, "first-window", limits.FirstWindow, "segments with which the answering end begins: the initcwnd of its route")
	flags.IntVar(&f.mss, "mss", 1448, "payload of a full segment, in bytes")
	flags.BoolVar(&f.asJSON, "json", false, "print JSON (linerate.limits.bdp/v1)")
	return cmd
}

func (f bdpFlags) limit() bdpLimit {
	p := limits.Path{RateBps: float64(f.rate), RTTS: time.Duration(f.rtt).Seconds(), Segment: f.mss}
	l := bdpLimit{
		Schema: "linerate.limits.bdp/v1", RateBps: p.RateBps, RTTS: p.RTTS, MSSBytes: f.mss,
		BDPBytes: p.BDP(), Segments: p.Segments(), Scaling: p.Scaling(), Flows: p.Flows(), Unscaled: p.UnscaledBps(),
		Rounds: p.SlowStart(), SlowS: float64(p.SlowStart()) * p.RTTS,
		TCPRmem: p.ReceiveBuffer(), TCPWmem: p.SendBuffer(),
	}
	if f.window > 0 {
		l.Window, l.WindowBps = int64(f.window), p.WindowBps(float64(f.window))
	}
	if f.answer > 0 {
		l.Answer, l.First, l.AnswerTrips = int64(f.answer), f.first, p.Answer(float64(f.answer), f.first)
		l.AnswerS = float64(l.AnswerTrips)*p.RTTS + float64(f.answer)*8/p.RateBps
	}
	return l
}

// Linux's own third values of tcp_rmem and tcp_wmem (tcp(7)), on a machine with
// memory enough.
const (
	linuxRmem = 6 << 20
	linuxWmem = 4 << 20
)

func (l bdpLimit) print(out io.Writer) error {
	fmt.Fprintf(out, "%.0f bytes (%.1f kbit) are under way when %s with a round trip of %s are full.\n\n",
		l.BDPBytes, l.BDPBytes*8/1e3, limits.Rate(l.RateBps), unit.Duration(l.RTTS*1e9))
	line := func(name, format string, args ...any) {
		fmt.Fprintf(out, "  %-12s %s\n", name, fmt.Sprintf(format, args...))
	}
	line("window", "%d segments of %d bytes", l.Segments, l.MSSBytes)
	switch {
	case l.Flows > 1:
		line("", "more than TCP's largest window of 1 GiB (RFC 7323): %d connections at least", l.Flows)
	case l.Scaling:
		line("", "more than 65535 bytes: needs window scaling (RFC 7323), without it at most %s", limits.Rate(l.Unscaled))
	}
	if l.Window > 0 {
		line("", "%d bytes let at most %s through, %.4g %% of the rate", l.Window, limits.Rate(l.WindowBps), 100*l.WindowBps/l.RateBps)
	}
	line("slow start", "%d round trips, %.3g s, until that much is under way", l.Rounds, l.SlowS)
	if l.Answer > 0 {
		line("answer", "%d bytes on a new connection that begins with %d segments:", l.Answer, l.First)
		line("", "%d round trips, %.3g s; fewer is not possible, more where a window is smaller", l.AnswerTrips, l.AnswerS)
	}
	line("receiver", "net.ipv4.tcp_rmem = 4096 131072 %d%s", l.TCPRmem, enough(l.TCPRmem, linuxRmem))
	line("sender", "net.ipv4.tcp_wmem = 4096 16384 %d%s", l.TCPWmem, enough(l.TCPWmem, linuxWmem))
	_, err := fmt.Fprintf(out, "\nThe third value is how far Linux enlarges a connection's buffer by itself; a program\nthat sets SO_RCVBUF or SO_SNDBUF ends that, and is held to net.core.rmem_max and wmem_max.\n")
	return err
}

// enough says so where Linux's default does.
func enough(needed, normally int64) string {
	if needed <= normally {
		return fmt.Sprintf("  (Linux's usual %d is enough)", normally)
	}
	return ""
}
