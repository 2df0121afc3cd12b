//go:build !portable

package drops

import (
	"bufio"
	"fmt"
	"io"
	"slices"
	"strconv"
	"strings"

	"github.com/cilium/ebpf/btf"
)

// subsystems have their own reasons above enum skb_drop_reason (include/net/dropreason.h), listed
// with the module and its enumeration.
var subsystems = []struct{ module, enum string }{
	{"mac80211", "mac80211_drop_reason"},
	{"openvswitch", "ovs_drop_reason"},
}

// subsystemShift is SKB_DROP_REASON_SUBSYS_SHIFT.
const subsystemShift = 16

// names has the names of drop reasons (enum skb_drop_reason), those of modules as they are first read.
type names struct {
	kernel *btf.Cache
	known  map[uint32]string
}

func newNames(kernel *btf.Cache, l layout) names {
	n := names{kernel, map[uint32]string{}}
	for name, value := range l.reasons {
		n.known[value] = name
	}
	return n
}

func (n names) of(reason uint32) string {
	if n.known[reason] == "" && reason>>subsystemShift != 0 {
		for _, s := range subsystems {
			n.read(s.module, s.enum)
		}
	}
	if n.known[reason] == "" {
		n.known[reason] = fmt.Sprintf("0x%x", reason)
	}
	return n.known[reason]
}

// read adds the names of a subsystem, which is a module or built into the kernel.
func (n names) read(module, enum string) {
	kernel, err := n.kernel.Kernel()
	if err != nil {
		return
	}
	var e *btf.Enum
	if kernel.TypeByName(enum, &e) != nil {
		own, err := n.kernel.Module(module)
		if err != nil || own.TypeByName(enum, &e) != nil {
			return
		}
	}
	for _, v := range e.Values {
		n.known[uint32(v.Value)] = strings.TrimLeft(v.Name, "_")
	}
}

// places returns the functions at addresses from the text of /proc/kallsyms. It is empty if the
// text shows no addresses (kernel.kptr_restrict). Suffixes of the compiler (".isra.0") are removed
// from names.
func places(kallsyms io.Reader, addresses []uint64) (map[uint64]string, error) {
	sorted := slices.Clone(addresses)
	slices.Sort(sorted)
	sorted = slices.Compact(sorted)
	type symbol struct {
		address uint64
		name    string
	}
	nearest := make([]symbol, len(sorted)) // the last symbol at or before each address
	lines := bufio.NewScanner(kallsyms)
	for lines.Scan() {
		address, rest, _ := strings.Cut(lines.Text(), " ")
		kind, name, _ := strings.Cut(rest, " ")
		if !strings.EqualFold(kind, "t") && !strings.EqualFold(kind, "w") {
			continue
		}
		n, err := strconv.ParseUint(address, 16, 64)
		if err != nil {
			return nil, fmt.Errorf("kallsyms: %w", err)
		}
		if i, _ := slices.BinarySearch(sorted, n); n > 0 && i < len(sorted) && n >= nearest[i].address &&
			!strings.HasPrefix(name, "__pfx_") {
			name, _, _ = strings.Cut(name, "\t") // the module
			name, _, _ = strings.Cut(name, ".")
			nearest[i] = symbol{n, strings.Clone(name)}
		}
	}
	found := map[uint64]string{}
	var best symbol
	for i, address := range sorted {
		if nearest[i].name != "" {
			best = nearest[i]
		}
		if best.name != "" {
			found[address] = best.name
		}
	}
	return found, lines.Err()
}
