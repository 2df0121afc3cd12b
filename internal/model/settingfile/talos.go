package settingfile

import (
	"strings"

	"linerate/internal/model/source"
)

var _ = register(&format{
	name: "talos", label: "Talos machine config",
	manual: "docs.siderolabs.com, MachineConfig", by: "`machine:` with `sysctls`, `sysfs`, `type`, `network` or " +
		"`install`",
	yields: "`machine.sysctls`, `machine.sysfs`, `machine.files`, `mtu` of interfaces",
	shape: func(n *source.Node) bool {
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
