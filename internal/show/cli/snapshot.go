package cli

import (
	"cmp"
	"context"
	"crypto/rand"
	"errors"
	"fmt"
	"io"
	"slices"
	"time"

	"github.com/spf13/cobra"
	"github.com/spf13/pflag"

	"linerate/internal/control/reach"
	"linerate/internal/model/message"
	"linerate/internal/model/netstate"
	"linerate/internal/show/export"
	"linerate/internal/show/redact"
)

// mostOver is the longest time between two readings.
const mostOver = time.Hour

type snapshotFlags struct {
	over   time.Duration
	name   string
	out    string
	redact bool
	plain  bool

	hostFlags
	probing probeFlags
}

func newSnapshotCommand(s streams) *cobra.Command {
	var f snapshotFlags
	cmd := &cobra.Command{
		Use:   "snapshot",
		Short: "Print the network state of a host as one document",
		Long: `Print the network state of a host as one JSON document, for doctor and diff,
here or elsewhere: interfaces with driver, link, rings, queues, offloads,
interrupts and counters; qdiscs, addresses, neighbours, routes, rules, bridges;
kernel parameters and the files that set them; sockets, protocol counters, CPUs,
memory, clock and resolver. With --over, packets that the kernel drops in the
meantime are counted by reason, as root.

Nothing on the host is changed. ARP requests are sent for the addresses of its
neighbours and its own; with --probe, some packets to a peer as by linerate doctor.
Without root some parts are missing, each with the reason.

Without --host and --via it is this host. There linerate's agent is started by ssh
or by another command; with --plain the host is read by ip, ss, tc, ethtool, sysctl
and dmesg instead, as by linerate doctor.

With --redact addresses and names are replaced, each always by the same one, so
that equal prefixes stay equal; names of programs and interfaces stay.`,
		Example: `  linerate snapshot > before.json
  linerate snapshot --over 5s --redact -o nas.json
  linerate snapshot --host root@nas -o nas.json
  ssh root@nas linerate snapshot | linerate doctor -`,
		Args: noArgs,
		RunE: func(cmd *cobra.Command, _ []string) error {
			if err := errors.Join(slices.Concat(mistakes(cmd.Flags()), []error{f.check(cmd.Flags())},
				f.probing.check(cmd.Flags(), false))...); err != nil {
				return usageError(err)
			}
			snapshot, err := f.take(cmd.Context(), s)
			if err != nil {
				return err
			}
			return f.write(s, snapshot)
		},
	}
	flags := cmd.Flags()
	durationVar(flags, &f.over, 0, "over", "0s", "read the counters twice, so long apart; 0s: once, since boot")
	flags.StringVar(&f.name, "name", "", "the host's `name` in the document (default: its host name)")
	flags.StringVarP(&f.out, "out", "o", "", "write to a `file` instead of standard output (-)")
	f.hostFlags.define(flags, "print the state of")
	defineInstall(flags, &f.install)
	flags.BoolVar(&f.plain, "plain", false,
		"read a host that does not have linerate, with ip, ss, tc, ethtool, sysctl and dmesg")
	f.probing.define(flags)
	flags.BoolVar(&f.redact, "redact", false, "replace addresses and names")
	return cmd
}

// take takes the snapshot.
func (f snapshotFlags) take(ctx context.Context, s streams) (taken netstate.HostSnapshot, err error) {
	hosts, err := f.remotes(ctx, s)
	if err != nil {
		return taken, err
	}
	if len(hosts) > 1 {
		return taken, usageError(severalHosts(len(hosts)))
	}
	if len(hosts) == 0 {
		hosts = []reach.Host{{Here: true}}
	}
	var list []netstate.HostSnapshot
	if f.plain {
		hosts[0].Called = cmp.Or(f.name, hosts[0].Called)
		list, _, err = plainOf(ctx, s, hosts)
	} else {
		list, err = snapshotsOf(ctx, hosts, message.SnapshotRequest{Name: cmp.Or(f.name, hosts[0].Called),
			OverNs: int64(f.over)}, f.probing)
	}
	if err != nil {
		return taken, err
	}
	return list[0], nil
}

func severalHosts(n int) error {
	return fmt.Errorf("%d hosts: expected one, a document is of one host", n)
}

func (f snapshotFlags) check(flags *pflag.FlagSet) error {
	if f.named() > 1 {
		return severalHosts(f.named())
	}
	for _, name := range []string{"over", "probe"} {
		if f.plain && flags.Changed(name) {
			return fmt.Errorf("--%s: expected without --plain, which reads what the tools of a host print, once", name)
		}
	}
	if f.over < 0 || f.over > mostOver {
		return fmt.Errorf("--over %s: expected 0 to %s", f.over, mostOver)
	}
	return nil
}

func (f snapshotFlags) write(s streams, snapshot netstate.HostSnapshot) error {
	if f.redact {
		if err := redacted(&snapshot); err != nil {
			return err
		}
	}
	if f.out == "" || f.out == "-" {
		return export.Indented(s.out, snapshot)
	}
	err := export.WriteFile(f.out, func(w io.Writer) error { return export.Indented(w, snapshot) })
	if err != nil {
		return fmt.Errorf("snapshot: %w", err)
	}
	return nil
}

// redacted replaces addresses and names in snapshots, consistently across all of them.
func redacted(list ...*netstate.HostSnapshot) error {
	var key [32]byte
	if _, err := rand.Read(key[:]); err != nil {
		return err
	}
	return redact.Snapshots(key, list...)
}
