package cli

import (
	"encoding/json"
	"fmt"
	"time"

	"github.com/spf13/cobra"

	"linerate/internal/model/unit"
	"linerate/internal/science/limits"
	"linerate/internal/show/present"
	"linerate/internal/show/text"
)

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
		Short: "The data in flight when a path is full, and the buffers that takes",
		Long: `The bandwidth-delay product of a path: the bytes in flight when it is full. A connection needs a window as large as that, and both hosts have to allow
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
			path := limits.Path{RateBps: float64(f.rate), RTTS: time.Duration(f.rtt).Seconds(), Segment: f.mss}
			answer := path.Buffers(int64(f.window), int64(f.answer), f.first)
			if f.asJSON {
				return json.NewEncoder(s.out).Encode(answer)
			}
			return text.Write(s.out, present.BDP(answer), textOptions(s.out, ""))
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
