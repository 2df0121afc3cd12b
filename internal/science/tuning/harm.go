package tuning

import (
	"slices"
	"strings"

	"linerate/internal/model/record"
	"linerate/internal/model/settingfile"
)

// harmful values of parameters that are on by default, and what is lost.
var harmful = []struct{ key, value, says string }{
	{"net.ipv4.tcp_window_scaling", "0",
		"windows are limited to 64 KiB, so that a connection carries at most 64 KiB per round trip (RFC 7323)"},
	{"net.ipv4.tcp_moderate_rcvbuf", "0",
		"receive buffers no longer grow: windows are limited by the second value of net.ipv4.tcp_rmem"},
	{"net.ipv4.tcp_sack", "0", "of several losses in a window only one is repaired per round trip (RFC 2018)"},
	{"net.ipv4.tcp_timestamps", "0",
		"saves 12 bytes of each segment (0.8 % at an MTU of 1500), but old segments can no longer be distinguished from new ones (PAWS, RFC 7323)"},
	{"net.ipv4.ip_no_pmtu_disc", "1", "path MTU discovery is off: packets too large for the path are not detected"},
}

// harm is what a value is known to lose; empty: nothing.
func harm(key, value string) string {
	for _, h := range harmful {
		if h.key == key && same(h.value, value) {
			return h.says
		}
	}
	return ""
}

func (c *checker) harm(l settingfile.Line) {
	if says := harm(l.Key, l.Value); says != "" {
		c.add(l, "harmful", record.LintWarning, "leave it out", "%s", says)
	}
}

// aboutNetwork reports whether a parameter has to do with the network.
func aboutNetwork(system, key string) bool {
	return slices.ContainsFunc(networkPrefixes[system], func(prefix string) bool {
		return strings.HasPrefix(key, prefix)
	})
}
