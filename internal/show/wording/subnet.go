package wording

import (
	"fmt"
	"strings"

	"linerate/internal/model/cause"
	"linerate/internal/model/fact"
	"linerate/internal/model/lists"
	"linerate/internal/model/record"
)

var _ = later(func() {
	say(cause.SameSubnetInterfaces, words[cause.Two]{read: ipSysctl + "; RFC 826; RFC 3704, section 4.3",
		found: "Two interfaces, not of different VRFs, have addresses of one subnet, and arp_ignore and arp_filter " +
			"let either answer for the other: the mechanism of arp-flux.",
		summary: func(_ record.Finding, a cause.Two) string {
			return fmt.Sprintf(
				"%s and %s are on one subnet, and either answers ARP requests for the addresses of both: peers may "+
					"send all traffic to one of them",
				a.First, a.Second)
		},
		fix: []string{theSteps, "and a rule and a table for each address, so that answers leave by its interface: " +
			"linerate new nas, linerate run nas.yaml proves it; or one subnet for each interface, or a bond"}})
	say(cause.AddressTwice, words[cause.Two]{read: "RFC 5227", anywhere: true,
		found: "Two hosts have one address. Needs the snapshots of both.",
		summary: func(f record.Finding, a cause.Two) string {
			return fmt.Sprintf("%s is the address of %s and of %s", f.About.Address, a.First, a.Second)
		},
		fix: []string{"another address for one of the two; none if it is an anycast or shared address on purpose"}})
	say(cause.MACTwiceInSubnet, words[cause.Two]{read: "IEEE 802.1D; ip-link(8)", anywhere: true,
		found: "Two hosts have one MAC address on one subnet. Needs the snapshots of both.",
		summary: func(_ record.Finding, a cause.Two) string {
			return fmt.Sprintf("%s and %s have the same MAC address on one subnet", a.First, a.Second)
		},
		fix: []string{"another MAC address for one of the two: a cloned virtual machine keeps that of its original"}})
	say(cause.NetmaskDiffers, words[cause.Two]{read: "RFC 1122, section 3.3.1; RFC 4632", anywhere: true,
		found: "Two hosts have addresses of one subnet with different prefix lengths; certain where the longer " +
			"prefix leaves the other host out. Needs the snapshots of both.",
		summary: func(_ record.Finding, a cause.Two) string {
			return fmt.Sprintf("%s and %s have different prefix lengths on one subnet", a.First, a.Second)
		},
		fix: []string{"the same prefix length on all hosts of the subnet"}})
	say(cause.MTUDiffers, words[cause.MTUs]{read: "RFC 894; RFC 2923, section 2.1", anywhere: true,
		found: "Two hosts have different MTUs on one subnet that is no tunnel. Needs the snapshots of both.",
		summary: func(_ record.Finding, a cause.MTUs) string {
			return fmt.Sprintf(
				"%s and %s have different MTUs on one subnet: packets of more than %d bytes are dropped, and no "+
					"router says so",
				a.First, a.Second, a.Least)
		},
		fixed: func(_ record.Finding, a cause.MTUs) []string {
			return []string{theSteps, fmt.Sprintf(
				"or, if every host and switch of the subnet takes packets of %d bytes, an MTU of %d on all of them",
				a.Most, a.Most)}
		}})
	say(cause.SameSubnetMTU, words[cause.MTUs]{read: "RFC 894; RFC 2923, section 2.1",
		found: "Two interfaces of one host have addresses of one subnet and different MTUs.",
		summary: func(_ record.Finding, a cause.MTUs) string {
			return fmt.Sprintf("%s and %s are on one subnet with different MTUs: frames of more than %d bytes are "+
				"dropped at what takes only those, and no router says so", a.First, a.Second, a.Least)
		},
		fixed: func(_ record.Finding, a cause.MTUs) []string {
			return []string{theSteps,
				fmt.Sprintf("or, if every host and switch of the subnet takes packets of %d bytes, "+
					"an MTU of %[1]d on all of them", a.Most)}
		}})
	say(cause.MACTwice, words[cause.Two]{read: "IEEE 802.1D; ip-link(8)",
		found: "Two interfaces with addresses of one subnet have the same MAC address, and neither is made on the " +
			"other.",
		summary: func(_ record.Finding, a cause.Two) string {
			return fmt.Sprintf("%s and %s have the same MAC address on one subnet: switches move it to and fro",
				a.First,
				a.Second)
		},
		fixed: func(_ record.Finding, a cause.Two) []string {
			return []string{fmt.Sprintf("ip link set dev %s address with another one, such as with the first byte 02",
				a.Second)}
		}})
	say(cause.SubnetsOverlap, words[cause.Two]{read: "RFC 4632; ip-route(8)",
		found: "Two interfaces, not of different VRFs, have addresses of subnets of which one contains the other.",
		summary: func(_ record.Finding, a cause.Two) string {
			return fmt.Sprintf("the subnet of %s contains that of %s: its hosts with these addresses are not "+
				"reached by %s",
				a.First, a.Second, a.First)
		},
		fix: []string{"none if that is meant; otherwise subnets apart, or the right prefix lengths"}})

	spell(func(_ string, a fact.Addressed) string {
		var rows []string
		for _, e := range a.Ends {
			rows = append(rows, end(e.End)+": "+some(texts(e.Prefixes)))
		}
		return strings.Join(rows, "; ")
	})
	spell(func(host string, a fact.SameAddress) string {
		return strings.TrimSuffix(fmt.Sprintf("%s.%s: %s, %s", host, a.Interface, a.Prefix, a.MAC), ", ")
	})
	spell(func(_ string, s fact.SameMAC) string {
		names := lists.Map(s.Ends, end)
		return some(names) + ": " + s.MAC
	})
	spell(func(_ string, m fact.MTUs) string {
		var rows []string
		for _, e := range m.Ends {
			rows = append(rows, fmt.Sprintf("%s: MTU %d", end(e.End), e.MTU))
		}
		return strings.Join(rows, "; ")
	})
})

// end returns the name of an interface, with its host if that is set.
func end(e fact.End) string {
	if e.Host == "" {
		return e.Interface
	}
	return e.Host + "." + e.Interface
}
