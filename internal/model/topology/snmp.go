package topology

import (
	"fmt"
	"net/netip"
	"path"
	"strconv"
	"strings"

	"linerate/internal/model/pattern"
	"linerate/internal/model/source"
)

// SNMP describes how the counters of a switch's ports are read.
type SNMP struct {
	// Address is empty if linerate creates the switch; snmpd then runs in it.
	Address     string `yaml:"address" json:"address,omitempty" doc:"address or name of the switch's SNMP agent, with :PORT if that is not 161; absent, of a switch that linerate makes: snmpd of net-snmp runs there"`
	Version     string `yaml:"version" json:"version,omitempty" doc:"version of SNMP; absent: 2c" enum:"2c,3"`
	Credentials string `yaml:"credentials" json:"credentials,omitempty" doc:"file with the community of 2c, or user and passwords of 3, that only its owner may read; its path is relative to the study's"`
	// Ports are those for which the study names an interface. Others are found automatically.
	Ports []SNMPPort `yaml:"ports" json:"ports,omitempty" doc:"ports of the switch by their names in the study, each with its ifName or ifIndex on the switch; absent: found by MAC addresses or LLDP"`
}

// SNMPPort maps a port to the switch's own name of it.
type SNMPPort struct {
	Port      string `yaml:",key" json:"port"`
	Interface string `yaml:",value" json:"interface"` // ifName or ifIndex
}

// SNMPDaemon is the program that serves SNMP in the switches of a lab.
const SNMPDaemon = "snmpd"

// snmpPort is the port of SNMP agents (RFC 3417).
const snmpPort = 161

// Endpoint returns the host and the port of Address. It returns false if Address is invalid.
func (s *SNMP) Endpoint() (host string, port uint16, ok bool) {
	if at, err := netip.ParseAddrPort(s.Address); err == nil {
		return at.Addr().String(), at.Port(), at.Port() != 0
	}
	if _, err := netip.ParseAddr(s.Address); err == nil {
		return s.Address, snmpPort, true
	}
	host, number, has := strings.Cut(s.Address, ":")
	n := uint64(snmpPort)
	if has {
		var err error
		if n, err = strconv.ParseUint(number, 10, 16); err != nil || n == 0 {
			return "", 0, false
		}
	}
	return host, uint16(n), dnsName.MatchString(host)
}

var dnsName = pattern.MustCompile(
	`^[A-Za-z0-9]([A-Za-z0-9-]{0,62}[A-Za-z0-9])?(\.[A-Za-z0-9]([A-Za-z0-9-]{0,62}[A-Za-z0-9])?)*\.?$`)

// Agentless reports whether a switch exists independently of linerate and has no agent, such as a
// rack switch. SNMP may read its counters.
func (s *Switch) Agentless() bool {
	return s.Unmanaged || s.SNMP != nil && s.SNMP.Address != ""
}

// Interface returns the ifName or ifIndex that the study specifies for a port. Empty: none.
func (s *SNMP) Interface(port string) string {
	for _, p := range s.Ports {
		if p.Port == port {
			return p.Interface
		}
	}
	return ""
}

// checkSNMP reports mistakes in how a switch is read. Ports are checked later, when links have
// named them.
func (c *checker) checkSNMP(i int) {
	s, at := c.t.Switches[i], fmt.Sprintf("topology.switches[%d].snmp", i)
	if s.SNMP == nil {
		return
	}
	if len(s.Via) > 0 {
		c.report(at, "the counters of a switch with via are read by its agent: leave out snmp, or via")
	}
	if s.SNMP.Address == "" {
		if s.Unmanaged {
			c.report(at, "SNMP of a real switch needs its address")
		}
		for _, key := range []struct {
			name  string
			given bool
		}{{"version", s.SNMP.Version != ""}, {"credentials", s.SNMP.Credentials != ""},
			{"ports", len(s.SNMP.Ports) > 0}} {
			if key.given && !s.Unmanaged {
				c.report(at+"."+key.name, "%s is for a real switch: it needs address", key.name)
			}
		}
		return
	}
	if _, _, ok := s.SNMP.Endpoint(); !ok {
		c.report(at+".address",
			"address %q: expected an IP address or a name, with :PORT or without ([2001:db8::1]:161)", s.SNMP.Address)
	}
	if s.SNMP.Credentials == "" {
		c.report(at, "SNMP of a real switch needs credentials, a file with its community, or user and passwords")
	}
	var names []string
	for _, e := range c.whole.ends() {
		if e.Node == s.Name {
			names = append(names, e.Interface)
		}
	}
	known := map[string]bool{}
	for _, name := range names {
		known[name] = true
	}
	for j, p := range s.SNMP.Ports {
		switch where := fmt.Sprintf("%s.ports[%d]", at, j); {
		case !known[p.Port]:
			c.report(where, "switch %s has no port %q%s", s.Name, p.Port, source.DidYouMean(p.Port, names))
		case p.Interface == "" || len(p.Interface) > maxIfName:
			c.report(where, "interface of port %s: expected an ifName or ifIndex of at most %d bytes",
				p.Port, maxIfName)
		}
	}
}

// maxIfName is the maximum length of an ifName: a DisplayString of RFC 2863 (ifXTable) has at most
// 255 bytes.
const maxIfName = 255

// Locate makes relative paths of credentials, as in a study in directory dir, relative to the
// current directory.
func (t *Topology) Locate(dir string) {
	for i := range t.Switches {
		if s := t.Switches[i].SNMP; s != nil && s.Credentials != "" && !path.IsAbs(s.Credentials) {
			s.Credentials = path.Join(dir, s.Credentials)
		}
	}
}
