package settingfile

import (
	"strings"

	"linerate/internal/model/source"
)

const talosVersion = "v1alpha1" // of documents with a kind

var _ = register(&format{
	name: "talos", label: "Talos machine config",
	manual: "docs.siderolabs.com, MachineConfig", by: "`machine:` with `sysctls`, `sysfs`, `type`, `network` or " +
		"`install`; `apiVersion: v1alpha1`",
	yields: "`machine.sysctls`, `machine.sysfs`, `machine.files`, `mtu` of interfaces; documents `EthernetConfig` " +
		"and `LinkConfig`",
	shape: func(n *source.Node) bool {
		if text(n, "apiVersion") == talosVersion && text(n, "kind") != "" {
			return true
		}
		machine := at(n, "machine")
		for _, key := range []string{"sysctls", "sysfs", "type", "network", "install", "kubelet"} {
			if at(machine, key) != nil {
				return true
			}
		}
		return false
	},
	tree: (*treeReader).talos,
})

// talos reads a machine config of Talos Linux.
func (r *treeReader) talos(n *source.Node) {
	if kind := text(n, "kind"); kind != "" {
		r.talosDocument(kind, text(n, "name"), n)
		return
	}
	machine := at(n, "machine")
	r.mapping(at(machine, "sysctls"))
	if files := at(machine, "sysfs"); files != nil {
		r.use(files)
		for _, e := range files.Entries {
			// A key has dots in place of slashes; so may the name of an interface.
			file := strings.ReplaceAll(strings.TrimPrefix(e.Key.Text, sysfs), ".", "/")
			if e.Value.Kind != source.Scalar || !r.f.sysfs(e.Key.At.Line, file, e.Value.Text, anyInterface) {
				r.unread(e.Key, "what this file of sysfs sets is not known here")
			}
		}
	}
	if files := at(machine, "files"); files != nil {
		for _, file := range files.Items {
			if content := at(file, "content"); content != nil {
				r.content(text(file, "path"), content)
			}
		}
	}
	if list := at(machine, "network", "interfaces"); list != nil {
		for _, device := range list.Items {
			mtu, is := device.Get("mtu")
			name := text(device, "interface")
			if is && mtu.Value.Kind == source.Scalar && name != "" {
				r.f.addLink(mtu.Key.At.Line, name, "mtu", mtu.Value.Text)
			}
		}
	}
}

// talosGroups are the parts of EthernetConfig that are options of a NIC.
var talosGroups = []string{"features", "rings", "channels"}

// talosDocument reads a document that has a kind of its own.
func (r *treeReader) talosDocument(kind, iface string, n *source.Node) {
	mtu, is := n.Get("mtu")
	if is && strings.HasSuffix(kind, "Config") && mtu.Value.Kind == source.Scalar && iface != "" {
		r.f.addLink(mtu.Key.At.Line, iface, "mtu", mtu.Value.Text)
	}
	if kind != "EthernetConfig" {
		return
	}
	for _, group := range talosGroups {
		options := at(n, group)
		if options == nil {
			continue
		}
		for _, e := range options.Entries {
			key := strings.TrimSuffix(e.Key.Text, "-max")
			if e.Value.Kind != source.Scalar {
				r.unread(e.Key, "expected a text or a number as the value")
				continue
			}
			r.f.add(e.Key.At.Line, iface, group, key, onOff(e.Value.Text))
		}
	}
}
