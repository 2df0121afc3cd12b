// Package active tells the linerate processes of a machine that load its network about each other, because
// concurrent measurements disturb each other.
//
// Each has a file in a directory shared by all users, locked with flock(2). The kernel releases the lock when
// the process ends in any way, so the file of a killed process never counts as active. Processes that do not
// share the directory, as in containers, do not see each other.
package active

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"math/rand/v2"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"time"

	"linerate/internal/kernel/file"
)

// Work describes what loads the network. Its text comes from other users of the machine: show it to people
// only, and escape it.
type Work struct {
	What  string    `json:"what"` // "run arp-flux-7"
	Since time.Time `json:"since"`
}

// Directory returns the directory through which processes of this machine find each other.
func Directory() string { return filepath.Join(os.TempDir(), "linerate-active") }

const (
	// patience is for concurrent calls of Enter: each takes milliseconds.
	patience = 2 * time.Second
	poll     = 250 * time.Millisecond
)

// Claim marks a process as loading the network.
type Claim struct {
	dir  string
	work Work
	lock *file.FileLock
}

// Enter marks this process as active, and returns the work of the others.
func Enter(dir string, work Work) (*Claim, []Work, error) {
	c := &Claim{dir: dir, work: work}
	var others []Work
	err := c.alone(func() error {
		others = look(dir)
		return c.mark()
	})
	if err != nil {
		return nil, others, fmt.Errorf("mark this process as active: %w", err)
	}
	return c, others, nil
}

// Wait marks this process as active once no other is and elsewhere, if not nil, reports none either. It calls
// meanwhile with what it waits for, at first and on each change. Only one of several waiting processes enters
// at a time. It fails when ctx ends, or if the others cannot be determined.
func Wait(ctx context.Context, dir string, work Work, elsewhere func() []Work, meanwhile func([]Work)) (*Claim, error) {
	c := &Claim{dir: dir, work: work}
	var before []Work
	for {
		var others []Work
		err := c.alone(func() error {
			if others = look(dir); elsewhere != nil {
				others = append(others, elsewhere()...)
			}
			if len(others) > 0 {
				return nil
			}
			c.work.Since = time.Now()
			return c.mark()
		})
		switch {
		case err != nil && !errors.Is(err, file.ErrLocked):
			return nil, fmt.Errorf("wait for other measurements: %w", err)
		case c.lock != nil:
			return c, nil
		case err == nil && !slices.Equal(others, before):
			before = others
			meanwhile(others)
		}
		select {
		case <-ctx.Done():
			return nil, context.Cause(ctx)
		case <-time.After(poll):
		}
	}
}

// Describe replaces the description of this process's work. A nil claim does nothing.
func (c *Claim) Describe(what string) {
	if c == nil || what == c.work.What {
		return
	}
	c.work.What = what
	// Under the directory's lock, so that no reader sees a partial text.
	_ = c.alone(func() error { c.lock.Describe(c.text()); return nil })
}

// Leave ends the claim; a nil claim does nothing.
func (c *Claim) Leave() error {
	if c == nil {
		return nil
	}
	return c.lock.Unlock()
}

// alone calls f while no other process is in alone.
func (c *Claim) alone(f func() error) error {
	err := os.Mkdir(c.dir, 0o777)
	if err == nil {
		// Writable by every user, each of whom may remove only own files; Mkdir applies the umask.
		err = os.Chmod(c.dir, 0o777|fs.ModeSticky)
	} else if errors.Is(err, fs.ErrExist) {
		err = nil
	}
	if err != nil {
		return err
	}
	unlock, err := file.LockDirectory(c.dir, patience)
	if err != nil {
		return err
	}
	return errors.Join(f(), unlock())
}

// mark creates the file and locks it.
func (c *Claim) mark() (err error) {
	name := fmt.Sprintf("%d-%016x", os.Getpid(), rand.Uint64())
	c.lock, err = file.LockFile(filepath.Join(c.dir, name), c.text())
	return err
}

func (c *Claim) text() string {
	text, _ := json.Marshal(c.work) // cannot fail: strings and times only
	return string(text)
}

// mostEntries limits how many files are read, since every user can create some.
const mostEntries = 1024

// look returns the work of others, the earliest first, and removes the files of killed processes.
func look(dir string) []Work {
	var others []Work
	opened, err := os.Open(dir)
	if err != nil {
		return nil
	}
	defer opened.Close()
	entries, _ := opened.ReadDir(mostEntries)
	for _, entry := range entries {
		path := filepath.Join(dir, entry.Name())
		locked, text, err := file.LockText(path)
		switch {
		case err != nil: // not one of our files
		case !locked:
			_ = os.Remove(path) // fails if it is another user's
		default:
			var work Work
			if json.Unmarshal([]byte(text), &work) != nil || strings.TrimSpace(work.What) == "" {
				work = Work{What: "another measurement"}
			}
			work.Since = work.Since.UTC() // for comparisons
			others = append(others, work)
		}
	}
	slices.SortFunc(others, func(a, b Work) int { return a.Since.Compare(b.Since) })
	return others
}
