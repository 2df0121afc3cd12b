package topology

import (
	"slices"
	"strings"
)

// Command is a program that is executed to create a topology or to run a trial on it. linerate
// itself, executed as an agent in a lab, is not listed.
type Command struct {
	// Node is the host or switch for which the program is executed. Argv has its words; PORT stands
	// for a port that is selected at start.
	Node string   `json:"node"`
	Argv []string `json:"argv"`
	// Times is the number of concurrent executions with different addresses or ports.
	Times int `json:"times"`
	// Alike identifies commands that differ only in addresses and ports: the words without these.
	Alike string `json:"-"`
}

// BGPDaemon is the program that a lab uses as routing daemon.
const BGPDaemon = "bird"

// AgentWords returns the words after a node's via that start its agent.
func AgentWords(program, node string) []string {
	return []string{program, "agent", "--stdio", "--node", node}
}

// Commands lists the commands that creating the topology executes: those that reach the agents of
// real hosts and switches, and daemons. Sending credentials to an address in the file is listed as
// the command that would do it.
func (t *Topology) Commands() (list []Command) {
	add := func(node string, argv ...string) {
		list = append(list, Command{Node: node, Argv: argv, Times: 1, Alike: strings.Join(argv, "\x00")})
	}
	reach := func(node string, via []string, agent string) {
		if len(via) == 0 {
			return
		}
		if agent == "" {
			agent = "linerate"
		}
		add(node, slices.Concat(via, AgentWords(agent, node))...)
	}
	for _, h := range t.Hosts {
		reach(h.Name, h.Via, h.Agent)
		if h.BGP != nil {
			add(h.Name, BGPDaemon)
		}
		for _, s := range h.Services {
			add(h.Name, s.Words()...)
		}
	}
	for _, s := range t.Switches {
		reach(s.Name, s.Via, s.Agent)
		switch {
		case s.SNMP == nil:
		case s.SNMP.Address == "":
			add(s.Name, SNMPDaemon)
		default:
			add(s.Name, "snmp", s.SNMP.Address, "--credentials", s.SNMP.Credentials)
		}
	}
	return list
}
