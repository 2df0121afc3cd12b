package tuning

import (
	"slices"
	"strings"

	"linerate/internal/model/record"
	"linerate/internal/model/settingfile"
)

// harmful has harmful values of parameters that are on by default. Package wording says what
// they cost.
var harmful = map[string]string{
	"net.ipv4.tcp_window_scaling":  "0",
	"net.ipv4.tcp_moderate_rcvbuf": "0",
	"net.ipv4.tcp_sack":            "0",
	"net.ipv4.tcp_timestamps":      "0",
	"net.ipv4.ip_no_pmtu_disc":     "1",
	"net.ipv4.tcp_syncookies":      "0",
}

// harms reports whether a value is known to harm.
func harms(key, value string) bool {
	harm, known := harmful[key]
	return known && same(harm, value)
}

func (c *checker) harm(l settingfile.Line) {
	if harms(l.Key, l.Value) {
		c.add(l, "harmful", record.LintWarning, "", record.LintHarmful, l.Key)
		c.advise(record.AdviceLeaveOut)
	}
}

// aboutNetwork reports whether a parameter of a system concerns the network.
func aboutNetwork(system, key string) bool {
	return slices.ContainsFunc(networkPrefixes[system], func(prefix string) bool {
		return strings.HasPrefix(key, prefix)
	})
}
