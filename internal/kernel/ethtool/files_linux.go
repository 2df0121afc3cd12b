//go:build !portable

package ethtool

import (
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"strings"

	"golang.org/x/sys/unix"

	"linerate/internal/kernel"
	"linerate/internal/kernel/netlink"
	"linerate/internal/model/lists"
	"linerate/internal/model/setting"
)

// ownSysfs mounts a sysfs of the caller's network namespace without a mount point, because /sys may show
// another one. root is valid while fd is open. It needs CAP_SYS_ADMIN and Linux 5.2.
func ownSysfs() (root string, fd int, err error) {
	context, err := unix.Fsopen("sysfs", unix.FSOPEN_CLOEXEC)
	if err != nil {
		return "", -1, err
	}
	defer func() { _ = unix.Close(context) }()
	if err := unix.FsconfigCreate(context); err != nil {
		return "", -1, err
	}
	fd, err = unix.Fsmount(context, unix.FSMOUNT_CLOEXEC, 0)
	return fmt.Sprintf("/proc/self/fd/%d", fd), fd, err
}

// shows reports whether the files belong to an interface of this network namespace.
func (h *Handle) shows(iface string) bool {
	conn, err := netlink.Dial()
	if err != nil {
		return false
	}
	l, err := conn.LinkByName(iface)
	return errors.Join(err, conn.Close()) == nil && h.sys.shows(iface, l.Index, l.MAC)
}

// objects returns the directories of the queues or the interrupts of an interface.
func (h *Handle) objects(iface, group, file string) (list []string, err error) {
	dir := filepath.Join(h.sys.sys, "class/net", iface)
	switch group {
	case "queues":
		entries, err := os.ReadDir(filepath.Join(dir, "queues"))
		for _, e := range entries {
			if strings.HasPrefix(e.Name(),
				map[bool]string{true: "rx-", false: "tx-"}[strings.HasPrefix(file, "rps_")]) {
				list = append(list, e.Name())
			}
		}
		slices.SortFunc(list, func(a, b string) int {
			x, _ := strconv.Atoi(a[len("rx-"):])
			y, _ := strconv.Atoi(b[len("rx-"):])
			return x - y
		})
		return list, err
	case "irqs":
		list = append(list, lists.Map(h.sys.irqs(filepath.Join(dir, "device")), strconv.Itoa)...)
	}
	return list, nil
}

// resolveFiles returns the files of an option, all of which must exist.
func (h *Handle) resolveFiles(iface, group string, o setting.Option) (list []setting.Option, err error) {
	if !h.shows(iface) {
		return nil, h.unsupported(iface, o, group, errOtherNamespace.Error())
	}
	names := []string{o.Key}
	if group != "napi" && !strings.Contains(o.Key, "/") {
		objects, err := h.objects(iface, group, o.Key)
		if err != nil {
			return nil, &kernel.Error{Op: "read", Object: "queues of " + iface, Err: err}
		}
		names = nil
		names = append(names, lists.Map(objects, func(object string) string { return object + "/" + o.Key })...)
	}
	if len(names) == 0 {
		return nil, h.unsupported(iface, o, group, "it has none")
	}
	cpus, _ := setting.ParseCPUs(text(h.sys.sys, "devices/system/cpu/online"))
	for i, name := range names {
		if _, err := h.readFile(iface, group, name); err != nil {
			return nil, h.unsupported(iface, o, group, err.Error())
		}
		value := o.Value
		if value == "spread" && len(cpus) > 0 {
			value = strconv.Itoa(cpus[i%len(cpus)])
		}
		list = append(list, setting.Option{Key: name, Value: canonical(name, value)})
	}
	return list, nil
}

// canonical returns the normal form of a value, for comparisons.
func canonical(name, value string) string {
	value = strings.TrimSpace(value)
	switch filepath.Base(name) {
	case "rps_cpus", "xps_cpus", "xps_rxqs":
		return setting.Bitmap(value)
	case "smp_affinity_list":
		if list, err := setting.ParseCPUs(value); err == nil {
			return setting.CPUs(list)
		}
	}
	return value
}

func (h *Handle) readFile(iface, group, key string) (string, error) {
	value, err := os.ReadFile(h.path(iface, group, key))
	if err != nil {
		return "", &kernel.Error{Op: "read", Object: group + " " + key + " of " + iface, Err: errors.Unwrap(err)}
	}
	return canonical(key, string(value)), nil
}

func (h *Handle) writeFile(iface, group string, o setting.Option) error {
	f, err := os.OpenFile(h.path(iface, group, o.Key), os.O_WRONLY, 0)
	if err == nil {
		_, err = f.WriteString(o.Value)
		err = errors.Join(errors.Unwrap(err), f.Close())
	}
	if errors.Is(err, os.ErrPermission) {
		return fmt.Errorf(
			"%w: only root of the machine may write it, not root of a user namespace such as an ordinary user's lab",
			err)
	}
	return err
}
