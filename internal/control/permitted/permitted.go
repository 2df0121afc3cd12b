// Package permitted remembers which commands of study files the user has permitted: a
// file from elsewhere may name any program, for hosts that are reached by via.
//
// The command line asks the user. What a plan executes is known to packages
// topology and study.
package permitted

import (
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"time"

	"linerate/internal/kernel/file"
	"linerate/internal/model/topology"
)

// Name is the name of the list in this user's state directory (file.StateDir).
const Name = "permitted"

const (
	mostCommands = 10_000 // remembered; the oldest are forgotten
	digest       = 2 * sha256.Size
	mostBytes    = (mostCommands + 1) * (digest + 1)
)

// lockTimeout bounds how long Add waits for another one.
const lockTimeout = 5 * time.Second

// List is a list of commands in a file of mode 0600: their SHA-256, one a line. It is not
// beside the notebook: a directory with a notebook may be from elsewhere, and whatever is in
// it must not permit anything.
type List struct {
	path  string
	lines []string
}

// Load reads what this user has permitted on this machine. A file that others may write, or
// that is not this user's, is an error: it would permit what they want.
func Load() (*List, error) {
	dir, err := file.StateDir()
	if err != nil {
		return nil, fmt.Errorf("permitted commands: %w", err)
	}
	p := &List{path: filepath.Join(dir, Name)}
	return p, p.read()
}

func (p *List) read() error {
	text, err := file.ReadOwn(p.path, mostBytes)
	if err != nil && !errors.Is(err, fs.ErrNotExist) {
		return fmt.Errorf("permitted commands: %w", err)
	}
	p.lines = strings.Fields(string(text))
	return nil
}

// Without returns those of the commands that are not permitted.
func (p *List) Without(commands []topology.Command) (list []topology.Command) {
	for _, c := range commands {
		if !slices.Contains(p.lines, key(c)) {
			list = append(list, c)
		}
	}
	return list
}

// Add permits commands from now on, besides what others have permitted since Load.
// Concurrent calls follow each other.
func (p *List) Add(commands []topology.Command) error {
	if err := p.add(commands); err != nil {
		return fmt.Errorf("remember permitted commands: %w", err)
	}
	return nil
}

func (p *List) add(commands []topology.Command) error {
	if err := os.MkdirAll(filepath.Dir(p.path), 0o700); err != nil {
		return err
	}
	unlock, err := file.LockDirectory(filepath.Dir(p.path), lockTimeout)
	if err != nil {
		return err
	}
	defer func() { _ = unlock() }()
	if err := p.read(); err != nil {
		return err
	}
	for _, c := range commands {
		if k := key(c); !slices.Contains(p.lines, k) {
			p.lines = append(p.lines, k)
		}
	}
	p.lines = p.lines[max(0, len(p.lines)-mostCommands):]
	return file.Replace(p.path, 0o600, func(w io.Writer) error {
		_, err := io.WriteString(w, strings.Join(p.lines, "\n")+"\n")
		return err
	})
}

// key identifies a command: its node and its words, without addresses and ports.
func key(c topology.Command) string {
	sum := sha256.Sum256([]byte(c.Node + "\x00" + c.Alike))
	return hex.EncodeToString(sum[:])
}
