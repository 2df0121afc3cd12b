package remedy

import (
	"fmt"
	"net/netip"
	"slices"
	"strings"
)

// Flush removes a network's entries from a host's neighbour table (ip-neighbour(8)).
type Flush struct {
	Host      string
	To        netip.Prefix
	Interface string
}

// Command returns the command that is run on the host.
func (f Flush) Command() string { return fmt.Sprintf("ip neigh flush to %s dev %s", f.To, f.Interface) }

// parseFlush reads "on HOST: ip neigh flush to PREFIX dev INTERFACE", as a finding has it;
// false: the line is something else.
func parseFlush(line string) (f Flush, ok bool) {
	on, command, _ := strings.Cut(line, ": ")
	words := strings.Fields(command)
	if len(words) != 7 {
		return f, false
	}
	to, err := netip.ParsePrefix(words[4])
	f = Flush{strings.TrimPrefix(on, "on "), to, words[6]}
	return f, err == nil && line == "on "+f.Host+": "+f.Command()
}

// mostFlushed is how many hosts with one command are named.
const mostFlushed = 4

// Instructions are the advice, and which hosts flush what: one line for all flushes.
func (fix *Fix) Instructions() []string {
	var commands []string
	on := map[string][]string{} // hosts, by command
	for _, f := range fix.Flushes {
		command := f.Command()
		if on[command] == nil {
			commands = append(commands, command)
		}
		on[command] = append(on[command], f.Host)
	}
	if commands == nil {
		return fix.Advice
	}
	for i, command := range commands {
		hosts := on[command]
		if more := len(hosts) - mostFlushed; more > 1 {
			hosts = append(hosts[:mostFlushed:mostFlushed], fmt.Sprintf("%d others", more))
		}
		commands[i] = "on " + strings.Join(hosts, ", ") + ": " + command
	}
	return append(slices.Clip(fix.Advice),
		"peers keep wrong ARP entries until these age (base_reachable_time) or are flushed: "+
			strings.Join(commands, "; "))
}
