package cli

import (
	"errors"
	"fmt"
	"strings"
	"time"

	"github.com/spf13/pflag"

	"linerate/internal/host/probe"
	"linerate/internal/show/words"
)

// mostPeers is the largest number of peers that are probed.
const mostPeers = 8

// probeFlags are the flags of doctor and snapshot that say which peers are probed.
type probeFlags struct {
	peers []string
	port  int
}

func (f *probeFlags) define(flags *pflag.FlagSet) {
	flags.StringArrayVar(&f.peers, "probe", nil,
		"send some packets to a `peer`, an address or a name, and to the host's name servers (may be repeated)")
	numberVar(flags, &f.port, 0, 65535, "port", 0,
		"with --probe: also open a few connections to this TCP port; 0: none")
}

// check returns everything that is wrong with the combination of flags. nowhere: the command reads
// no host now.
func (f probeFlags) check(flags *pflag.FlagSet, nowhere bool) (problems []error) {
	switch {
	case flags.Changed("port") && len(f.peers) == 0:
		problems = append(problems, errors.New("--port: expected with --probe"))
	case len(f.peers) > mostPeers:
		problems = append(problems, fmt.Errorf("--probe: %d peers: expected at most %d", len(f.peers), mostPeers))
	case len(f.peers) > 0 && nowhere:
		problems = append(problems,
			errors.New("--probe: a host that is read now sends the packets: expected with files only beside "+
				"--host or --via"))
	}
	for _, peer := range f.peers {
		if !isPeer(peer) {
			problems = append(problems, fmt.Errorf("--probe %.60q: expected an address or a name", peer))
		}
	}
	return problems
}

// isPeer reports whether a text can be an address or a name. The check is strict, because the text
// becomes a word of a command that a shell on another host reads.
func isPeer(text string) bool {
	return text != "" && text[0] != '-' && len(text) <= 253 && !strings.ContainsFunc(text, func(r rune) bool {
		return !(r >= 'a' && r <= 'z' || r >= 'A' && r <= 'Z' || r >= '0' && r <= '9' ||
			strings.ContainsRune(".:-_%", r))
	})
}

// timeout bounds all probes together.
func (f probeFlags) timeout() time.Duration { return time.Duration(len(f.peers)) * probe.Timeout }

// say prints beforehand that probes take a while.
func (f probeFlags) say(s streams) {
	if len(f.peers) > 0 {
		say(s.hints(), "linerate: probing %s for at most %s\n", words.List(f.peers), f.timeout())
	}
}
