package counters

import (
	"errors"
	"fmt"
	"io/fs"
	"net/netip"
	"slices"
	"strings"
	"time"

	"linerate/internal/kernel/netlink"
	"linerate/internal/kernel/proc"
	"linerate/internal/kernel/sched"
	"linerate/internal/model/netstate"
)

// Parameters that every snapshot holds, because diagnosis needs them: for the
// whole host, and for all, default and each interface.
var (
	hostSysctls = []string{
		"net.ipv4.fib_multipath_hash_policy", "net.ipv4.fib_multipath_hash_fields", "net.ipv4.fib_multipath_use_neigh",
		"net.ipv6.fib_multipath_hash_policy", "net.ipv6.fib_multipath_hash_fields", "net.ipv6.auto_flowlabels",
		"net.ipv4.ip_forward", "net.ipv4.tcp_congestion_control", "net.ipv4.tcp_available_congestion_control",
		"net.ipv4.tcp_rmem", "net.ipv4.tcp_wmem",
		"net.core.netdev_max_backlog",
		// Not used for diagnosis, but measurements that differ in them are not comparable.
		"net.core.default_qdisc", "net.core.rmem_max", "net.core.wmem_max", "net.ipv4.tcp_ecn",
		"net.ipv4.tcp_limit_output_bytes",
		"net.ipv4.tcp_moderate_rcvbuf", "net.ipv4.tcp_mtu_probing", "net.ipv4.tcp_sack",
		"net.ipv4.tcp_slow_start_after_idle",
		"net.ipv4.tcp_timestamps", "net.ipv4.tcp_window_scaling",
	}
	interfaceSysctls = []string{"arp_ignore", "arp_announce", "arp_filter", "rp_filter"}
)

// Snapshot reads the network state of this host, named host in the result, with the kernel's answers to lookups
// and the additional parameters. It fails only if the interfaces cannot be listed; other parts that cannot be
// read are listed in Missing.
func (r *Reader) Snapshot(host string, lookups []netstate.RouteLookup, sysctls []string) (netstate.Snapshot, error) {
	r.mu.Lock()
	defer r.mu.Unlock()
	snapshot := netstate.Snapshot{Host: host, TimerTickNs: int64(sched.TimerTick())}
	began := sched.Now()
	links, err := r.links()
	if err != nil {
		return snapshot, fmt.Errorf("snapshot of %s: %w", host, err)
	}
	snapshot.Tables = r.tables()
	snapshot.BeganNs = began
	missing := func(part string, err error) { missing(&snapshot.Missing, part, err) }
	missing("addresses", r.addInterfaces(&snapshot, links))
	if !netlink.Available {
		snapshot.Missing, snapshot.EndedNs = append(snapshot.Missing, NotRead()...), sched.Now()
		return snapshot, nil
	}
	missing("rules", r.addRules(&snapshot))
	missing("routes", r.addRoutes(&snapshot))
	snapshot.Lookups = r.lookups(lookups)
	snapshot.Sysctls = map[string]string{}
	for _, key := range snapshotKeys(links, sysctls) {
		value, err := proc.Sysctls{}.Read(key)
		switch {
		case err == nil:
			snapshot.Sysctls[key] = value
		case errors.Is(err, fs.ErrNotExist) && !slices.Contains(sysctls, key):
			// This kernel lacks a default parameter, which the caller did not ask for.
		default:
			missing("sysctl", err)
		}
	}
	if !r.Silent {
		missing("arp answers", r.addAnswers(&snapshot, links))
	}
	snapshot.EndedNs = sched.Now()
	return snapshot, nil
}

// Interfaces returns the host's interfaces and their addresses: the part of a snapshot that a host sends when
// it connects.
func (r *Reader) Interfaces() ([]netstate.InterfaceSnapshot, error) {
	r.mu.Lock()
	defer r.mu.Unlock()
	links, err := r.links()
	if err != nil {
		return nil, err
	}
	var s netstate.Snapshot
	err = r.addInterfaces(&s, links)
	return s.Interfaces, err
}

