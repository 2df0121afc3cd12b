package apply

import (
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"

	"linerate/internal/kernel/file"
	"linerate/internal/kernel/netlink"
)

// Where journals are, and to which changes of this host they apply.

// DefaultJournal returns the path of the journal of a real host's agent: in
// /var/lib/linerate for root, otherwise in the user's state directory. Several hosts may be
// network namespaces of one machine, so the file is named after the node and the network
// namespace of this process.
func DefaultJournal(node string) (string, error) {
	dir, err := defaultDir()
	if err != nil {
		return "", err
	}
	ns, err := netlink.CurrentNetNS()
	if err != nil {
		return "", err
	}
	safe := strings.Map(func(r rune) rune {
		if r == '/' || r < ' ' {
			return '_'
		}
		return r
	}, node)
	return filepath.Join(dir, fmt.Sprintf("journal-%s-%d.jsonl", safe, ns.Inode)), nil
}

// Journals returns the paths of the journals of this user's agents and of root's.
func Journals() ([]string, error) {
	dir, err := defaultDir()
	if err != nil {
		return nil, err
	}
	own, err := journalsIn(dir)
	if err != nil || dir == systemDir {
		return own, err
	}
	system, err := journalsIn(systemDir)
	return append(own, system...), err
}

func journalsIn(dir string) ([]string, error) {
	return filepath.Glob(filepath.Join(dir, "journal-*.jsonl"))
}

// systemDir is where root's agents keep their journals.
const systemDir = "/var/lib/linerate"

// defaultDir is where this user's agents of real hosts keep their journals.
func defaultDir() (string, error) {
	// Root in a user namespace is root over the network, not over /var.
	if os.Geteuid() == 0 && os.MkdirAll(systemDir, 0o755) == nil && canCreateIn(systemDir) {
		return systemDir, nil
	}
	dir, err := file.StateDir()
	if err != nil {
		// In a world-writable directory other users could forge a journal.
		return "", fmt.Errorf("undo journal: %w, or name a file with --journal", err)
	}
	return dir, nil
}

func canCreateIn(dir string) bool {
	f, err := os.CreateTemp(dir, ".probe-*")
	if err != nil {
		return false
	}
	return errors.Join(f.Close(), os.Remove(f.Name())) == nil
}

// gone reports whether changes under this header no longer exist: the machine was
// rebooted, or the network namespace ended and its inode number was reused.
func (was header) gone(here header, entries []*entry) bool {
	if was.Boot != here.Boot {
		return true
	}
	reused := was.NetNS.Inode == here.NetNS.Inode && !was.NetNS.Equal(here.NetNS)
	return reused && !slices.ContainsFunc(entries, (*entry).outsideNet)
}

// concerns reports whether changes under this header can be read and undone here.
func (was header) concerns(here header, entries []*entry) bool {
	return was.Boot == here.Boot && (was.NetNS.Equal(here.NetNS) || slices.ContainsFunc(entries, (*entry).outsideNet))
}

// outsideNet reports whether the change is visible in every network namespace.
func (e *entry) outsideNet() bool {
	return e.Kind == "sysctl" && !strings.HasPrefix(e.What, "net.")
}

// leftovers returns a *LeftoverError if an agent that no longer lives has left changes: in
// the own journal as long as it may be needed anywhere, since it would be overwritten, in
// those beside it only where their changes exist. Changes of the own journal that no longer
// exist are removed.
func leftovers(own string, here header) error {
	paths, err := journalsIn(filepath.Dir(own))
	if err != nil {
		return err
	}
	for _, path := range append(slices.DeleteFunc(paths, func(p string) bool { return p == own }), own) {
		j, was, entries, err := openJournal(path, here)
		if path != own && errors.Is(err, file.ErrLocked) {
			continue // the lock of the settings decides
		}
		if err != nil {
			return err
		}
		left := was.concerns(here, entries)
		if path == own {
			if left = !was.gone(here, entries); !left {
				err = j.reset()
			}
		}
		if err := errors.Join(err, j.close()); err != nil {
			return err
		}
		if left && len(entries) > 0 {
			return &LeftoverError{Journal: path, What: descriptions(entries)}
		}
	}
	return nil
}
