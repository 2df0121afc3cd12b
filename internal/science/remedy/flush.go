package remedy

import (
	"fmt"
	"slices"
	"strings"

	"linerate/internal/model/hostconfig"
	"linerate/internal/model/record"
)

// Flush removes a network's entries from a host's neighbour table, once.
type Flush struct {
	Host string
	record.Flush
}

// mostFlushed is the largest number of hosts with the same command that are named.
const mostFlushed = 4

// Instructions returns the advice, and one line that says which hosts flush what.
func (fix *Fix) Instructions() []string {
	var commands []string
	on := map[string][]string{} // hosts, by command
	for _, f := range fix.Flushes {
		command := hostconfig.Command(f.Command()...)
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