func snapshotKeys(links []netlink.Link, more []string) []string {
	keys := append([]string(nil), hostSysctls...)
	places := []string{"all", "default"}
	for _, l := range links {
		places = append(places, proc.InterfaceKey(l.Name))
	}
	for _, place := range places {
		for _, name := range interfaceSysctls {
			keys = append(keys, "net.ipv4.conf."+place+"."+name)
		}
	}
	return append(keys, more...)
}

func (r *Reader) addInterfaces(s *netstate.Snapshot, links []netlink.Link) error {
	addresses, err := r.conn.Addresses()
	of, duplicates := map[string][]string{}, map[string][]string{}
	for _, a := range addresses {
		of[a.Interface] = append(of[a.Interface], a.Prefix.String())
		if a.Duplicate {
			duplicates[a.Interface] = append(duplicates[a.Interface], a.Prefix.String())
		}
	}
	shapers, qdiscs, shaperErr := r.setUp()
	missing(&s.Missing, "shapers", shaperErr)
	for _, l := range links {
		entry := netstate.InterfaceSnapshot{
			Interface: l.Name, Index: l.Index, MAC: l.MAC, MTU: l.MTU, Up: l.Up,
			Master: l.Master, Kind: l.Kind, Addresses: of[l.Name], Duplicates: duplicates[l.Name],
			Shaper: shapers[l.Name], Qdiscs: qdiscs[l.Name],
		}
		if l.Kind == "" {
			entry.SpeedBps, entry.Driver = float64(r.nics.SpeedMbps(l.Name))*1e6, r.nics.Driver(l.Name)
		}
		s.Interfaces = append(s.Interfaces, entry)
	}
	return err
}

// A snapshot probes at most maxProbes addresses by ARP, and waits probeTime for replies.
const (
	maxProbes = 64
	probeTime = 100 * time.Millisecond
)

// addAnswers probes the host's neighbours and its own addresses by ARP: hosts other than those in its tables
// may answer.
func (r *Reader) addAnswers(s *netstate.Snapshot, links []netlink.Link) error {
	var requests []netlink.ARP
	probe := func(name, address string) {
		at, err := netip.ParseAddr(address)
		i := slices.IndexFunc(links, func(l netlink.Link) bool { return l.Name == name && l.Up && !l.Loopback })
		if err == nil && at.Is4() && i >= 0 && len(requests) < maxProbes {
			requests = append(requests, netlink.ARP{Index: links[i].Index, MAC: links[i].MAC, Address: at})
		}
	}
	for _, n := range s.Neighbours {
		if n.MAC != "" && n.State != "NOARP" {
			probe(n.Interface, n.Address)
		}
	}
	for _, i := range s.Interfaces {
		for _, address := range i.Addresses {
			address, _, _ := strings.Cut(address, "/")
			probe(i.Interface, address)
		}
	}
	if len(requests) == 0 {
		return nil
	}
	replies, err := netlink.ProbeARP(requests, probeTime)
	for _, a := range replies {
		s.Answers = append(s.Answers, netstate.Neighbour{Interface: r.names[a.Index], Address: a.Address.String(),
			MAC: a.MAC})
	}
	return err
}

func (r *Reader) addRules(s *netstate.Snapshot) error {
	rules, err := r.conn.Rules()
	for _, rule := range rules {
		entry := netstate.RuleEntry{Priority: rule.Priority, Table: rule.Table, Other: !rule.Plain}
		if rule.From.IsValid() {
			entry.From = rule.From.String()
		}
		if rule.To.IsValid() {
			entry.To = rule.To.String()
		}
		s.Rules = append(s.Rules, entry)
	}
	return err
}

// mostRoutes limits the static and routing daemons' routes in a snapshot.
const mostRoutes = 4096

func (r *Reader) addRoutes(s *netstate.Snapshot) error {
	routes, omitted, err := r.conn.MainRoutes(mostRoutes)
	s.RoutesOmitted = omitted
	for _, route := range routes {
		s.Routes = append(s.Routes, route.Entry)
	}
	return err
}

// lookups asks the kernel to resolve route lookups; one that fails has an Error.
func (r *Reader) lookups(lookups []netstate.RouteLookup) []netstate.RouteLookup {
	answers := slices.Clone(lookups)
	for i, q := range lookups {
		var err error
		if answers[i], err = r.conn.LookupRoute(q, r.names); err != nil {
			answers[i].Error = err.Error()
		}
	}
	return answers
}
