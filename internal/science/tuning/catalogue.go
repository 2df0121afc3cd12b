package tuning

import (
	"cmp"
	_ "embed"
	"encoding/csv"
	"slices"
	"strconv"
	"strings"
	"sync"

	"linerate/internal/model/record"
	"linerate/internal/model/settingfile"
)

// What is known of parameters, as data. parameters.csv is of Linux; its bounds are those
// of the kernel's own tables (net/ipv4/sysctl_net_ipv4.c, net/core/sysctl_net_core.c), and
// a parameter that is not in it is not judged. bsd.csv is from tuning(7), mbuf(9), tcp(4),
// ix(4) and iflib(4) of FreeBSD, sysctl(2) of OpenBSD.
var (
	//go:embed parameters.csv
	parametersCSV string
	//go:embed removed.csv
	removedCSV string
	//go:embed bsd.csv
	bsdCSV string
)

// table reads a table by the names of its columns.
func table[T any](text string, read func(column map[string]string) T) func() []T {
	return sync.OnceValue(func() (list []T) {
		lines, err := csv.NewReader(strings.NewReader(text)).ReadAll()
		if err != nil {
			panic("tuning: " + err.Error())
		}
		for _, line := range lines[1:] {
			column := map[string]string{}
			for i, head := range lines[0] {
				column[head] = line[i]
			}
			list = append(list, read(column))
		}
		return list
	})
}

// parameter is what is known of one kernel parameter that lists like to set.
type parameter struct {
	key string
	// values is how many numbers it has; 0: it holds words.
	values int
	// min and max are what the kernel takes for each number, in its own unit if keptAs names one.
	min, max int64
	// keptAs is jiffies (seconds times HZ), ms (milliseconds in 32 bits, as jiffies) or empty: as given.
	keptAs string
	// unit is what a number counts, if not plain things: bytes, pages, s, µs.
	unit string
	// scope as on current kernels.
	scope string
	// tcp is why the parameter does nothing, or little, for bulk data over TCP.
	tcp string
}

const (
	bytes = "bytes"
	pages = "pages"
)

// catalogue lists the parameters of Linux. Which of them a namespace has of its own is
// asked of the kernel where there is one to ask.
var catalogue = table(parametersCSV, func(column map[string]string) parameter {
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

// lowestHZ is the least number of ticks a second that a kernel is built with (MIPS), so
// that no kernel takes more seconds.
const lowestHZ = 24

// bounds are what a kernel with so many ticks a second takes for each number; hz is 0 if that
// is not known: then some kernel takes each value between them.
// proc_dointvec_jiffies in kernel/sysctl.c.
func (p *parameter) bounds(hz int64) (low, high int64) {
	if p.keptAs == "jiffies" {
		hz = cmp.Or(hz, lowestHZ)
		return p.min / hz, p.max / hz
	}
	return p.min, p.max
}

// takes reports whether the kernel takes a number. Of milliseconds it looks at 32 bits
// only (msecs_to_jiffies in include/linux/jiffies.h).
func (p *parameter) takes(n, hz int64) bool {
	if p.keptAs == "ms" {
		n = int64(uint32(n))
	}
	low, high := p.bounds(hz)
	return n >= low && n <= high
}

// MachineWide reports whether a parameter is known to be one of the whole machine, of which
// no network namespace has its own.
func MachineWide(key string) bool {
	p := find(key)
	return p != nil && p.scope == record.ScopeMachine
}

// removedParameter is a parameter that kernels no longer have, or have without effect.
type removedParameter struct {
	key, since string
	now        string // to set instead; empty: nothing
	why        string // empty: it was renamed
	kept       bool   // the name is still there, and setting it changes nothing
}

var removed = table(removedCSV, func(column map[string]string) removedParameter {
	return removedParameter{column["key"], column["since"], column["now"], column["why"], column["kept"] == "true"}
})

// Removed says since which version (empty: it is not known) and why (empty: it was renamed) Linux no
// longer has a parameter, and what to set instead (empty: nothing). ok: it is known to lack it.
func Removed(key string) (since, why, now string, ok bool) {
	i := slices.IndexFunc(removed(), func(r removedParameter) bool { return r.key == key && !r.kept })
	if i < 0 {
		return "", "", "", false
	}
	r := removed()[i]
	return r.since, r.why, r.now, true
}

// remark is what is known of a parameter of a BSD, where no kernel can be asked.
type remark struct{ system, key, id, severity, says, fix string }

var remarks = table(bsdCSV, func(column map[string]string) remark {
	return remark{column["system"], column["key"], column["id"], column["severity"], column["says"], column["fix"]}
})

// bufferBytes are the sizes of what parameters of FreeBSD count.
var bufferBytes = map[string]int64{
	"kern.ipc.nmbclusters": 2048, "kern.ipc.nmbjumbop": 4096, "kern.ipc.nmbjumbo9": 9216, "kern.ipc.nmbjumbo16": 16384,
	"kern.ipc.nmbufs": 256,
}

// networkPrefixes begin the parameters that have to do with the network, or bound what
// sockets or their memory come from.
var networkPrefixes = map[string][]string{
	settingfile.Linux: {"net.", "sunrpc.", "fs.file-max", "fs.nr_open", "vm.min_free_kbytes", "kernel.bpf",
		"kernel.io_uring"},
	settingfile.FreeBSD: {"net.", "kern.ipc.nmb", "kern.ipc.maxsock", "kern.ipc.so", "kern.ipc.zero_copy",
		"kern.random.sys.harvest", "hw.ix", "hw.em.", "hw.igb",
		"hw.cxgb", "hw.mlx", "hw.intr_storm", "hw.bge.", "hw.bce.", "dev.", "kern.maxfiles", "cc_", "if_"},
	settingfile.OpenBSD: {"net.", "kern.maxclusters", "kern.maxfiles", "kern.somaxconn", "kern.sominconn"},
}
