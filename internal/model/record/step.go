package record

import (
	"fmt"
	"net/netip"

	"linerate/internal/model/hint"
	"linerate/internal/model/setting"
)

// Step is one step of a fix. Exactly one of Setting, Flush, Command and Hint is set.
type Step struct {
	Host    string           `json:"host,omitempty"`    // where it is done; empty: on no particular host
	Setting *setting.Setting `json:"setting,omitempty"` // linerate makes and reverts it
	Flush   *Flush           `json:"flush,omitempty"`   // linerate runs it once
	Command []string         `json:"command,omitempty"` // words of a command that a person runs
	Hint    *hint.Hint       `json:"hint,omitempty"`
	// Instead: a person may take this step in place of those before it. Its setting is not one of
	// those that linerate makes.
	Instead bool `json:"instead,omitempty"`
}

// Flush removes a network's entries from a neighbour table (ip-neighbour(8)).
type Flush struct {
	To        netip.Prefix `json:"to"`
	Interface string       `json:"interface"`
}

// String returns the command.
func (f Flush) String() string { return fmt.Sprintf("ip neigh flush to %s dev %s", f.To, f.Interface) }

// Settings returns steps that make settings on their hosts.
func Settings(list ...setting.Setting) (steps []Step) {
	for _, s := range list {
		steps = append(steps, Step{Host: s.Host, Setting: &s})
	}
	return steps
}

// Advice returns a step that a person takes on a host.
func Advice(host string, is any) Step { return Step{Host: host, Hint: &hint.Hint{Is: is}} }
