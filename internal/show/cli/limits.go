package cli

import (
	"errors"
	"maps"
	"math"
	"slices"

	"github.com/spf13/cobra"

	"linerate/internal/model/flow"
	"linerate/internal/model/source"
	"linerate/internal/model/unit"
	"linerate/internal/science/limits"
	"linerate/internal/show/present"
)

func newLimitsCommand(s streams) *cobra.Command {
	cmd := &cobra.Command{
		Use:   "limits",
		Short: "Compute what a path can carry at most",
		Args:  knownVerb,
		RunE:  func(cmd *cobra.Command, _ []string) error { return cmd.Help() },
	}
	cmd.AddCommand(newLimitsGoodputCommand(s), newLimitsBDPCommand(s), newLimitsECMPCommand(s), newLimitsBondCommand(s))
	return cmd
}

// goodputFlags are the flags of `linerate limits goodput`.
type goodputFlags struct {
	rate               unit.BitRate
	family, protocol   string
	tunnel, underlay   string
	timestamps, asJSON bool
	link               limits.Frame // the rest of the frame
}

func newLimitsGoodputCommand(s streams) *cobra.Command {
	var f goodputFlags
	cmd := &cobra.Command{
		Use:   "goodput",
		Short: "Compute the goodput of a link: its rate minus headers and gaps",
		Long: `Compute the highest goodput of a link with full TCP segments or UDP datagrams:
its rate minus the headers and, on Ethernet, minus preamble, frame check sequence
and gap of each frame. A shaper of Linux (tbf, htb, and so every lab link with a
rate) does not count these: use --shaped.`,
		Example: `  linerate limits goodput --rate 1gbit
  linerate limits goodput --rate 10gbit --mtu 9000 --family ipv6
  linerate limits goodput --rate 1gbit --protocol udp --datagram 64
  linerate limits goodput --rate 10gbit --tunnel vxlan --vlan 1
  linerate limits goodput --rate 1gbit --shaped --json`,
		Args: noArgs,
		RunE: func(cmd *cobra.Command, _ []string) error {
			frame, err := f.frame()
			if err := errors.Join(append(mistakes(cmd.Flags()), err)...); err != nil {
				return usageError(err)
			}
			answer := frame.Goodput(float64(f.rate))
			return s.answer(f.asJSON, answer, asText(present.Goodput(answer, frame)))
		},
	}
	flags := cmd.Flags()
	valueVar(flags, &f.rate, unit.ParseBitRate, "rate", "rate", "1gbit", "rate of the link")
	numberVar(flags, &f.link.MTU, 68, 65535, "mtu", 1500, "largest IP packet, in bytes") // RFC 791 requires 68
	valueVar(flags, &f.family, oneOf("ipv4", "ipv6"), "family", "string", "ipv4", "ipv4 or ipv6")
	valueVar(flags, &f.protocol, oneOf(flow.TCP, flow.UDP), "protocol", "string", flow.TCP, "tcp or udp")
	flags.BoolVar(&f.timestamps, "timestamps", true, "TCP timestamps, Linux's default")
	numberVar(flags, &f.link.MSS, 0, math.MaxInt, "mss", 0,
		"TCP maximum segment size (TCP_MAXSEG); 0: as the MTU allows")
	flags.IntVar(&f.link.Datagram, "datagram", 0, "payload of each UDP datagram, in bytes; 0: as the MTU allows")
	valueVar(flags, &f.tunnel, oneOf(slices.Sorted(maps.Keys(limits.Tunnels))...), "tunnel", "string", "",
		"packets go through a tunnel over this link: "+source.Or(slices.Sorted(maps.Keys(limits.Tunnels)))+
			";\n--mtu is the link's, of which the tunnel takes its headers")
	valueVar(flags, &f.underlay, oneOf("ipv4", "ipv6"), "tunnel-family", "string", "ipv4",
		"what the tunnel's own packets are: ipv4 or ipv6;\nover ipv6, ipip and gre have the 8 bytes of Linux's "+
			"encapsulation limit")
	numberVar(flags, &f.link.VLANs, 0, 2, "vlan", 0, "number of VLAN tags: 0, 1 or 2")
	flags.BoolVar(&f.link.Shaped, "shaped", false, "the rate is that of a token bucket (tbf, htb), as in a lab")
	flags.BoolVar(&f.asJSON, "json", false, "print JSON (linerate.limits.goodput/v1)")
	return cmd
}

// frame returns the frame that the flags describe.
func (f goodputFlags) frame() (limits.Frame, error) {
	if f.link.Datagram != 0 && f.protocol != flow.UDP {
		return limits.Frame{}, errors.New("--datagram is for --protocol udp")
	}
	if f.link.MSS != 0 && f.protocol != flow.TCP {
		return limits.Frame{}, errors.New("--mss is for --protocol tcp")
	}
	if f.tunnel == "" && f.underlay != "ipv4" {
		return limits.Frame{}, errors.New("--tunnel-family is for --tunnel")
	}
	frame := f.link
	if f.tunnel != "" {
		frame = frame.Through(f.tunnel, f.underlay == "ipv6")
	}
	frame.IPv6, frame.UDP = f.family == "ipv6", f.protocol == flow.UDP
	frame.NoTimestamps = !f.timestamps || frame.UDP
	return frame, frame.Check()
}
