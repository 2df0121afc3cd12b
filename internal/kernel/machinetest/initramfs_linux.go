package machinetest

import (
	"bytes"
	_ "embed"
	"fmt"
	"maps"
	"os"
	"path"
	"path/filepath"
	"slices"
	"strings"
)

//go:embed init.sh
var initScript []byte

// archive is a cpio archive in the format newc
// (https://docs.kernel.org/driver-api/early-userspace/buffer-format.html). The kernel
// unpacks it as the first root file system; to write it needs no privileges.
type archive struct {
	bytes.Buffer
	directories map[string]bool
	entries     int
}

// Modes of entries (inode(7)).
const (
	directory  = 0o040755
	program    = 0o100755
	regular    = 0o100644
	symlink    = 0o120777
	headerSize = 110
)

// add appends an entry and the directories above it; name has no slash at the beginning.
func (a *archive) add(name string, mode int, data []byte) {
	if parent := path.Dir(name); parent != "." && !a.directories[parent] {
		a.directories[parent] = true
		a.add(parent, directory, nil)
	}
	a.append(name, mode, data)
}

func (a *archive) append(name string, mode int, data []byte) {
	a.entries++
	// inode, mode, uid, gid, nlink, mtime, size, device, special device, length of the name, check
	fmt.Fprintf(a, "070701%08x%08x%08x%08x%08x%08x%08x%08x%08x%08x%08x%08x%08x",
		a.entries, mode, 0, 0, 1, 0, len(data), 0, 0, 0, 0, len(name)+1, 0)
	a.WriteString(name + "\x00")
	a.pad()
	a.Write(data)
	a.pad()
}

func (a *archive) pad() {
	for a.Len()%4 != 0 {
		a.WriteByte(0)
	}
}

// initramfs makes a machine's root file system.
func (r *Running) initramfs(linerate []byte) ([]byte, error) {
	busybox, err := os.ReadFile(busyboxPath)
	if err != nil {
		return nil, err
	}
	a := &archive{directories: make(map[string]bool)}
	a.add("init", program, initScript)
	a.add("bin/busybox", program, busybox)
	a.add("bin/sh", symlink, []byte("busybox"))
	a.add("sbin/modprobe", symlink, []byte("../bin/busybox"))
	a.add("bin/linerate", program, linerate)
	for _, empty := range []string{"dev", "proc", "root", "run", "sys", "tmp", "var"} {
		a.add(empty, directory, nil)
	}
	a.add("etc/hostname", regular, []byte(r.Name+"\n"))
	a.add("etc/machinetest/modules", regular, lines(r.modules()))
	a.add("etc/machinetest/ports", regular, lines(r.addresses))
	a.add("etc/machinetest/channels", regular, []byte(strings.Join(r.channels(), " ")+"\n"))
	if r.Tree {
		a.add("tree", directory, nil)
		a.add("etc/machinetest/tree", regular, []byte(strings.Join(r.tree(), " ")+"\n"))
	}
	if err := a.addModules(r.Kernel, r.modules()); err != nil {
		return nil, err
	}
	for _, name := range slices.Sorted(maps.Keys(r.Files)) {
		a.add(strings.TrimPrefix(path.Clean("/"+name), "/"), program, r.Files[name])
	}
	a.append("TRAILER!!!", 0, nil)
	return a.Bytes(), nil
}

func lines(list []string) []byte {
	var b bytes.Buffer
	for _, line := range list {
		b.WriteString(line + "\n")
	}
	return b.Bytes()
}

// addModules appends modules and those that they depend on, where modprobe(8) finds them,
// also when the kernel calls it. The tables of depmod(8) have only these modules, since
// modprobe reads them at each call.
func (a *archive) addModules(k Kernel, names []string) error {
	needed, err := k.closure(names)
	if err != nil {
		return err
	}
	included := make(map[string]bool) // a file, as modules.dep begins with, or a name, as modules.alias ends with
	to := "lib/modules/" + k.Release
	for _, file := range needed {
		module, err := os.ReadFile(filepath.Join(k.modules, file))
		if err != nil {
			return err
		}
		a.add(to+"/"+file, regular, module)
		included[file+":"], included[moduleName(file)] = true, true
	}
	for _, table := range []string{"modules.dep", "modules.alias", "modules.builtin"} {
		text, err := os.ReadFile(filepath.Join(k.modules, table))
		if err != nil {
			return err
		}
		var kept bytes.Buffer
		for line := range strings.Lines(string(text)) {
			words := strings.Fields(line)
			if table == "modules.builtin" || len(words) > 0 && (included[words[0]] || included[words[len(words)-1]]) {
				kept.WriteString(line)
			}
		}
		a.add(to+"/"+table, regular, kept.Bytes())
	}
	return nil
}
