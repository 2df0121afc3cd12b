package record

import (
	"fmt"
	"net/netip"

	"linerate/internal/model/hint"
	"linerate/internal/model/setting"
)

// Step is one step of a fix. Exactly one of Setting, Flush, Command and Hint is given.
type Step struct {
	Host    string           `json:"host,omitempty"`    // where it is done; empty: nowhere in particular
	Setting *setting.Setting `json:"setting,omitempty"` // which linerate makes and reverts
	Flush   *Flush           `json:"flush,omitempty"`   // which linerate makes once
	Command []string         `json:"command,omitempty"` // the words of a command that a person runs
	Hint    *hint.Hint       `json:"hint,omitempty"`
	// Instead: this step, and commands that follow it, replace the steps before it.
	Instead bool `json:"instead,omitempty"`
}

// Flush removes a network's entries from a neighbour table (ip-neighbour(8)).
type Flush struct {
	To        netip.Prefix `json:"to"`
	Interface string       `json:"interface"`
}

// String returns the command.
func (f Flush) String() string { return fmt.Sprintf("ip neigh flush to %s dev %s", f.To, f.Interface) }

// Settings are steps of a host that make settings.
func Settings(list ...setting.Setting) (steps []Step) {
	for _, s := range list {
		steps = append(steps, Step{Host: s.Host, Setting: &s})
	}
	return steps
}

// Advice is a step that a person takes on a host.
func Advice(host string, is any) Step { return Step{Host: host, Hint: &hint.Hint{Is: is}} }
