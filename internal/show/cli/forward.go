package cli

import (
	"context"
	"errors"
	"fmt"
	"net/netip"
	"slices"
	"time"

	"github.com/spf13/cobra"
	"github.com/spf13/pflag"

	"linerate/internal/control/snmp"
	"linerate/internal/host/forward"
	"linerate/internal/model/flow"
	"linerate/internal/model/record"
	"linerate/internal/model/study"
	"linerate/internal/model/topology"
	"linerate/internal/model/unit"
	"linerate/internal/show/present"
)

// rfcFrames are the frame sizes of RFC 2544, section 9.1, for Ethernet.
var rfcFrames = []string{"64", "128", "256", "512", "1024", "1280", "1518"}

// mostLosses is the largest number of loss shares that are searched for.
const mostLosses = 4

func newForwardCommand(s streams) *cobra.Command {
	o := forward.Options{Frames: rfcFrames}
	var router, from, to string
	var losses, ports []string
	var device topology.SNMP
	search := study.LossFree{Resolution: study.DefaultResolution, Repeats: study.DefaultRepeats}
	var asJSON bool
	cmd := &cobra.Command{
		Use:   "forward",
		Short: "Measure how many frames a router or switch forwards between two interfaces",
		Long: `Measure what a router, firewall or switch forwards between two interfaces of this
host or lab host, as RFC 2544 describes it: the highest rate of frames of each size
at which none is lost, or no more than a share, how long frames take at that rate,
and with --back-to-back the longest burst of which none is lost.

Frames are UDP over IP from the first interface's address to the second's. With
--router they go to that next hop; without, to the second interface itself, as
through a switch. It needs CAP_NET_RAW, as in a lab (linerate lab exec HOST --
linerate forward …), and is faster with CAP_BPF and CAP_NET_ADMIN.

Exit status: 0 measured; 1 failed; 2 bad usage or input; 3 the generator or this
host's own losses bound a result, or none was found; 130 interrupted.`,
		Example: `  linerate forward --interface eth1 --receive eth2 --router 10.0.1.254
  linerate forward --interface eth1 --receive eth2 --frame 64,imix --loss 0%,0.5%
  linerate forward --interface eth1 --receive eth2 --frame 1518 --duration 60s
  linerate forward --interface eth1 --receive eth2 --frame 64 --back-to-back 50`,
		Args: exactArgs(0),
		RunE: func(cmd *cobra.Command, _ []string) error {
			problems := mistakes(cmd.Flags())
			if o.Interface == "" || o.Receive == "" {
				problems = append(problems,
					errors.New("expected --interface, by which frames are sent, and --receive, where they arrive"))
			} else if o.Interface == o.Receive {
				problems = append(problems, errors.New("--receive: expected another interface than the one that sends"))
			}
			for _, f := range []struct {
				name, text string
				to         *netip.Addr
			}{{"router", router, &o.Router}, {"from", from, &o.From}} {
				if f.text == "" {
					continue
				}
				var err error
				if *f.to, err = netip.ParseAddr(f.text); err != nil {
					problems = append(problems, fmt.Errorf("--%s %.40q: expected an IP address", f.name, f.text))
				}
			}
			if to != "" {
				var err error
				if o.To, err = parseDestinations(to); err != nil {
					problems = append(problems, fmt.Errorf("--to %w", err))
				}
			}
			for _, text := range o.Frames {
				if _, err := flow.ParseFrames(text); err != nil {
					problems = append(problems, fmt.Errorf("--frame %w", err))
				}
			}
			if len(losses) > mostLosses {
				problems = append(problems, fmt.Errorf("--loss: expected at most %d shares", mostLosses))
			}
			for _, text := range losses {
				loss, err := unit.ParseRatio(text)
				if err != nil {
					problems = append(problems, fmt.Errorf("--loss %w", err))
					continue
				}
				search.Loss = loss
				search.Check(func(name, format string, args ...any) {
					problems = append(problems, fmt.Errorf("--"+format, args...))
				})
				o.Losses = append(o.Losses, float64(loss))
			}
			if o.Bursts > 0 && len(problems) == 0 && !slices.Contains(o.Losses, 0) {
				problems = append(problems,
					errors.New(
						"--back-to-back: expected 0% among the shares of --loss, as bursts are searched without loss"))
			}
			problems = append(problems, checkDevice(cmd.Flags(), device, ports)...)
			if err := errors.Join(problems...); err != nil {
				return usageError(err)
			}
			if device.Address != "" {
				read, err := openDevice(cmd.Context(), device, ports, o)
				if err != nil {
					return err
				}
				defer read.Switch.Close()
				o.Device = read
			}
			o.Search, o.Resolution, o.Repeats = study.SearchWindow(o.Confirm), float64(search.Resolution),
				search.Repeats
			shown := newProgress(s.hints())
			o.Tell = shown.replace
			result, err := forward.Run(cmd.Context(), o)
			shown.end()
			if err != nil && (result == nil || !errors.Is(err, context.Canceled) || len(result.Sizes) == 0) {
				return err
			}
			if err := s.answer(asJSON, result, asText(present.Forward(result))); err != nil {
				return err
			}
			if err != nil {
				return statusError{ExitInterrupted, errors.New("interrupted: these are the sizes measured until then")}
			}
			if doubtful(result) {
				return statusError{ExitDoubt, nil}
			}
			return nil
		},
	}
	flags := cmd.Flags()
	flags.StringVar(&o.Interface, "interface", "", "interface that transmits")
	flags.StringVar(&o.Receive, "receive", "", "interface of this host where the frames are to arrive")
	flags.StringVar(&router, "router", "", "address of the router on the link of --interface (default: a switch)")
	valueVar(flags, &o.MAC, parseMAC, "destination-mac", "address", "",
		"MAC address of the device, instead of asking for that of --router")
	flags.StringVar(&from, "from", "", "source address of the frames (default: of --interface)")
	flags.StringVar(&to, "to", "",
		"destination address of the frames, or a prefix whose addresses they use in turn (default: the address of "+
			"--receive)")
	flags.StringSliceVar(&o.Frames, "frame", rfcFrames,
		"sizes of frames with check sequence, each measured by itself; imix is a mix")
	flags.StringSliceVar(&losses, "loss", []string{"0%"}, "shares of frames that may be lost, each searched for")
	durationVar(flags, &o.Confirm, 500*time.Millisecond, "duration", "5s",
		"length of the trials that confirm a rate; RFC 2544 requires 60s")
	valueVar(flags, &search.Resolution, unit.ParseRatio, "resolution", "share", "1%",
		"largest difference between a result and a rate that loses more")
	numberVar(flags, &search.Repeats, 1, 10, "repeats", study.DefaultRepeats, "trials that must confirm a rate")
	numberVar(flags, &o.Tuples, 0, 1_000_000, "tuples", 0,
		"combinations of addresses and ports that frames have in turn")
	valueVar(flags, &o.Most, parsePace, "most", "number", "", "frames per second that are tried at most")
	numberVar(flags, &o.Bursts, 0, 1000, "back-to-back", 0,
		"searches for the longest burst without loss; RFC 2544 requires 50")
	flags.StringVar(&device.Address, "snmp", "",
		"address of the device's SNMP agent, whose counters of its two ports are read beside the trials")
	flags.StringVar(&device.Version, "snmp-version", "2c", "version of SNMP: 2c or 3")
	flags.StringVar(&device.Credentials, "snmp-credentials", "", "file with the community, or the user of SNMPv3")
	flags.StringSliceVar(&ports, "snmp-ports", nil,
		"ifName or ifIndex of the device's ports towards --interface and --receive (default: found by its "+
			"forwarding table)")
	flags.BoolVar(&asJSON, "json", false, "print JSON (linerate.forward/v1)")
	return cmd
}

