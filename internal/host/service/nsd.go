package service

import (
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"strings"

	"linerate/internal/host/daemon"
	"linerate/internal/model/topology"
)

func init() { descriptors["nsd"] = nsd }

// zone has every name, by wildcards of the root (RFC 4592), as linerate's own server has:
// addresses of documentation (RFC 5737, RFC 3849).
const zone = `$TTL 60
. IN SOA ns.linerate.test. hostmaster.linerate.test. 1 3600 900 86400 60
. IN NS ns.linerate.test.
*. IN A 192.0.2.1
*. IN AAAA 2001:db8::1
`

// nsd serves the zone of the root, without a limit of the rate of responses, which its Debian
// package has by default.
func nsd(o topology.Service) daemon.Descriptor {
	return daemon.Descriptor{
		VersionBy: []string{"nsd", "-v"}, Forks: true,
		Version: func(printed string) (string, error) {
			first, _, _ := strings.Cut(printed, "\n")
			version, found := strings.CutPrefix(strings.TrimSpace(first), "NSD version ")
			if !found {
				return "", errors.New("expected a version of NSD")
			}
			return "NSD " + version, nil
		},
		Configure: func(dir string) ([]string, error) {
			config := filepath.Join(dir, "nsd.conf")
			return []string{"-d", "-c", config}, errors.Join(
				os.WriteFile(config, nsdConfig(o, dir, hasIPv6()), 0o600),
				os.WriteFile(filepath.Join(dir, "zone"), []byte(zone), 0o600))
		},
	}
}

// nsdConfig is a service's configuration; of a setting that is given twice the last holds.
func nsdConfig(o topology.Service, dir string, ipv6 bool) []byte {
	list := []string{"server:", fmt.Sprintf("  ip-address: 0.0.0.0@%d", o.Port)}
	if ipv6 {
		list = append(list, fmt.Sprintf("  ip-address: ::0@%d", o.Port))
	}
	list = append(list, `  username: ""`, `  database: ""`, "  zonesdir: "+quoted(dir), "  pidfile: "+
		quoted(dir, "nsd.pid"),
		"  zonelistfile: "+quoted(dir, "zone.list"), "  xfrdfile: "+quoted(dir, "xfrd.state"), "  xfrdir: "+quoted(dir),
		"  rrl-ratelimit: 0")
	for _, s := range o.Settings {
		list = append(list, fmt.Sprintf("  %s: %s", s.Key, s.Value))
	}
	return lines(append(list, "remote-control:", "  control-enable: no", "zone:", `  name: "."`, "  zonefile: zone")...)
}

func quoted(path ...string) string { return `"` + filepath.Join(path...) + `"` }
