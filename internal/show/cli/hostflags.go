package cli

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strings"

	"github.com/spf13/pflag"

	"linerate/internal/control/reach"
	"linerate/internal/kernel/file"
	"linerate/internal/model/inventory"
	"linerate/internal/model/topology"
)

// hostFlags name hosts: one by one, or from an inventory.
type hostFlags struct {
	hosts, via []string
	from       inventoryFlags
	install    reach.Install
	flags      *pflag.FlagSet
}

// inventoryFlags say which hosts of which inventory are meant.
type inventoryFlags struct {
	file   string
	chosen []string
}

const (
	inventoryUsage = "take hosts from a `file`: hosts.yaml, an inventory of Ansible or a node list of SLURM, " +
		"\"-\": standard input (default: linerate/hosts.yaml in $XDG_CONFIG_HOME or ~/.config)"
	selectUsage = "take these `hosts` of the inventory: "
)

func (f *inventoryFlags) define(flags *pflag.FlagSet) {
	flags.StringVar(&f.file, "inventory", "", inventoryUsage)
	flags.StringArrayVar(&f.chosen, "select", nil, selectUsage+inventory.Grammar+" (may be repeated)")
}

// given reports whether hosts of an inventory are named, other than by --host.
func (f inventoryFlags) given() bool { return f.file != "" || len(f.chosen) > 0 }

// define adds the flags; verb is what is done to the hosts, such as "look at". Flags of the same names
// that are there already stay.
func (f *hostFlags) define(flags *pflag.FlagSet, verb string) {
	f.flags = flags
	flags.StringArrayVar(&f.hosts, "host", nil,
		verb+" a `host` of the inventory, or one that ssh reaches, such as root@nas:2299 (may be repeated)")
	flags.StringArrayVar(&f.via, "via", nil,
		verb+" a host that a `command` reaches, such as 'nas=ip netns exec nas' (may be repeated)")
	f.from.define(flags)
	if flags.Lookup("trust") == nil {
		flags.Bool("trust", false, "execute the commands of --inventory (linerate hosts lists them) without asking")
	}
}

// named returns how many hosts are named; those of an inventory count as one.
func (f hostFlags) named() int {
	n := len(f.hosts) + len(f.via)
	if len(f.hosts) == 0 && f.from.file != "" || len(f.from.chosen) > 0 {
		n++
	}
	return n
}

// selected returns the hosts that the flags name: those of the inventory, each once, those of --host
// and those of --via. An inventory without --select and --host stands for all its hosts. It asks
// before commands of a file are executed that were not permitted. Without hosts this host is meant.
func (f hostFlags) selected(ctx context.Context, s streams) ([]inventory.Host, error) {
	if f.named() == 0 {
		return nil, nil
	}
	var list []inventory.Host
	there := map[string]bool{} // hosts of the inventory
	add := func(h inventory.Host) {
		if h.Unlisted || !there[h.Name] {
			list = append(list, h)
		}
		there[h.Name] = true
	}
	var inv *inventory.Inventory
	var err error
	if f.from.given() || len(f.hosts) > 0 {
		if inv, err = f.from.read(ctx, s); err != nil {
			return nil, err
		}
	}
	if len(f.from.chosen) > 0 || f.from.file != "" && len(f.hosts) == 0 {
		found, err := inv.Select(f.from.chosen...)
		if err != nil {
			return nil, usageError(fmt.Errorf("--select: %w", err))
		}
		for _, h := range found {
			add(h)
		}
		if len(inv.LeftOut) > 0 {
			say(s.hints(), "linerate: not all of the inventory is used: linerate hosts says what is left out\n")
		}
	}
	for _, name := range f.hosts {
		h, err := hostNamed(inv, name)
		if err != nil {
			return nil, usageError(fmt.Errorf("--host %q: %w", name, err))
		}
		add(h)
	}
	for _, text := range f.via {
		h, err := hostVia(text)
		if err != nil {
			return nil, usageError(err)
		}
		list = append(list, h)
	}
	trust, err := f.flags.GetBool("trust")
	if err != nil {
		return nil, err
	}
	return list, f.from.permit(ctx, s, list, trust)
}

