package apply

import (
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strings"

	"linerate/internal/kernel/file"
	"linerate/internal/kernel/netlink"
)

// Where journals are, and to which changes of this host they apply.

// DefaultJournal is where the agent of a real host keeps its journal: in
// /var/lib/linerate for root, in the user's state directory otherwise. Hosts may
// share a machine, each in a network namespace of its own, so the file is named
// after both the node and the namespace this process is in.
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

// Journals lists the journals of this user's agents.
func Journals() ([]string, error) {
	dir, err := defaultDir()
	if err != nil {
		return nil, err
	}
	return journalsIn(dir)
}

func journalsIn(dir string) ([]string, error) {
	return filepath.Glob(filepath.Join(dir, "journal-*.jsonl"))
}

// defaultDir is where agents of real hosts keep their journals.
func defaultDir() (string, error) {
	const system = "/var/lib/linerate"
	// Root in a user namespace is root over the network, not over /var.
	if os.Geteuid() == 0 && os.MkdirAll(system, 0o755) == nil && canCreateIn(system) {
		return system, nil
	}
	if state := os.Getenv("XDG_STATE_HOME"); state != "" {
		return filepath.Join(state, "linerate"), nil
	}
	home, err := os.UserHomeDir()
	if err != nil {
		// In a world-writable directory other users could forge a journal.
		return "", fmt.Errorf("there is no directory of this user's own for the undo journal (%w): set HOME or XDG_STATE_HOME, or name a file with --journal", err)
	}
	return filepath.Join(home, ".local", "state", "linerate"), nil
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

// leftBeside returns an error if an agent of another name that no longer runs has left
// changes here.
func leftBeside(own string, here header) error {
	paths, err := journalsIn(filepath.Dir(own))
	if err != nil {
		return err
	}
	for _, path := range paths {
		if path == own {
			continue
		}
		alive, err := file.FileLocked(path + lockSuffix)
		if err != nil {
			return err
		}
		if alive {
			continue
		}
		text, err := os.ReadFile(path)
		if errors.Is(err, fs.ErrNotExist) {
			continue
		}
		var was header
		var entries []*entry
		if err == nil {
			was, entries, _, err = decodeJournal(text)
		}
		if err != nil {
			return fmt.Errorf("undo journal %s: %w", path, err)
		}
		if len(entries) > 0 && was.concerns(here, entries) {
			return &LeftoverError{Journal: path, What: whats(entries)}
		}
	}
	return nil
}
