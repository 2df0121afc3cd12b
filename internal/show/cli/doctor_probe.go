package cli

import (
	"context"
	"errors"
	"fmt"

	"github.com/spf13/pflag"

	"linerate/internal/host/probe"
	"linerate/internal/model/record"
)

// mostPeers bounds how many peers are probed.
const mostPeers = 8

// probeFlags are those of doctor that say which peers are probed.
type probeFlags struct {
	peers []string
	port  int
}

func (f *probeFlags) define(flags *pflag.FlagSet) {
	flags.StringArrayVar(&f.peers, "probe", nil, "send some packets to a `peer`, an address or a name, and to this host's name servers (may be repeated)")
	numberVar(flags, &f.port, 0, 65535, "port", 0, "with --probe: also open a few connections to this TCP port; 0: none")
}

// check returns what is wrong with the flags together; elsewhere: no snapshot of this host is
// made.
func (f probeFlags) check(flags *pflag.FlagSet, elsewhere bool) (problems []error) {
	switch {
	case flags.Changed("port") && len(f.peers) == 0:
		problems = append(problems, errors.New("--port: expected with --probe"))
	case len(f.peers) > mostPeers:
		problems = append(problems, fmt.Errorf("--probe: %d peers: expected at most %d", len(f.peers), mostPeers))
	case len(f.peers) > 0 && elsewhere:
		problems = append(problems, errors.New("--probe: this host sends the packets: expected without snapshots, --paste, --host and --via"))
	}
	return problems
}

// run probes the peers, one after the other.
func (f probeFlags) run(ctx context.Context, s streams) (list []record.Probe, err error) {
	for _, peer := range f.peers {
		say(s.err, "linerate: probing %s for at most %s\n", peer, probe.Timeout)
		p, err := probe.Run(ctx, peer, probe.Options{Port: f.port})
		if err != nil {
			return nil, fmt.Errorf("--probe %s: %w", peer, err)
		}
		list = append(list, p)
	}
	return list, nil
}
