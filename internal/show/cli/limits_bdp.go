package cli

import (
	"errors"
	"strconv"
	"strings"
	"time"

	"github.com/spf13/cobra"

	"linerate/internal/kernel/proc"
	"linerate/internal/model/unit"
	"linerate/internal/science/limits"
	"linerate/internal/show/present"
)

type bdpFlags struct {
	path   limits.Path
	rtt    time.Duration
	window unit.Bytes
	answer unit.Bytes
	first  int
	asJSON bool
}

func newLimitsBDPCommand(s streams) *cobra.Command {
	var f bdpFlags
	cmd := &cobra.Command{
		Use:   "bdp",
		Short: "Compute the bandwidth-delay product of a path, and the buffers it needs",
		Long: `Compute the bandwidth-delay product of a path: the bytes in flight when it is
full. A connection needs a window of that size, and both hosts must allow buffers
large enough for it, as the answer's commands do; whether this host does already is
said beside them. With --window, also the highest rate with such a window; with
--answer, how long that many bytes take on a new connection.`,
		Example: `  linerate limits bdp --rate 1gbit --rtt 25ms
  linerate limits bdp --rate 10gbit --rtt 80ms --window 4MiB
  linerate limits bdp --rate 100mbit --rtt 200ms --json
  linerate limits bdp --rate 1gbit --rtt 50ms --answer 64kB --first-window 40`,
		Args: noArgs,
		RunE: func(cmd *cobra.Command, _ []string) error {
			if err := errors.Join(mistakes(cmd.Flags())...); err != nil {
				return usageError(err)
			}
			f.path.RTTS = f.rtt.Seconds()
			answer := f.path.Buffers(int64(f.window), int64(f.answer), f.first)
			answer.RmemHere, answer.WmemHere = third(proc.Sysctls{}, "net.ipv4.tcp_rmem"),
				third(proc.Sysctls{}, "net.ipv4.tcp_wmem")
			return s.answer(f.asJSON, answer, asText(present.BDP(answer)))
		},
	}
	flags := cmd.Flags()
	valueVar(flags, &f.path.RateBps, bitsPerSecond, "rate", "rate", "1gbit", "rate of the path's slowest link")
	latencyVar(flags, &f.rtt, time.Nanosecond, "rtt", "25ms", "round-trip time with empty queues")
	valueVar(flags, &f.window, unit.ParseSize, "window", "size", "",
		"TCP window, in bytes in flight, to compare with the path, such as 64KiB; a socket buffer (iperf3 -w) is "+
			"another thing")
	valueVar(flags, &f.answer, unit.ParseSize, "answer", "size", "",
		"size of an answer on a new connection, such as 64kB")
	numberVar(flags, &f.first, 1, 65535, "first-window", limits.FirstWindow,
		"initial congestion window in segments: initcwnd of the sender's route")
	numberVar(flags, &f.path.Segment, 88, 65495, "mss", 1448, "payload of a full segment, in bytes")
	flags.BoolVar(&f.path.Shaped, "shaped", false,
		"for --answer: the rate is that of a token bucket (tbf, htb), as in a lab")
	flags.BoolVar(&f.asJSON, "json", false, "print JSON (linerate.limits.bdp/v1)")
	return cmd
}

// third returns the last of a parameter's three values; 0: it cannot be read.
func third(sysctls proc.Sysctls, key string) int64 {
	text, _ := sysctls.Read(key) // empty: not Linux, or not readable
	values := strings.Fields(text)
	if len(values) != 3 {
		return 0
	}
	n, _ := strconv.ParseInt(values[2], 10, 64) // 0: unknown
	return n
}
