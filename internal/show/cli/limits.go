package cli

import (
	"encoding/json"
	"fmt"
	"io"

	"github.com/spf13/cobra"

	"linerate/internal/model/unit"
	"linerate/internal/science/limits"
)

// goodputLimit is what `linerate limits goodput --json` prints.
type goodputLimit struct {
	Schema       string  `json:"schema"`
	RateBps      float64 `json:"rate_bps"`
	MTU          int     `json:"mtu_bytes"`
	Family       string  `json:"family"`
	Protocol     string  `json:"protocol"`
	Timestamps   bool    `json:"timestamps"`
	MSS          int     `json:"mss_bytes,omitempty"`
	Datagram     int     `json:"datagram_bytes,omitempty"`
	VLANTags     int     `json:"vlan_tags"`
	Shaped       bool    `json:"shaped"`
	PayloadBytes int     `json:"payload_bytes"`
	WireBytes    int     `json:"wire_bytes"`
	Fraction     float64 `json:"fraction"`
	GoodputBps   float64 `json:"goodput_bps"`
	FramesPerS   float64 `json:"frames_per_s"`
}

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
			limit, frame, err := f.limit()
			if err != nil {
				return usageError(err)
			}
			if f.asJSON {
				return json.NewEncoder(s.out).Encode(limit)
			}
			return limit.print(s.out, frame)
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

func (f goodputFlags) limit() (goodputLimit, limits.Frame, error) {
	var none goodputLimit
	rate, err := unit.ParseBitRate(f.rate)
	if err != nil {
		return none, limits.Frame{}, fmt.Errorf("--rate: %w", err)
	}
	if f.family != "ipv4" && f.family != "ipv6" {
		return none, limits.Frame{}, fmt.Errorf("--family %q: expected ipv4 or ipv6", f.family)
	}
	if f.protocol != "tcp" && f.protocol != "udp" {
		return none, limits.Frame{}, fmt.Errorf("--protocol %q: expected tcp or udp", f.protocol)
	}
	if f.mtu < 68 || f.mtu > 65535 { // RFC 791: every host takes 68
		return none, limits.Frame{}, fmt.Errorf("--mtu %d: expected 68 to 65535", f.mtu)
	}
	if f.mss < 0 {
		return none, limits.Frame{}, fmt.Errorf("--mss %d: expected a number of bytes, or 0", f.mss)
	}
	if f.datagram != 0 && f.protocol != "udp" {
		return none, limits.Frame{}, fmt.Errorf("--datagram is for --protocol udp")
	}
	frame := limits.Frame{
		Datagram: f.datagram,
		MTU:      f.mtu, IPv6: f.family == "ipv6", UDP: f.protocol == "udp",
		NoTimestamps: !f.timestamps || f.protocol == "udp", MSS: f.mss, VLANs: f.vlan, Shaped: f.shaped,
	}
	if err := frame.Check(); err != nil {
		return none, frame, err
	}
	return goodputLimit{
		Schema: "linerate.limits.goodput/v1", RateBps: float64(rate), MTU: f.mtu,
		Family: f.family, Protocol: f.protocol, Timestamps: !frame.NoTimestamps, MSS: f.mss,
		Datagram: f.datagram, VLANTags: f.vlan, Shaped: f.shaped,
		PayloadBytes: frame.Payload(), WireBytes: frame.Wire(), Fraction: frame.Fraction(),
		GoodputBps: float64(rate) * frame.Fraction(), FramesPerS: float64(frame.Packets()) * float64(rate) / 8 / float64(frame.Wire()),
	}, frame, nil
}

// print writes the answer, and under it where each byte of a frame goes.
func (l goodputLimit) print(out io.Writer, frame limits.Frame) error {
	fmt.Fprintf(out, "%s carries at most %s of payload (%.1f MB/s), %.3f %%.\n\n",
		limits.Rate(l.RateBps), limits.Rate(l.GoodputBps), l.GoodputBps/8e6, 100*l.Fraction)
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
