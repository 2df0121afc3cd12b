// Package permitted remembers which commands of study files the user has permitted. A study file from elsewhere
// may name any program as the way to reach a host (via).
//
// The command line asks the user. Packages topology and study know what a plan executes.
package permitted

import (
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"fmt"
	"io/fs"
	"path/filepath"
	"slices"
	"strings"

	"linerate/internal/kernel/file"
	"linerate/internal/model/lists"
	"linerate/internal/model/topology"
)

// Name is the name of the list in this user's state directory (file.StateDir).
const Name = "permitted"

const (
	mostCommands = 10_000 // the oldest are dropped
	digest       = 2 * sha256.Size
	mostBytes    = (mostCommands + 1) * (digest + 1)
)

// List is a list of permitted commands in a file of mode 0600: one SHA-256 per line. It is not beside the
// notebook, because the directory of a notebook may come from elsewhere and must not permit anything.
type List struct {
	path  string
	lines []string
}

// Load reads what this user has permitted on this machine. It fails if others may write the file or own it,
// since they could permit commands.
func Load() (*List, error) {
	dir, err := file.StateDir()
	if err != nil {
		return nil, fmt.Errorf("permitted commands: %w", err)
	}
	p := &List{path: filepath.Join(dir, Name)}
	text, err := file.ReadOwn(p.path, mostBytes)
	if errors.Is(err, fs.ErrNotExist) {
		return p, nil
	}
	if err != nil {
		return nil, fmt.Errorf("permitted commands: %w", err)
	}
	p.lines = strings.Fields(string(text))
	return p, nil
}

// Without returns the commands that are not permitted.
func (p *List) Without(commands []topology.Command) (list []topology.Command) {
	return lists.Where(commands, func(c topology.Command) bool { return !slices.Contains(p.lines, key(c)) })
}

// Add permits commands, in addition to those that other processes have permitted since Load.
func (p *List) Add(commands []topology.Command) error {
	err := file.Change(p.path, mostBytes, func(old []byte) ([]byte, error) {
		p.lines = strings.Fields(string(old))
		for _, c := range commands {
			if k := key(c); !slices.Contains(p.lines, k) {
				p.lines = append(p.lines, k)
			}
		}
		p.lines = p.lines[max(0, len(p.lines)-mostCommands):]
		return []byte(strings.Join(p.lines, "\n") + "\n"), nil
	})
	if err != nil {
		return fmt.Errorf("remember permitted commands: %w", err)
	}
	return nil
}

// key identifies a command by its node and words, without addresses and ports.
func key(c topology.Command) string {
	sum := sha256.Sum256([]byte(c.Node + "\x00" + c.Alike))
	return hex.EncodeToString(sum[:])
}
