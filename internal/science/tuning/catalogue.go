package tuning

import (
	"cmp"
	_ "embed"
	"strconv"
	"strings"
	"sync"

	"linerate/internal/model/opsystem"
	"linerate/internal/model/settingfile"
	"linerate/internal/science/tuning/known"
)

// bsdCSV is the table of parameters of other systems, from tuning(7), mbuf(9), tcp(4), ix(4) and
// iflib(4) of FreeBSD, and sysctl(2) of OpenBSD. Those of Linux are in package known.
//
//go:embed bsd.csv
var bsdCSV string

// table makes a list from the rows of a table when it is first used.
func table[T any](rows func() []known.Row, read func(known.Row) T) func() []T {
	return sync.OnceValue(func() (list []T) {
		for _, row := range rows() {
			list = append(list, read(row))
		}
		return list
	})
}

// parameter describes a kernel parameter that is common in lists of settings.
type parameter struct {
	key string
	// values is the number of numbers in its value. 0: its value is a word.
	values int
	// min and max are the kernel's bounds of each number, in the unit of keptAs if that is set.
	min, max int64
	// keptAs is how the kernel stores a number: jiffies (seconds times HZ), ms (milliseconds in 32
	// bits, as jiffies), or empty for unchanged.
	keptAs string
	// unit is the unit of each number: bytes, pages, s, µs. Empty: it is a plain number.
	unit string
	// scope is the scope on current kernels (record.ScopeNamespace or record.ScopeMachine).
	scope string
	// tcp says why the parameter has little or no effect on bulk data over TCP. Empty: it has.
	tcp string
}

const (
	bytes = "bytes"
	pages = "pages"
)

// catalogue lists the parameters of Linux. If a kernel can be asked, its answer on which
// parameters are per network namespace takes precedence.
var catalogue = table(known.Parameters, func(column known.Row) parameter {
	number := func(name string) int64 {
		n, err := strconv.ParseInt(column[name], 10, 64)
		if err != nil {
			panic("tuning: parameters.csv: " + column["key"] + ": " + err.Error())
		}
		return n
	}
	return parameter{column["key"], int(number("values")), number("min"), number("max"), column["kept_as"],
		column["unit"], column["scope"], column["no_effect_on_tcp"]}
})

// byKey has the parameters of the catalogue by their keys.
var byKey = sync.OnceValue(func() map[string]*parameter {
	index := map[string]*parameter{}
	for i := range catalogue() {
		index[catalogue()[i].key] = &catalogue()[i]
	}
	return index
})

// lowestHZ is the lowest number of ticks per second that a kernel can be built with (MIPS).
// With it, the largest number of seconds is accepted.
const lowestHZ = 24

// bounds returns the bounds of each number for a kernel with hz ticks per second
// (proc_dointvec_jiffies in kernel/sysctl.c). If hz is 0, which means unknown, there is a
// kernel that accepts each value between them.
func (p *parameter) bounds(hz int64) (low, high int64) {
	if p.keptAs == "jiffies" {
		hz = cmp.Or(hz, lowestHZ)
		return p.min / hz, p.max / hz
	}
	return p.min, p.max
}

// takes reports whether the kernel accepts a number. It only looks at the low 32 bits of
// milliseconds (msecs_to_jiffies in include/linux/jiffies.h).
func (p *parameter) takes(n, hz int64) bool {
	if p.keptAs == "ms" {
		n = int64(uint32(n))
	}
	low, high := p.bounds(hz)
	return n >= low && n <= high
}

// removedParameter is a parameter that current kernels lack, or have without effect.
type removedParameter struct {
	key, since string
	now        string // parameter to set instead; empty: none
	why        string // empty: it was renamed
	kept       bool   // the parameter still exists, and setting it has no effect
	value      string // the value that means now; empty: any
}

var removed = table(known.Removals, func(column known.Row) removedParameter {
	return removedParameter{column["key"], column["since"], column["now"], column["why"], column["kept"] == "true",
		column["value"]}
})

