//go:build !portable

package ethtool

import (
	"errors"
	"fmt"
	"maps"
	"path/filepath"
	"slices"
	"strconv"
	"strings"

	"github.com/safchain/ethtool"
	"golang.org/x/sys/unix"

	"linerate/internal/kernel"
	"linerate/internal/model/setting"
)

// unsupported is the error for an option that an interface does not have; it names its driver.
func (h *Handle) unsupported(iface string, o setting.Option, group, why string) error {
	if driver := h.Driver(iface); driver != "" {
		iface += " (driver " + driver + ")"
	}
	return &kernel.Error{Op: "change", Object: fmt.Sprintf("%s %s of %s", group, o.Key, iface), Err: errors.ErrUnsupported, Detail: why}
}

// Resolve divides an option of an interface into those of single objects, as they are applied:
// tso into the features that it stands for, rps_cpus into the file of each queue. Values are in
// the form in which Option returns them. What the interface does not have, or a value that
// exceeds its maximum, is an error, of errors.ErrUnsupported.
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

// Option reads an option of Resolve.
func (h *Handle) Option(iface, group, key string) (string, error) {
	switch group {
	case "features":
		return h.feature(iface, key)
	case "rss":
		return h.rss(iface, key)
	case "queues", "napi", "irqs":
		return h.readFile(iface, group, key)
	}
	f, _, err := h.field(iface, group, key)
	if err != nil {
		return "", err
	}
	return f.text(), nil
}

// SetOption changes an option of Resolve to a value that Resolve or Option has returned.
func (h *Handle) SetOption(iface string, o setting.NICOption) error {
	fail := func(err error) error {
		if err == nil {
			return nil
		}
		return &kernel.Error{Op: "change", Object: fmt.Sprintf("%s %s of %s to %.80s", o.Group, o.Key, iface, o.Value), Err: err}
	}
	switch o.Group {
	case "features":
		// A feature that is off because another one is, is requested: what is changed is the request.
		return fail(h.ioctl.Change(iface, map[string]bool{o.Key: requested(o.Value)}))
	case "rss":
		return fail(h.setRSS(iface, o.Option))
	case "queues", "napi", "irqs":
		return fail(h.writeFile(iface, o.Group, o.Option))
	}
	f, set, err := h.field(iface, o.Group, o.Key)
	if err == nil {
		if err = f.parse(o.Value); err == nil {
			err = set()
		}
	}
	return fail(err)
}

// short are the names of ethtool(8) for features, with the kernel's (net/ethtool/common.c);
// one that ends in * stands for all that begin so.
var short = map[string]string{
	"rx": "rx-checksum", "rx-checksumming": "rx-checksum", "tx": "tx-checksum-*", "tx-checksumming": "tx-checksum-*",
	"sg": "tx-scatter-gather*", "scatter-gather": "tx-scatter-gather*", "tso": "tx-tcp*", "tcp-segmentation-offload": "tx-tcp*",
	"gso": "tx-generic-segmentation", "generic-segmentation-offload": "tx-generic-segmentation",
	"gro": "rx-gro", "generic-receive-offload": "rx-gro", "lro": "rx-lro", "large-receive-offload": "rx-lro",
	"rxvlan": "rx-vlan-hw-parse", "rx-vlan-offload": "rx-vlan-hw-parse", "txvlan": "tx-vlan-hw-insert", "tx-vlan-offload": "tx-vlan-hw-insert",
	"ntuple": "rx-ntuple-filter", "ntuple-filters": "rx-ntuple-filter", "rxhash": "rx-hashing", "receive-hashing": "rx-hashing",
}

// mangleID is a part of tso that changes IP identifiers; tso does not turn it on.
const mangleID = "tx-tcp-mangleid-segmentation"

