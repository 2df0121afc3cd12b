package proc

import (
	"cmp"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"strings"

	"github.com/prometheus/procfs"

	"linerate/internal/model/netstate"
	"linerate/internal/model/plain"
)

// mostParameters limits what Tree returns: a host with a thousand interfaces has some 200,000.
const mostParameters = 1 << 18

// withheld are parameters whose values are cryptographic keys.
var withheld = []string{"tcp_fastopen_key", "stable_secret", "idgen_retries_secret"}

// IsSecret reports whether the value of a parameter, whose key is in either notation of sysctl(8), is a cryptographic
// key.
func IsSecret(key string) bool {
	return slices.Contains(withheld, key[strings.LastIndexAny(key, "./")+1:])
}

// Tree returns every parameter below a prefix such as "net", by key. It omits unreadable parameters and
// cryptographic keys.
func (s Sysctls) Tree(prefix string) (map[string]string, error) {
	dir, err := s.path(prefix)
	if err != nil {
		return nil, err
	}
	all := map[string]string{}
	err = filepath.WalkDir(dir, func(path string, entry fs.DirEntry, err error) error {
		if err != nil || entry.IsDir() {
			return nil // the interface was removed
		}
		if IsSecret(entry.Name()) {
			return nil
		}
		text, err := os.ReadFile(path)
		if err != nil {
			return nil // write-only, or only for root
		}
		parts := strings.Split(strings.TrimPrefix(path, dir+"/"), "/")
		for i := range parts {
			parts[i] = InterfaceKey(parts[i])
		}
		all[prefix+"."+strings.Join(parts, ".")] = strings.Join(strings.Fields(string(text)), " ")
		if len(all) >= mostParameters {
			return fmt.Errorf("more than %d parameters", mostParameters)
		}
		return nil
	})
	return all, err
}

// Sockstat returns /proc/net/sockstat and sockstat6, with keys such as "TCP.orphan". Memory is in pages, for
// all network namespaces. Without IPv6 there is no sockstat6.
func (p Proc) Sockstat() (map[string]int64, error) {
	v4, err := by(p.netRoot(), procfs.FS.NetSockstat)
	if err != nil {
		return nil, err
	}
	protocols := v4.Protocols
	if v6, err := by(p.netRoot(), procfs.FS.NetSockstat6); err == nil {
		protocols = append(protocols, v6.Protocols...)
	} else if !errors.Is(err, fs.ErrNotExist) {
		return nil, err
	}
	all := map[string]int64{}
	for _, one := range protocols {
		all[one.Protocol+".inuse"] = int64(one.InUse)
		for name, value := range map[string]*int{"orphan": one.Orphan, "tw": one.TW, "alloc": one.Alloc, "mem": one.Mem,
			"memory": one.Memory} {
			if value != nil {
				all[one.Protocol+"."+name] = int64(*value)
			}
		}
	}
	return all, nil
}

// Firmware reads what the firmware reports about the machine from a sysfs tree; empty: /sys. A machine without
// DMI has the model of its device tree, or nothing, which is no error.
func Firmware(sys string) (*netstate.Firmware, error) {
	read := func(parts ...string) string {
		text, _ := os.ReadFile(filepath.Join(append([]string{cmp.Or(sys, "/sys")}, parts...)...))
		return plain.Short(strings.TrimSpace(strings.Trim(string(text), "\x00")), 100)
	}
	dmi := func(name string) string { return read("class", "dmi", "id", name) }
	f := netstate.Firmware{Vendor: dmi("sys_vendor"), Product: cmp.Or(dmi("product_name"),
		read("firmware", "devicetree", "base", "model")),
		BIOS: strings.Join(strings.Fields(dmi("bios_vendor")+" "+dmi("bios_version")+" "+dmi("bios_date")), " ")}
	if f == (netstate.Firmware{}) {
		return nil, nil
	}
	return &f, nil
}

// UDPDrops returns the datagrams dropped by full sockets, by the sockets' inodes.
func (p Proc) UDPDrops() (map[uint32]int64, error) {
	v4, err := by(p.netRoot(), procfs.FS.NetUDP)
	v6, err6 := by(p.netRoot(), procfs.FS.NetUDP6)
	if errors.Is(err6, fs.ErrNotExist) { // a kernel without IPv6
		err6 = nil
	}
	drops := map[uint32]int64{}
	for _, one := range slices.Concat(v4, v6) {
		if one.Drops != nil && *one.Drops > 0 {
			drops[uint32(one.Inode)] = int64(*one.Drops)
		}
	}
	return drops, errors.Join(err, err6)
}

// Conntrack returns the state of connection tracking; nil if it is not loaded.
func (p Proc) Conntrack() (*netstate.Conntrack, error) {
	read := func(key string) (int64, error) {
		text, err := Sysctls{}.Read("net.netfilter.nf_conntrack_" + key)
		if err != nil {
			return 0, err
		}
		return strconv.ParseInt(text, 10, 64)
	}
	count, err := read("count")
	if errors.Is(err, fs.ErrNotExist) {
		return nil, nil
	}
	most, mostErr := read("max")
	buckets, _ := read("buckets")
	return &netstate.Conntrack{Count: count, Most: most, Buckets: buckets}, errors.Join(err, mostErr)
}

// UptimeS returns the time since boot in seconds.
func (p Proc) UptimeS() (float64, error) {
	return read(p, "uptime", func(text []byte) (float64, error) {
		up, _, _ := strings.Cut(string(text), " ")
		return strconv.ParseFloat(up, 64)
	})
}

// Files returns the machine's open file descriptions and their limit (/proc/sys/fs/file-nr).
func (p Proc) Files() (open, most int64, err error) {
	var unused int64
	_, err = read(p, "sys/fs/file-nr", func(text []byte) (int, error) {
		return fmt.Sscan(string(text), &open, &unused, &most)
	})
	return open, most, err
}

// Resolver reads resolv.conf(5).
func Resolver() (*netstate.Resolver, error) {
	text, err := os.ReadFile("/etc/resolv.conf")
	if err != nil {
		return nil, err
	}
	var r netstate.Resolver
	for line := range strings.Lines(string(text)) {
		r.Line(line)
	}
	return &r, nil
}