// hostNamed returns a host of an inventory or, if it has none of the name, one that ssh reaches.
func hostNamed(inv *inventory.Inventory, name string) (h inventory.Host, err error) {
	if inv != nil {
		if i := slices.IndexFunc(inv.Hosts, func(h inventory.Host) bool { return h.Name == name }); i >= 0 {
			return inv.Hosts[i], nil
		}
	}
	words, err := bySSH(name)
	return inventory.Host{Name: name, Via: words, Unlisted: true}, err
}

// hostVia returns the host of a --via.
func hostVia(text string) (h inventory.Host, err error) {
	name, command, has := strings.Cut(text, "=")
	if !has || strings.ContainsAny(name, " /") {
		name, command = "", text
	}
	words := strings.Fields(command)
	if len(words) == 0 {
		return h, fmt.Errorf("--via %q: expected a command, such as 'nas=ip netns exec nas'", text)
	}
	if strings.ContainsAny(command, `"'\\`) {
		return h, fmt.Errorf("--via %q: the command is split at spaces, without a shell; expected no quotes: a script "+
			"can have them", text)
	}
	if name == "" {
		return inventory.Host{Name: command, Via: words, Unlisted: true}, nil
	}
	return inventory.Host{Name: name, Via: words}, nil
}

// permit asks before commands of an inventory are executed. The user's own inventory is as the user
// has written it, and is not asked about.
func (f inventoryFlags) permit(ctx context.Context, s streams, list []inventory.Host, trust bool) error {
	if f.file == "" {
		return nil
	}
	var t topology.Topology
	for _, h := range list {
		if h.Written {
			t.Hosts = append(t.Hosts, topology.Host{Name: h.Name, Via: h.Via})
		}
	}
	return s.permit(ctx, f.file, trust, t.Commands())
}

// remotes returns the hosts to reach.
func (f hostFlags) remotes(ctx context.Context, s streams) (list []reach.Host, err error) {
	selected, err := f.selected(ctx, s)
	for _, h := range selected {
		one := reach.Host{Name: h.Name, Called: h.Name, Via: h.Via, Install: f.install}
		if h.Unlisted {
			one.Called = ""
		}
		list = append(list, one)
	}
	return list, err
}

// read reads the inventory. Nil: none is named, and the user has none.
func (f inventoryFlags) read(ctx context.Context, s streams) (*inventory.Inventory, error) {
	path, text, err := f.text(ctx, s)
	switch {
	case err != nil && f.file == "" && len(f.chosen) == 0 && (path == "" || errors.Is(err, fs.ErrNotExist)):
		return nil, nil
	case errors.Is(err, fs.ErrNotExist) && f.file == "":
		return nil, usageError(fmt.Errorf("there is no inventory: expected --inventory FILE, or the file %s", path))
	case err != nil:
		return nil, usageError(err)
	}
	defer computing()()
	inv, err := inventory.Read(path, text)
	if err != nil {
		return nil, inputError(path, err)
	}
	if inv.Kind == inventory.AnsibleINI || inv.Kind == inventory.AnsibleYAML {
		for _, beside := range []string{"group_vars", "host_vars"} {
			info, err := os.Stat(filepath.Join(filepath.Dir(path), beside))
			if err == nil && info.IsDir() && path != "-" {
				inv.LeftOut = append(inv.LeftOut, fmt.Sprintf("%s beside it: ansible-inventory -i %s --list prints an "+
					"inventory with it", beside, quote(path)))
			}
		}
	}
	return inv, nil
}

// path returns the inventory's file.
func (f inventoryFlags) path() (string, error) {
	if f.file != "" {
		return f.file, nil
	}
	dir, err := file.ConfigDir()
	if err != nil {
		return "", err
	}
	return filepath.Join(dir, "hosts.yaml"), nil
}

// text returns the inventory's file and its text.
func (f inventoryFlags) text(ctx context.Context, s streams) (path string, text []byte, err error) {
	if path, err = f.path(); err != nil {
		return path, nil, err
	}
	if path == "-" {
		text, err = readText(s.input(ctx), path)
		return path, text, err
	}
	if info, err := os.Stat(path); err == nil && info.IsDir() {
		return path, nil, fmt.Errorf("%s is a directory: ansible-inventory -i %[2]s --list prints an inventory of "+
			"its files", path, quote(path))
	}
	text, err = readFile(path)
	return path, text, err
}