func (h *Handle) resolveFeature(iface string, o setting.Option) (list []setting.Option, err error) {
	all, err := h.ioctl.FeaturesWithState(iface)
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
		if name != pattern && !(several && strings.HasPrefix(name, prefix)) || several && name == mangleID && o.Value == "on" {
			continue
		}
		f := all[name]
		known = true
		switch is := featureText(f); {
		case f.Available && !f.NeverChanged:
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

// featureText is "on" or "off"; where another feature prevents what is requested, with that.
func featureText(f ethtool.FeatureState) string {
	text := map[bool]string{true: "on", false: "off"}
	if f.Available && !f.NeverChanged && f.Requested != f.Active {
		return text[f.Active] + " (requested " + text[f.Requested] + ")"
	}
	return text[f.Active]
}

// requested is the request in a text of featureText.
func requested(text string) bool { return text == "on" || strings.HasSuffix(text, "(requested on)") }

func (h *Handle) feature(iface, name string) (string, error) {
	all, err := h.ioctl.FeaturesWithState(iface)
	if err != nil {
		return "", &kernel.Error{Op: "read", Object: "features of " + iface, Err: err}
	}
	f, ok := all[name]
	if !ok {
		return "", h.unsupported(iface, setting.Option{Key: name}, "features", "the kernel has no such feature")
	}
	return featureText(f), nil
}

// field is a number or a flag in a structure of ethtool.
type field struct {
	at   *uint32
	most uint32 // 0: not known
	flag bool
}

func (f field) text() string {
	if f.flag {
		return map[bool]string{true: "on", false: "off"}[*f.at != 0]
	}
	return strconv.FormatUint(uint64(*f.at), 10)
}

func (f field) parse(text string) error {
	n, err := strconv.ParseUint(map[string]string{"on": "1", "off": "0"}[text]+map[bool]string{false: text}[f.flag], 10, 32)
	if err == nil {
		*f.at = uint32(n)
	}
	return err
}

// field reads the structure of a group. set writes it back, changed.
func (h *Handle) field(iface, group, key string) (f field, set func() error, err error) {
	number := func(at, most *uint32) field { return field{at: at, most: *most} }
	fields := map[string]field{}
	switch group {
	case "rings":
		var r ethtool.Ring
		r, err = h.ioctl.GetRing(iface)
		fields = map[string]field{"rx": number(&r.RxPending, &r.RxMaxPending), "rx-mini": number(&r.RxMiniPending, &r.RxMiniMaxPending),
			"rx-jumbo": number(&r.RxJumboPending, &r.RxJumboMaxPending), "tx": number(&r.TxPending, &r.TxMaxPending)}
		set = func() error { _, err := h.ioctl.SetRing(iface, r); return err }
	case "channels":
		var c ethtool.Channels
		c, err = h.ioctl.GetChannels(iface)
		fields = map[string]field{"rx": number(&c.RxCount, &c.MaxRx), "tx": number(&c.TxCount, &c.MaxTx), "combined": number(&c.CombinedCount, &c.MaxCombined)}
		set = func() error { _, err := h.ioctl.SetChannels(iface, c); return err }
	case "coalesce":
		var c ethtool.Coalesce
		c, err = h.ioctl.GetCoalesce(iface)
		fields = map[string]field{"rx-usecs": {at: &c.RxCoalesceUsecs}, "rx-frames": {at: &c.RxMaxCoalescedFrames},
			"tx-usecs": {at: &c.TxCoalesceUsecs}, "tx-frames": {at: &c.TxMaxCoalescedFrames},
			"adaptive-rx": {at: &c.UseAdaptiveRxCoalesce, flag: true}, "adaptive-tx": {at: &c.UseAdaptiveTxCoalesce, flag: true}}
		set = func() error { _, err := h.ioctl.SetCoalesce(iface, c); return err }
	case "pause":
		var p ethtool.Pause
		p, err = h.ioctl.GetPause(iface)
		fields = map[string]field{"autoneg": {at: &p.Autoneg, flag: true}, "rx": {at: &p.RxPause, flag: true}, "tx": {at: &p.TxPause, flag: true}}
		set = func() error { _, err := h.ioctl.SetPause(iface, p); return err }
	}
	f, ok := fields[key]
	switch {
	case errors.Is(err, unix.EOPNOTSUPP):
		return f, nil, h.unsupported(iface, setting.Option{Key: key}, group, "the driver has no such option")
	case err != nil:
		return f, nil, &kernel.Error{Op: "read", Object: group + " of " + iface, Err: err}
	case !ok:
		return f, nil, h.unsupported(iface, setting.Option{Key: key}, group, "")
	}
	return f, set, nil
}

// resolveNumber checks a number against the maximum that the driver states.
func (h *Handle) resolveNumber(iface string, o setting.NICOption) ([]setting.Option, error) {
	f, _, err := h.field(iface, o.Group, o.Key)
	if err != nil {
		return nil, err
	}
	hasMost := o.Group == "rings" || o.Group == "channels"
	if hasMost && f.most == 0 {
		return nil, h.unsupported(iface, o.Option, o.Group, "its maximum is 0")
	}
	is := *f.at
	if err := f.parse(o.Value); err != nil {
		return nil, err
	}
	if hasMost && *f.at > f.most {
		return nil, h.unsupported(iface, o.Option, o.Group, fmt.Sprintf("%d exceeds its maximum of %d", *f.at, f.most))
	}
	wanted := f.text()
	*f.at = is
	return []setting.Option{{Key: o.Key, Value: wanted}}, nil
}

// path is the file of an option of queues, napi or irqs.
func (h *Handle) path(iface, group, key string) string {
	switch group {
	case "queues":
		return filepath.Join(h.sys.sys, "class/net", iface, "queues", key)
	case "napi":
		return filepath.Join(h.sys.sys, "class/net", iface, key)
	}
	return filepath.Join(h.sys.proc, "irq", key)
}
