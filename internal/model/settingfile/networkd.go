package settingfile

import (
	"path"
	"strings"
)

var _ = register(&format{
	name: "systemd.network", label: "systemd.network", manual: "systemd.network(5)", by: "`.network`",
	yields: "`[Link] MTUBytes`; `IPv4Forwarding`, `IPv4ReversePathFilter` and the like of a named interface. " +
		"Queueing disciplines are not read",
	named: func(base, _ string) bool { return path.Ext(base) == ".network" },
	read:  (*File).network,
})

// networkKeys maps keys of [Network] to the parameter of an interface.
var networkKeys = map[string]string{
	"IPv4Forwarding": "net.ipv4.conf.%.forwarding", "IPv6Forwarding": "net.ipv6.conf.%.forwarding",
	"IPv4ReversePathFilter": "net.ipv4.conf.%.rp_filter", "IPv4ProxyARP": "net.ipv4.conf.%.proxy_arp",
	"IPv4AcceptLocal": "net.ipv4.conf.%.accept_local", "IPv4RouteLocalnet": "net.ipv4.conf.%.route_localnet",
	"IPv6ProxyNDP": "net.ipv6.conf.%.proxy_ndp", "IPv6HopLimit": "net.ipv6.conf.%.hop_limit",
	"IPv6MTUBytes": "net.ipv6.conf.%.mtu",
}

// networkValues maps words of such keys to numbers.
var networkValues = map[string]string{"yes": "1", "true": "1", "on": "1", "no": "0", "false": "0", "off": "0",
	"strict": "1", "loose": "2"}

// qdiscSections are the sections with queueing disciplines and classes.
var qdiscSections = []string{"QDisc", "NetworkEmulator", "TokenBucketFilter", "PIE", "FlowQueuePIE",
	"StochasticFairBlue", "StochasticFairnessQueueing", "BFIFO", "PFIFO", "PFIFOHeadDrop", "PFIFOFast", "CAKE",
	"ControlledDelay", "DeficitRoundRobinScheduler", "EnhancedTransmissionSelection", "GenericRandomEarlyDetection",
	"FairQueueingControlledDelay", "FairQueueing", "TrivialLinkEqualizer", "HierarchyTokenBucket", "HeavyHitterFilter",
	"QuickFairQueueing", "BandMultiQueueing"}

// network parses systemd.network(5).
func (f *File) network(text string) {
	iface, section := anyInterface, ""
	for n, line := range entries(text) {
		if line[0] == '[' {
			section = strings.Trim(line, "[]")
			for _, name := range qdiscSections {
				if strings.HasPrefix(section, name) {
					f.apart(Unread, n, line, "a queueing discipline, which is not read of a .network file")
					break
				}
			}
			continue
		}
		key, value, _ := strings.Cut(line, "=")
		key, value = strings.TrimSpace(key), strings.TrimSpace(value)
		parameter := networkKeys[key]
		switch {
		case section == "Match" && key == "Name" && !strings.ContainsAny(value, "*? !"):
			iface = value
		case section == "Link" && key == "MTUBytes":
			f.addLink(n, iface, "mtu", systemdBytes(value))
		case section == "Network" && parameter != "" && iface == anyInterface:
			f.apart(Unread, n, line, "which interfaces it is for is not known here")
		case section == "Network" && parameter != "":
			if number := networkValues[strings.ToLower(value)]; number != "" {
				value = number
			}
			name := strings.ReplaceAll(iface, ".", "/")
			f.option(n, strings.Replace(parameter, "%", name, 1), value)
		}
	}
}
