package cli

import (
	"encoding/json"
	"fmt"

	"github.com/spf13/cobra"

	"linerate/internal/model/unit"
	"linerate/internal/science/limits"
	"linerate/internal/show/present"
	"linerate/internal/show/text"
)

func newLimitsCommand(s streams) *cobra.Command {
	cmd := &cobra.Command{
		Use:   "limits",
		Short: "Compute what a path can carry at most",
		Args:  noArgs,
		RunE:  func(cmd *cobra.Command, _ []string) error { return cmd.Help() },
	}
	cmd.AddCommand(newLimitsGoodputCommand(s), newLimitsBDPCommand(s), newLimitsECMPCommand(s))
	return cmd
}

// goodputFlags are the flags of `linerate limits goodput`.
type goodputFlags struct {
	rate, family, protocol string
	mtu, mss, vlan         int
	datagram               int
	timestamps, shaped     bool
	asJSON                 bool
}

func newLimitsGoodputCommand(s streams) *cobra.Command {
	var f goodputFlags
	cmd := &cobra.Command{
		Use:   "goodput",
		Short: "The most that a link carries as payload: its rate less headers and gaps",
		Long: `The most that a link carries as payload of TCP or UDP in full frames, or in
datagrams of a size: its rate less the headers, and, on a real Ethernet, what
each frame costs beside its bytes (preamble, check sequence, gap). A link that
Linux shapes (tbf, htb, and so every link of a lab with a rate) does not count
those: --shaped.`,
		Example: `  linerate limits goodput --rate 1gbit
  linerate limits goodput --rate 10gbit --mtu 9000 --family ipv6
  linerate limits goodput --rate 1gbit --protocol udp --datagram 64
  linerate limits goodput --rate 1gbit --shaped --json`,
		Args: noArgs,
		RunE: func(*cobra.Command, []string) error {
			rate, frame, err := f.frame()
			if err != nil {
				return usageError(err)
			}
			answer := frame.Goodput(float64(rate))
			if f.asJSON {
				return json.NewEncoder(s.out).Encode(answer)
			}
			return text.Write(s.out, present.Goodput(answer, frame), textOptions(s.out, ""))
		},
	}
	flags := cmd.Flags()
	flags.StringVar(&f.rate, "rate", "1gbit", "the link's rate")
	flags.IntVar(&f.mtu, "mtu", 1500, "the largest IP packet, in bytes")
	flags.StringVar(&f.family, "family", "ipv4", "ipv4 or ipv6")
	flags.StringVar(&f.protocol, "protocol", "tcp", "tcp or udp")
	flags.BoolVar(&f.timestamps, "timestamps", true, "TCP timestamps, Linux's default")
	flags.IntVar(&f.mss, "mss", 0, "TCP maximum segment size (TCP_MAXSEG); 0: as the MTU allows")
	flags.IntVar(&f.datagram, "datagram", 0, "payload of each UDP datagram, in bytes; 0: as the MTU allows")
	flags.IntVar(&f.vlan, "vlan", 0, "number of VLAN tags: 0, 1 or 2")
	flags.BoolVar(&f.shaped, "shaped", false, "the rate is a token bucket's (tbf, htb), as in a lab")
	flags.BoolVar(&f.asJSON, "json", false, "print JSON (linerate.limits.goodput/v1)")
	return cmd
}

// frame is what the flags say of the link: its rate and its frames.
func (f goodputFlags) frame() (unit.BitRate, limits.Frame, error) {
	rate, err := unit.ParseBitRate(f.rate)
	if err != nil {
		return 0, limits.Frame{}, fmt.Errorf("--rate: %w", err)
	}
	if f.family != "ipv4" && f.family != "ipv6" {
		return 0, limits.Frame{}, fmt.Errorf("--family %q: expected ipv4 or ipv6", f.family)
	}
	if f.protocol != "tcp" && f.protocol != "udp" {
		return 0, limits.Frame{}, fmt.Errorf("--protocol %q: expected tcp or udp", f.protocol)
	}
	if f.mtu < 68 || f.mtu > 65535 { // RFC 791: every host takes 68
		return 0, limits.Frame{}, fmt.Errorf("--mtu %d: expected 68 to 65535", f.mtu)
	}
	if f.mss < 0 {
		return 0, limits.Frame{}, fmt.Errorf("--mss %d: expected a number of bytes, or 0", f.mss)
	}
	if f.datagram != 0 && f.protocol != "udp" {
		return 0, limits.Frame{}, fmt.Errorf("--datagram is for --protocol udp")
	}
	frame := limits.Frame{
		Datagram: f.datagram,
		MTU:      f.mtu, IPv6: f.family == "ipv6", UDP: f.protocol == "udp",
		NoTimestamps: !f.timestamps || f.protocol == "udp", MSS: f.mss, VLANs: f.vlan, Shaped: f.shaped,
	}
	return rate, frame, frame.Check()
}
