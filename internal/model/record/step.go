package record

import (
	"net/netip"

	"linerate/internal/model/hint"
	"linerate/internal/model/lists"
	"linerate/internal/model/setting"
)

// Step is one step of a fix. Exactly one of Setting, Flush, Command and Hint is set.
type Step struct {
	Host    string           `json:"host,omitempty"`    // where it is done; empty: on no particular host
	Setting *setting.Setting `json:"setting,omitempty"` // linerate makes and reverts it
	Flush   *Flush           `json:"flush,omitempty"`   // linerate runs it once
	Command []string         `json:"command,omitempty"` // words of a command that a person runs
	Hint    *hint.Hint       `json:"hint,omitempty"`
	// Instead reports whether a person may take this step in place of the preceding ones. Linerate
	// does not make the setting of such a step.
	Instead bool `json:"instead,omitempty"`
}

// Flush removes a network's entries from a neighbour table (ip-neighbour(8)).
type Flush struct {
	To        netip.Prefix `json:"to"`
	Interface string       `json:"interface"`
}

// Command returns the words of the ip(8) command that does it.
func (f Flush) Command() []string {
	return []string{"ip", "neigh", "flush", "to", f.To.String(), "dev", f.Interface}
}

// Settings returns one step for each setting.
func Settings(list ...setting.Setting) (steps []Step) {
	return lists.Map(list, func(s setting.Setting) Step { return Step{Host: s.Host, Setting: &s} })
}

// Advice returns a step for a person to take on a host. Is is one of the types of package hint.
func Advice(host string, is any) Step { return Step{Host: host, Hint: &hint.Hint{Is: is}} }
