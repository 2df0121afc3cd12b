package apply

import (
	"errors"
	"fmt"
	"slices"
	"strconv"
	"strings"
	"syscall"

	"linerate/internal/bus"
	"linerate/internal/kernel"
	"linerate/internal/kernel/netlink"
	"linerate/internal/model/message"
	"linerate/internal/model/setting"
	"linerate/internal/science/tuning/known"
)

// sysctl is one kernel parameter.
type sysctl struct {
	baseTarget
	key, value string
}

func (t *sysctl) what() string { return t.key }

// removed says since when and why Linux no longer has a parameter; empty: it is not known to lack it.
func removed(key string) string {
	since, why, now, known := known.Removed(key)
	text := "Linux has no such parameter any more"
	if since != "" {
		text = "Linux has no such parameter since " + since
	}
	switch {
	case !known:
		return ""
	case why == "":
		return text + ": its name is " + now + " now"
	case now != "":
		return text + ": " + why + "; now " + now
	}
	return text + ": " + why
}

// scope returns an error if the parameter cannot be changed from here at all.
func (t *sysctl) scope() (string, string, error) {
	exists, writable, err := t.host.sysctls.Writable(t.key)
	if err != nil {
		return "", "", err
	}
	isNet := strings.HasPrefix(t.key, "net.")
	cannotStat := "cannot stat /proc/sys/" + strings.ReplaceAll(t.key, ".", "/") + ": No such file or directory"
	switch {
	case !exists && known.MachineWide(t.key):
		return "", "", bus.Coded(message.NotFound,
			errors.New(cannotStat+" in this network namespace: it is machine-wide, and only the machine's first "+
				"namespace (not a lab) has it"))
	case !exists && removed(t.key) != "":
		return "", "", bus.Coded(message.NotFound, errors.New(cannotStat+": "+removed(t.key)))
	case !exists && t.host.nearest(t.key) != "":
		return "", "", fmt.Errorf("%s; did you mean %s?", cannotStat, t.host.nearest(t.key))
	case !exists && isNet:
		return "", "", bus.Coded(message.NotFound,
			errors.New(cannotStat+" in this network namespace: either this kernel does not have it, or it is "+
				"machine-wide and shown only in the machine's first namespace, which a lab's hosts are not in"))
	case !exists:
		return "", "", bus.Coded(message.NotFound, errors.New(cannotStat+": this kernel does not have it"))
	case !writable && isNet:
		return "", "", bus.Coded(message.NotPermitted,
			errors.New("permission denied on key "+
				strconv.Quote(t.key)+": it is read-only here, machine-wide and can be changed only in the "+
				"machine's first network namespace (not in a lab), or changing it needs root"))
	case !writable:
		return "", "", bus.Coded(message.NotPermitted,
			errors.New("it is read-only here: changing it needs root on the machine itself"))
	}
	own, err := netlink.NamespacedSysctl(t.key)
	switch {
	case own:
		return Namespace, "", nil
	case err != nil:
		return Machine, "presumably: no namespace could be made to find out: " + err.Error(), nil
	case isNet:
		return Machine, "a new network namespace has no such parameter of its own", nil
	}
	return Machine, "everything outside net.* is", nil
}

// nearest returns the existing parameter of the same directory with the most similar
// name; empty: none is similar.
func (h host) nearest(key string) string {
	dot := strings.LastIndex(key, ".")
	if dot < 0 {
		return ""
	}
	beside, _ := h.sysctls.List(key[:dot]) // none: nothing to suggest
	return setting.NearestKey(key, beside)
}

func (t *sysctl) read() (State, error) {
	value, err := t.host.sysctls.Read(t.key)
	return State{Text: value}, err
}

// plan completes a list of numbers: of a value that has fewer, the kernel leaves the rest as
// they are (proc_dointvec).
func (t *sysctl) plan(prior State) (State, error) {
	value, is := strings.Fields(t.value), strings.Fields(prior.Text)
	if len(value) > 0 && len(value) < len(is) && !slices.ContainsFunc(slices.Concat(value, is), notNumber) {
		value = append(value, is[len(value):]...)
	}
	return State{Text: strings.Join(value, " ")}, nil
}

func notNumber(word string) bool {
	_, err := strconv.ParseInt(word, 0, 64)
	return err != nil
}

func (t *sysctl) change(next State) error {
	err := t.host.sysctls.Write(t.key, next.Text)
	if err == nil || t.key != "net.ipv4.tcp_congestion_control" {
		return err
	}
	switch {
	case errors.Is(err, syscall.EPERM):
		allowed, _ := t.host.sysctls.Read("net.ipv4.tcp_allowed_congestion_control")
		return fmt.Errorf(
			"the machine's net.ipv4.tcp_allowed_congestion_control does not list %s (it has: %s), so that "+
				"namespaces may not choose it: %w",
			next.Text, allowed, syscall.EPERM)
	case errors.Is(err, syscall.ENOENT):
		available, _ := t.host.sysctls.Read("net.ipv4.tcp_available_congestion_control")
		return kernel.Lacking(fmt.Sprintf("this kernel has no congestion control %s (it has: %s)", next.Text,
			available))
	}
	return err
}

