package settingfile

import "linerate/internal/model/source"

var _ = register(&format{
	name: "bottlerocket", label: "Bottlerocket settings", manual: "bottlerocket.dev, settings.kernel",
	by:     "`[settings.kernel]` or other `[settings…]` of TOML",
	yields: "`settings.kernel.sysctl`; user data of containers is not read",
	shape: func(n *source.Node) bool {
		for _, key := range []string{"kernel", "kubernetes", "host-containers", "bootstrap-containers", "ecs", "ntp",
			"motd", "oci-defaults"} {
			if at(n, "settings", key) != nil {
				return true
			}
		}
		return false
	},
	tree: func(r *treeReader, n *source.Node) {
		r.mapping(at(n, "settings", "kernel", "sysctl"))
		for _, kind := range []string{"bootstrap-containers", "host-containers"} {
			if list := at(n, "settings", kind); list != nil {
				for _, e := range list.Entries {
					if data := at(e.Value, "user-data"); data != nil {
						r.unread(data, "what the user data of a container does is not known here")
					}
				}
			}
		}
	},
})
