package settingfile

import (
	"slices"
	"strings"
	"sync"

	"linerate/internal/model/source"
)

var _ = register(&format{
	name: "gke", label: "GKE node system config",
	manual: "cloud.google.com/kubernetes-engine, node system configuration",
	by:     "`linuxConfig:`, `linuxNodeConfig:`",
	yields: "`linuxConfig.sysctl`, `linuxNodeConfig.sysctls`",
	shape:  func(n *source.Node) bool { return at(n, "linuxConfig") != nil || at(n, "linuxNodeConfig") != nil },
	tree: func(r *treeReader, n *source.Node) {
		r.mapping(at(n, "linuxConfig", "sysctl"))
		r.mapping(at(n, "linuxNodeConfig", "sysctls"))
	},
})

var _ = register(&format{
	name: "aks", label: "AKS Linux OS config", manual: "learn.microsoft.com/azure/aks/custom-node-configuration",
	by:     "`sysctls` with names such as `netCoreSomaxconn`",
	yields: "`sysctls`",
	shape: func(n *source.Node) bool {
		list := aksSysctls(n)
		if list == nil {
			return false
		}
		return slices.ContainsFunc(list.Entries, func(e source.Entry) bool {
			return aksKeys()[strings.ToLower(e.Key.Text)] != ""
		})
	},
	tree: func(r *treeReader, n *source.Node) {
		list := aksSysctls(n)
		r.use(list)
		for _, e := range list.Entries {
			key := aksKeys()[strings.ToLower(e.Key.Text)]
			switch {
			case key == "":
				r.unread(e.Key, "AKS has no parameter "+e.Key.Text+" that is known here")
			case e.Value.Kind != source.Scalar:
				r.unread(e.Key, "expected a text or a number as the value")
			default:
				r.set(e.Key.At.Line, key, number(e.Value.Text))
			}
		}
	},
})

// aksSysctls returns the parameters of a Linux OS config. Nil: there are none.
func aksSysctls(n *source.Node) *source.Node {
	for _, keys := range [][]string{{"sysctls"}, {"linuxOSConfig", "sysctls"}, {"linuxOsConfig", "sysctls"},
		{"properties", "linuxOSConfig", "sysctls"}} {
		if list := at(n, keys...); list != nil && list.Kind == source.Mapping {
			return list
		}
	}
	return nil
}

// number converts a boolean to the number that the kernel takes. Other values are returned unchanged.
func number(value string) string {
	switch value {
	case "true":
		return "1"
	case "false":
		return "0"
	}
	return value
}

// aksKeys has the parameters of AKS by their names in lower case.
var aksKeys = sync.OnceValue(func() map[string]string {
	keys, words := map[string]string{}, strings.NewReplacer(".", "", "_", "", "-", "")
	for name := range strings.FieldsSeq(`fs.aio-max-nr fs.file-max fs.inotify.max_user_watches fs.nr_open kernel.threads-max
		net.core.netdev_max_backlog net.core.optmem_max net.core.rmem_default net.core.rmem_max net.core.somaxconn
		net.core.wmem_default net.core.wmem_max net.ipv4.ip_local_port_range net.ipv4.neigh.default.gc_thresh1
		net.ipv4.neigh.default.gc_thresh2 net.ipv4.neigh.default.gc_thresh3 net.ipv4.tcp_fin_timeout
		net.ipv4.tcp_keepalive_intvl net.ipv4.tcp_keepalive_probes net.ipv4.tcp_keepalive_time
		net.ipv4.tcp_max_syn_backlog net.ipv4.tcp_max_tw_buckets net.ipv4.tcp_tw_reuse net.ipv4.tcp_rmem
		net.ipv4.tcp_wmem net.netfilter.nf_conntrack_buckets net.netfilter.nf_conntrack_max vm.max_map_count vm.swappiness
		vm.vfs_cache_pressure`) {
		keys[words.Replace(name)] = name
	}
	return keys
})