func (t *sysctl) restore(prior, _ State) error { return t.host.sysctls.Write(t.key, prior.Text) }

func (t *sysctl) same(a, b State) bool { return sameValue(a.Text, b.Text) }

// sameValue compares values as the kernel does: numbers by value, whatever their
// base, and lists of words in any order, since it prints them in its own.
func sameValue(a, b string) bool {
	as, bs := strings.Fields(a), strings.Fields(b)
	if len(as) != len(bs) {
		return false
	}
	for i := range as {
		x, errX := strconv.ParseInt(as[i], 0, 64)
		y, errY := strconv.ParseInt(bs[i], 0, 64)
		if errX == nil && errY == nil {
			if x != y {
				return false
			}
			as[i] = bs[i]
		}
	}
	slices.Sort(as)
	slices.Sort(bs)
	return slices.Equal(as, bs)
}

func (t *sysctl) sideEffects(_, _ State, reverting bool) sideEffects {
	d := sideEffects{sysctls: t.host.dependents(t.key)}
	parts := strings.Split(t.key, ".")
	if reverting || len(parts) != 5 || parts[0] != "net" || parts[1] != "ipv6" || parts[2] != "conf" {
		return d
	}
	switch parts[4] {
	case "disable_ipv6":
		// Disabling deletes the interface's IPv6 addresses, routes and neighbours.
		d.family, d.addresses, d.routes, d.neighbours = 6, true, true, true
		if parts[3] != "all" && parts[3] != "default" {
			d.iface = strings.ReplaceAll(parts[3], "/", ".")
		}
	case "forwarding":
		// A router deletes the default routes that it learned from advertisements.
		d.family, d.routes = 6, true
	}
	return d
}

// twins are parameters of one file that hold each other's value in another unit.
var twins = map[string]string{
	"base_reachable_time": "base_reachable_time_ms", "base_reachable_time_ms": "base_reachable_time",
	"retrans_time": "retrans_time_ms", "retrans_time_ms": "retrans_time",
	"unres_qlen": "unres_qlen_bytes", "unres_qlen_bytes": "unres_qlen",
}

// partners are parameters that the kernel changes when another is written:
// inet_forward_change, tcp_set_default_congestion_control, dirty_bytes_handler.
var partners = map[string][]string{
	"net.ipv4.ip_forward": {"net.ipv4.conf.all.forwarding", "net.ipv4.conf.*.forwarding",
		"net.ipv4.conf.all.accept_redirects"},
	"net.ipv4.conf.all.forwarding": {"net.ipv4.ip_forward", "net.ipv4.conf.*.forwarding",
		"net.ipv4.conf.all.accept_redirects"},
	"net.ipv4.tcp_congestion_control": {"net.ipv4.tcp_allowed_congestion_control"},
	"vm.dirty_bytes":                  {"vm.dirty_ratio"},
	"vm.dirty_ratio":                  {"vm.dirty_bytes"},
	"vm.dirty_background_bytes":       {"vm.dirty_background_ratio"},
	"vm.dirty_background_ratio":       {"vm.dirty_background_bytes"},
	"vm.overcommit_kbytes":            {"vm.overcommit_ratio"},
	"vm.overcommit_ratio":             {"vm.overcommit_kbytes"},
}

// dependents lists the parameters that writing a key may change too. Writing
// all or default of net.{ipv4,ipv6}.{conf,neigh} reaches the interfaces' parameters
// of the same name in some cases (forwarding, disable_ipv6, every IPv4 default
// that an interface has not overridden) and not in others: all of them are recorded,
// and only those that change are restored.
func (h host) dependents(key string) []string {
	patterns := slices.Clone(partners[key])
	parts := strings.Split(key, ".")
	if len(parts) == 5 && parts[0] == "net" && (parts[2] == "conf" || parts[2] == "neigh") {
		prefix := strings.Join(parts[:3], ".") + "."
		names := []string{parts[4]}
		if twin := twins[parts[4]]; twin != "" {
			names = append(names, twin)
		}
		for _, name := range names {
			patterns = append(patterns, prefix+parts[3]+"."+name)
			if parts[3] == "all" || parts[3] == "default" {
				// all and default first: writing them back may reach the interfaces again.
				patterns = append(patterns, prefix+"all."+name, prefix+"default."+name, prefix+"*."+name)
			}
		}
	}
	seen := map[string]bool{key: true}
	var list []string
	for _, pattern := range patterns {
		keys := []string{pattern}
		if strings.Contains(pattern, "*") {
			keys, _ = h.sysctls.Match(pattern) // none: nothing to record
		}
		for _, k := range keys {
			if !seen[k] {
				seen[k], list = true, append(list, k)
			}
		}
	}
	return list
}
