package topology

import (
	"slices"
	"strings"
)

// Command is a program that making a topology, or a trial on it, executes. The program
// itself, as a lab's hosts execute it, is none.
type Command struct {
	// Node is the host or switch for which it is executed, and Argv its words, PORT
	// standing for a port that is found when it is started.
	Node string   `json:"node"`
	Argv []string `json:"argv"`
	// Times is how many are executed at a time, with other addresses or ports.
	Times int `json:"times"`
	// Alike is what is the same in all of them: the words without addresses.
	Alike string `json:"-"`
}

// BGPDaemon is the program of a lab's routing daemons.
const BGPDaemon = "bird"

// AgentWords are the words that follow a node's via: those that start its agent.
func AgentWords(program, node string) []string {
	return []string{program, "agent", "--stdio", "--node", node}
}

// Commands are those that making the topology executes: what reaches the agents of real
// hosts and switches, and daemons. That credentials are sent to an address which the file
// names is among them, written as the command that would do it.
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
