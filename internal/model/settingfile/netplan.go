package settingfile

import "linerate/internal/model/source"

var _ = register(&format{
	name: "netplan", label: "netplan", manual: "netplan(5)", by: "`network:` with interfaces",
	yields: "offloads and `mtu` of interfaces",
	shape: func(n *source.Node) bool {
		network := at(n, "network")
		if network == nil {
			return false
		}
		for _, kind := range netplanKinds {
			if at(network, kind) != nil {
				return true
			}
		}
		return text(network, "version") != "" || text(network, "renderer") != ""
	},
	tree: func(r *treeReader, n *source.Node) { r.netplan(at(n, "network")) },
})

// netplanKinds are the kinds of interfaces.
var netplanKinds = []string{"ethernets", "bonds", "bridges", "vlans", "wifis", "modems", "tunnels", "vrfs",
	"dummy-devices"}

// netplanKeys has the offloads of devices in netplan.
var netplanKeys = map[string]string{
	"receive-checksum-offload": "rx", "transmit-checksum-offload": "tx",
	"tcp-segmentation-offload": "tx-tcp-segmentation", "tcp6-segmentation-offload": "tx-tcp6-segmentation",
	"generic-segmentation-offload": "gso", "generic-receive-offload": "gro", "large-receive-offload": "lro",
}

// netplan reads the interfaces of a file of netplan.
func (r *treeReader) netplan(network *source.Node) {
	r.use(network)
	for _, kind := range network.Entries {
		for _, device := range kind.Value.Entries {
			for _, e := range device.Value.Entries {
				if feature, ok := netplanKeys[e.Key.Text]; ok {
					r.f.add(e.Key.At.Line, device.Key.Text, "features", feature, onOff(e.Value.Text))
				} else if e.Key.Text == "mtu" && e.Value.Kind == source.Scalar {
					r.f.addLink(e.Key.At.Line, device.Key.Text, "mtu", e.Value.Text)
				}
			}
		}
	}
}
