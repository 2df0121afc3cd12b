package cli

import (
	"context"
	"errors"
	"fmt"
	"io"
	"net"
	"os"
	"strconv"
	"strings"
	"time"

	"github.com/spf13/cobra"

	"linerate/internal/host/replay"
	"linerate/internal/model/unit"
	"linerate/internal/show/present"
)

func newReplayCommand(s streams) *cobra.Command {
	var o replay.Options
	var mappings []string
	var asJSON bool
	cmd := &cobra.Command{
		Use:   "replay FILE",
		Short: "Transmit the frames of a capture file again, and match what arrives",
		Long: `Transmit the frames of a capture file (pcap or pcapng, also compressed by gzip, zstd
or bzip2) by an interface of this host or lab host: at the file's own times,
faster or slower, or at a constant rate. With --receive, frames that come in by
another interface are matched with those sent, one by one: lost, altered,
reordered, latency. A router between may change what routers do: MAC addresses,
time to live, VLAN tag.

Frames that cannot be sent as they are in the file are named, with their numbers
there, before any is sent; --segment, --pad and --skip say what to do with them.

It needs CAP_NET_RAW, as in a lab (linerate lab exec HOST -- linerate replay …), and
is faster with CAP_BPF and CAP_NET_ADMIN. "-" is standard input.

Exit status: 0 sent as scheduled; 1 failed; 2 bad usage or input; 3 the schedule
was not kept; 130 interrupted.`,
		Example: `  linerate replay web.pcap --interface eth0
  linerate replay web.pcap --interface eth0 --speed 2 --receive eth1
  linerate replay web.pcap --interface eth0 --pace 10000 --passes 10
  linerate replay web.pcap --interface eth0 --speed max
  linerate replay web.pcap --interface eth0 --map 10.0.0.0/24=192.0.2.0/24
  linerate replay any.pcap --interface eth0 --destination-mac 02:00:00:00:00:01
  linerate replay offloaded.pcapng --interface eth0 --segment --skip`,
		Args: exactArgs(1),
		RunE: func(cmd *cobra.Command, args []string) error {
			problems := mistakes(cmd.Flags())
			if o.Interface == "" {
				problems = append(problems, errors.New("expected --interface, by which the frames are sent"))
			}
			if o.Receive != "" && o.Passes > 1 {
				problems = append(problems,
					errors.New("--receive is for one pass, and --passes asks for more: their frames are the same"))
			}
			if o.Receive != "" && o.Receive == o.Interface && o.Receive != "lo" {
				problems = append(problems, errors.New("--receive: expected another interface than the one that sends"))
			}
			if o.Pace > 0 && cmd.Flags().Changed("speed") {
				problems = append(problems, errors.New("--pace and --speed: expected one of them"))
			}
			for _, text := range mappings {
				m, err := replay.ParseMapping(text)
				if err != nil {
					problems = append(problems, fmt.Errorf("--map %w", err))
				}
				o.Addresses = append(o.Addresses, m)
			}
			if err := errors.Join(problems...); err != nil {
				return usageError(err)
			}
			c, err := readCapture(s.input(cmd.Context()), args[0])
			if err != nil {
				return usageError(err)
			}
			if err := c.Prepare(o); err != nil {
				return usageError(fmt.Errorf("%s: %w", captureName(args[0]), err))
			}
			if length := c.Length(o); length >= longReplay {
				say(s.hints(), "linerate: the last frame is due after %s (shorter: --speed, --pace, --max-gap); "+
					"Ctrl-C ends the replay and shows its figures\n", unit.FormatSeconds(length.Seconds()))
			}
			result, err := c.Run(cmd.Context(), o)
			if err != nil && (result == nil || !errors.Is(err, context.Canceled)) {
				return err
			}
			if err := s.answer(asJSON, result, asText(present.Replay(result))); err != nil {
				return err
			}
			if err != nil {
				return statusError{ExitInterrupted,
					errors.New("interrupted: these figures are of the frames sent until then")}
			}
			if result.Lateness != nil && !result.Paced {
				return statusError{ExitDoubt, nil}
			}
			return nil
		},
	}
	flags := cmd.Flags()
	flags.StringVar(&o.Interface, "interface", "", "interface that transmits")
	flags.StringVar(&o.Receive, "receive", "", "interface of this host where the frames are to arrive")
	valueVar(flags, &o.Speed, parseSpeed, "speed", "factor", "1",
		"times the speed of the file, such as 2 or 0.5; max: as fast as possible")
	valueVar(flags, &o.Pace, parsePace, "pace", "number", "",
		"frames per second, at equal distances, instead of the file's times")
	numberVar(flags, &o.Passes, 1, 1_000_000, "passes", 1, "how many times the file is sent, without a pause")
	valueVar(flags, &o.Source, parseMAC, "source-mac", "address", "", "source MAC address of all frames")
	valueVar(flags, &o.Destination, parseMAC, "destination-mac", "address", "", "destination MAC address of all frames")
	flags.StringSliceVar(&mappings, "map", nil,
		"replace addresses of IP headers, OLD=NEW: addresses or prefixes of one length")
	flags.BoolVar(&o.Segment, "segment", false,
		"send too large TCP segments, which offloads had merged, in frames of the MTU")
	flags.BoolVar(&o.Pad, "pad", false, "send incomplete frames in full length, with zeros")
	flags.BoolVar(&o.Skip, "skip", false, "leave out, and count, frames that cannot be sent as captured")
	durationVar(flags, &o.MostGap, time.Nanosecond, "max-gap", "",
		"longest time between two frames; longer ones are shortened")
	flags.BoolVar(&asJSON, "json", false, "print JSON (linerate.replay/v1)")
	return cmd
}

// longReplay is the duration from which on standard error says how long the replay takes.
const longReplay = 10 * time.Second

// readCapture reads a capture file; "-": in.
func readCapture(in io.Reader, name string) (*replay.Capture, error) {
	if name != "-" {
		f, err := os.Open(name)
		if err != nil {
			return nil, err
		}
		defer f.Close()
		in = f
	}
	defer computing()()
	c, err := replay.Read(in)
	if err != nil {
		err = fmt.Errorf("%s: %w", captureName(name), err)
	}
	return c, err
}

// captureName is how messages call a capture.
func captureName(name string) string {
	if name == "-" {
		return "standard input"
	}
	return name
}

// parseSpeed parses a factor; max is 0.
func parseSpeed(text string) (float64, error) {
	if text == "max" {
		return 0, nil
	}
	v, err := strconv.ParseFloat(strings.TrimSuffix(text, "x"), 64)
	if err != nil || !(v >= 1e-3 && v <= 1e6) {
		return 0, fmt.Errorf("%.40q: expected a factor of 0.001 to 1000000, such as 2, or max", text)
	}
	return v, nil
}

// parseMAC parses an Ethernet address.
func parseMAC(text string) (net.HardwareAddr, error) {
	a, err := net.ParseMAC(text)
	if err != nil || len(a) != 6 {
		return nil, fmt.Errorf("%.40q: expected a MAC address, such as 02:00:00:00:00:01", text)
	}
	return a, nil
}

func parsePace(text string) (float64, error) {
	v, err := strconv.ParseFloat(text, 64)
	if err != nil || !(v >= 1e-3 && v <= 1e9) {
		return 0, fmt.Errorf("%.40q: expected frames per second, 0.001 to 1000000000", text)
	}
	return v, nil
}
