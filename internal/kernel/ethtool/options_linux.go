//go:build !portable

package ethtool

import (
	"errors"
	"fmt"
	"maps"
	"path/filepath"
	"slices"
	"strings"

	"golang.org/x/sys/unix"

	"linerate/internal/kernel"
	"linerate/internal/model/setting"
)

// unsupported returns the error for an option that an interface lacks; it names the driver.
func (h *Handle) unsupported(iface string, o setting.Option, group, why string) error {
	if driver := h.Driver(iface); driver != "" {
		iface += " (driver " + driver + ")"
	}
	return &kernel.Error{Op: "change", Object: fmt.Sprintf("%s %s of %s", group, o.Key, iface),
		Err: errors.ErrUnsupported, Detail: why}
}

// Resolve splits an option of an interface into those of single objects, as they are applied: tso into its
// features, rps_cpus into the file of each queue. Values have the form that Option returns. If the interface
// lacks the option, or a value exceeds its maximum, the error wraps errors.ErrUnsupported.
func (h *Handle) Resolve(iface string, o setting.NICOption) ([]setting.NICOption, error) {
	if h == nil {
		return nil, errors.ErrUnsupported
	}
	var list []setting.Option
	var err error
	switch o.Group {
	case "features":
		list, err = h.resolveFeature(iface, o.Option)
	case "rss":
		list, err = h.resolveRSS(iface, o.Option)
	case "steering":
		list, err = h.resolveSteering(iface, o.Option)
	case "queues", "napi", "irqs":
		list, err = h.resolveFiles(iface, o.Group, o.Option)
	default:
		list, err = h.resolveNumber(iface, o)
	}
	var resolved []setting.NICOption
	for _, one := range list {
		resolved = append(resolved, setting.NICOption{Group: o.Group, Option: one})
	}
	return resolved, err
}

// Option reads an option returned by Resolve.
func (h *Handle) Option(iface, group, key string) (string, error) {
	switch group {
	case "features":
		return h.feature(iface, key)
	case "rss":
		return h.rss(iface, key)
	case "steering":
		return h.steering(iface, key)
	case "queues", "napi", "irqs":
		return h.readFile(iface, group, key)
	}
	n, err := h.number(iface, group, key)
	if err != nil {
		return "", err
	}
	return n.text(key), nil
}

// SetOption sets an option returned by Resolve to a value from Resolve or Option.
func (h *Handle) SetOption(iface string, o setting.NICOption) error {
	fail := func(err error) error {
		if err == nil {
			return nil
		}
		return &kernel.Error{Op: "change", Object: fmt.Sprintf("%s %s of %s to %.80s", o.Group, o.Key, iface, o.Value),
			Err: err}
	}
	switch o.Group {
	case "features":
		// If a feature is off only because another is, the request is on: restore the request.
		return fail(h.SetFeature(iface, o.Key, requested(o.Value)))
	case "rss":
		return fail(h.setRSS(iface, o.Option))
	case "steering":
		return fail(h.setSteering(iface, o.Option))
	case "queues", "napi", "irqs":
		return fail(h.writeFile(iface, o.Group, o.Option))
	}
	n, err := h.number(iface, o.Group, o.Key)
	if err == nil {
		err = n.write(h, iface, o.Key, o.Value)
	}
	if o.Group == "channels" && errors.Is(err, unix.EINVAL) && h.defaultTable(iface) == nil {
		err = n.write(h, iface, o.Key, o.Value)
	}
	return fail(err)
}

// short maps ethtool(8)'s names of features to the kernel's (net/ethtool/common.c); a name ending in * is a
// prefix.
var short = map[string]string{
	"rx": "rx-checksum", "rx-checksumming": "rx-checksum", "tx": "tx-checksum-*", "tx-checksumming": "tx-checksum-*",
	"sg": "tx-scatter-gather*", "scatter-gather": "tx-scatter-gather*", "tso": "tx-tcp*",
	"tcp-segmentation-offload": "tx-tcp*",
	"gso":                      "tx-generic-segmentation", "generic-segmentation-offload": "tx-generic-segmentation",
	"gro": "rx-gro", "generic-receive-offload": "rx-gro", "lro": "rx-lro", "large-receive-offload": "rx-lro",
	"rxvlan": "rx-vlan-hw-parse", "rx-vlan-offload": "rx-vlan-hw-parse", "txvlan": "tx-vlan-hw-insert",
	"tx-vlan-offload": "tx-vlan-hw-insert",
	"ntuple":          "rx-ntuple-filter", "ntuple-filters": "rx-ntuple-filter", "rxhash": "rx-hashing",
	"receive-hashing": "rx-hashing",
}