// modules has the kernel modules without which parameters with a prefix do not exist. Of several
// prefixes the first counts.
var modules = []struct{ prefix, module string }{
	{"sunrpc.", "sunrpc"}, {"fs.nfs.nlm_", "lockd"}, {"fs.nfs.", "nfs"}, {"net.bridge.", "br_netfilter"},
	{"net.netfilter.nf_conntrack", "nf_conntrack"}, {"net.nf_conntrack_max", "nf_conntrack"},
	{"net.netfilter.nf_flowtable", "nf_flow_table"}, {"net.netfilter.", "nf_conntrack"}, {"net.ipv4.vs.", "ip_vs"},
	{"net.sctp.", "sctp"}, {"net.rds.", "rds"}, {"net.rxrpc.", "rxrpc"}, {"net.dccp.", "dccp"}, {"net.mpls.", "mpls_router"},
	{"net.iw_cm.", "iw_cm"}, {"dev.raid.", "md_mod"},
}

// moduleOf returns the kernel module that has a parameter. Empty: none that is known.
func moduleOf(key string) string {
	for _, m := range modules {
		if strings.HasPrefix(key, m.prefix) {
			return m.module
		}
	}
	return ""
}

// remark is a remark on a parameter of another system than Linux, whose kernels cannot be asked. A key
// that ends with * is the beginning of several.
type remark struct{ system, key, id, severity, says, fix string }

// about reports whether the remark is about a parameter.
func (r remark) about(key string) bool {
	if prefix, several := strings.CutSuffix(r.key, "*"); several {
		return strings.HasPrefix(key, prefix)
	}
	return r.key == key
}

var remarks = table(known.Table(bsdCSV), func(column known.Row) remark {
	return remark{column["system"], column["key"], column["id"], column["severity"], column["says"], column["fix"]}
})

// bufferBytes has the size in bytes of the buffers that parameters of FreeBSD count.
var bufferBytes = map[string]int64{
	"kern.ipc.nmbclusters": 2048, "kern.ipc.nmbjumbop": 4096, "kern.ipc.nmbjumbo9": 9216, "kern.ipc.nmbjumbo16": 16384,
	"kern.ipc.nmbufs": 256,
}

// networkPrefixes has the prefixes of parameters that concern the network, or limit the
// resources of sockets.
var networkPrefixes = map[string][]string{
	opsystem.Linux: {"net.", "sunrpc.", "fs.file-max", "fs.nr_open", "vm.min_free_kbytes", "kernel.bpf",
		"kernel.io_uring"},
	opsystem.FreeBSD: {"net.", "kern.ipc.nmb", "kern.ipc.maxsock", "kern.ipc.so", "kern.ipc.zero_copy",
		"kern.random.sys.harvest", "hw.ix", "hw.em.", "hw.igb",
		"hw.cxgb", "hw.mlx", "hw.intr_storm", "hw.bge.", "hw.bce.", "hw.vtnet.", "hw.pci.", "dev.", "kern.maxfiles", "cc_", "if_"},
	opsystem.MacOS:   {"net.", "kern.ipc.", "kern.maxfiles"},
	opsystem.OpenBSD: {"net.", "kern.maxclusters", "kern.maxfiles", "kern.somaxconn", "kern.sominconn"},
}

// Matching returns the parameters of the catalogue that match a pattern, and of those that each interface has
// the ones of every host: all and default.
func Matching(pattern string) (keys []string) {
	if parts := strings.Split(pattern, "."); len(parts) == 5 && !strings.ContainsAny(parts[4], "*?[") {
		for _, of := range []string{"all", "default"} {
			key := strings.Join([]string{parts[0], parts[1], "conf", of, parts[4]}, ".")
			if settingfile.Matches(pattern, key) {
				keys = append(keys, key)
			}
		}
	}
	for _, p := range catalogue() {
		if !strings.Contains(p.key, "*") && settingfile.Matches(pattern, p.key) {
			keys = append(keys, p.key)
		}
	}
	return keys
}