// checkDevice returns what is wrong with the SNMP options.
func checkDevice(flags *pflag.FlagSet, device topology.SNMP, ports []string) (problems []error) {
	if device.Address == "" {
		for _, name := range []string{"snmp-version", "snmp-credentials", "snmp-ports"} {
			if flags.Changed(name) {
				problems = append(problems, fmt.Errorf("--%s: expected --snmp, the address of the agent", name))
			}
		}
		return problems
	}
	if _, _, ok := device.Endpoint(); !ok {
		problems = append(problems,
			fmt.Errorf("--snmp %.60q: expected an address or a name, with :PORT if that is not 161", device.Address))
	}
	if device.Version != "2c" && device.Version != "3" {
		problems = append(problems, fmt.Errorf("--snmp-version %.20q: expected 2c or 3", device.Version))
	}
	if device.Credentials == "" {
		problems = append(problems,
			errors.New("expected --snmp-credentials, a file with the community, or with the user of SNMPv3"))
	}
	if len(ports) != 0 && len(ports) != 2 {
		problems = append(problems, errors.New("--snmp-ports: expected two, such as gi1/0/1,gi1/0/2"))
	}
	return problems
}

// openDevice opens a reader of the device's own counters.
func openDevice(ctx context.Context, device topology.SNMP, ports []string, o forward.Options) (snmp.Pair, error) {
	pair := snmp.Pair{Transmits: o.Interface, Receives: o.Receive}
	copy(pair.Ports[:], ports)
	credentials, err := snmp.ReadCredentials(device.Credentials, device.Version)
	if err == nil {
		pair.Switch, err = snmp.Open(ctx, device.Address, &device, credentials, nil)
	}
	return pair, err
}

// parseDestinations parses an address or a prefix.
func parseDestinations(text string) (netip.Prefix, error) {
	if a, err := netip.ParseAddr(text); err == nil {
		return netip.PrefixFrom(a, a.BitLen()), nil
	}
	p, err := netip.ParsePrefix(text)
	if err != nil {
		return p, fmt.Errorf("%.40q: expected an IP address, or a prefix such as 20.0.0.0/8", text)
	}
	return p, nil
}

// doubtful reports whether something other than the device limits a result, or whether a result is
// missing.
func doubtful(r *record.Forward) bool {
	for _, s := range r.Sizes {
		for _, g := range s.Goals {
			if g.RateBps == 0 || g.BoundedBy == record.BoundedBySender || g.BoundedBy == record.BoundedByStalls {
				return true
			}
		}
	}
	return len(r.Drops) > 0
}