// mangleID changes IP identifiers; although part of tso, tso does not turn it on.
const mangleID = "tx-tcp-mangleid-segmentation"

func (h *Handle) resolveFeature(iface string, o setting.Option) (list []setting.Option, err error) {
	all, err := h.features(iface)
	if err != nil {
		return nil, &kernel.Error{Op: "read", Object: "features of " + iface, Err: err}
	}
	pattern := o.Key
	if kernels, ok := short[o.Key]; ok {
		pattern = kernels
	}
	prefix, several := strings.CutSuffix(pattern, "*")
	known, fixed := false, ""
	for _, name := range slices.Sorted(maps.Keys(all)) {
		if name != pattern && !(several && strings.HasPrefix(name, prefix)) || several && name == mangleID &&
			o.Value == "on" {
			continue
		}
		f := all[name]
		known = true
		switch is := featureText(f); {
		case !f.fixed:
			list = append(list, setting.Option{Key: name, Value: o.Value})
		case is == o.Value && !several:
			list = append(list, setting.Option{Key: name, Value: is})
		case is != o.Value:
			fixed = is
		}
	}
	switch {
	case !known:
		return nil, h.unsupported(iface, o, "features", "the kernel has no such feature: ethtool -k lists them")
	case len(list) == 0 && fixed != "":
		return nil, h.unsupported(iface, o, "features", "it is fixed to "+fixed)
	}
	return list, nil
}

// featureText returns "on" or "off", and the request if another feature prevents it.
func featureText(f feature) string {
	if !f.fixed && f.requested != f.active {
		return onOff(f.active) + " (requested " + onOff(f.requested) + ")"
	}
	return onOff(f.active)
}

// requested returns the request in a text of featureText.
func requested(text string) bool { return text == "on" || strings.HasSuffix(text, "(requested on)") }

func (h *Handle) feature(iface, name string) (string, error) {
	all, err := h.features(iface)
	if err != nil {
		return "", &kernel.Error{Op: "read", Object: "features of " + iface, Err: err}
	}
	f, ok := all[name]
	if !ok {
		return "", h.unsupported(iface, setting.Option{Key: name}, "features", "the kernel has no such feature")
	}
	return featureText(f), nil
}

// number reads the group of an option.
func (h *Handle) number(iface, group, key string) (numbers, error) {
	n, err := h.numbers(iface, group)
	_, ok := n.fields[key]
	switch {
	case errors.Is(err, unix.EOPNOTSUPP):
		return n, h.unsupported(iface, setting.Option{Key: key}, group, "the driver has no such option")
	case err != nil:
		return n, &kernel.Error{Op: "read", Object: group + " of " + iface, Err: err}
	case !ok:
		return n, h.unsupported(iface, setting.Option{Key: key}, group, "")
	}
	return n, nil
}

// resolveNumber checks a number against the maximum that the driver states.
func (h *Handle) resolveNumber(iface string, o setting.NICOption) ([]setting.Option, error) {
	n, err := h.number(iface, o.Group, o.Key)
	if err != nil {
		return nil, err
	}
	value, err := n.parse(o.Key, o.Value)
	if err != nil {
		return nil, err
	}
	if n.fields[o.Key].most != 0 {
		if n.most(o.Key) == 0 {
			return nil, h.unsupported(iface, o.Option, o.Group, "its maximum is 0")
		}
		if int(value) > n.most(o.Key) {
			return nil, h.unsupported(iface, o.Option, o.Group, fmt.Sprintf("%d exceeds its maximum of %d", value,
				n.most(o.Key)))
		}
	}
	n.word[n.fields[o.Key].at] = value
	return []setting.Option{{Key: o.Key, Value: n.text(o.Key)}}, nil
}

// path returns the file of an option of queues, napi or irqs.
func (h *Handle) path(iface, group, key string) string {
	switch group {
	case "queues":
		return filepath.Join(h.sys.sys, "class/net", iface, "queues", key)
	case "napi":
		return filepath.Join(h.sys.sys, "class/net", iface, key)
	}
	return filepath.Join(h.sys.proc, "irq", key)
}
