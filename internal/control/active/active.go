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
	err := c.alone(func(dir *file.Directory) error {
		others = look(dir)
		return c.mark(dir)
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
		err := c.alone(func(dir *file.Directory) error {
			if others = look(dir); elsewhere != nil {
				others = append(others, elsewhere()...)
			}
			if len(others) > 0 {
				return nil
			}
			c.work.Since = time.Now()
			return c.mark(dir)
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
	_ = c.alone(func(*file.Directory) error { c.lock.Describe(c.text()); return nil })
}

// Leave ends the claim; a nil claim does nothing.
func (c *Claim) Leave() error {
	if c == nil {
		return nil
	}
	return c.lock.Unlock()
}

// alone calls f with the opened directory while no other process is in alone.
func (c *Claim) alone(f func(*file.Directory) error) error {
	dir, err := file.OpenShared(c.dir)
	if err != nil {
		return err
	}
	err = dir.Alone(patience, func() error { return f(dir) })
	return errors.Join(err, dir.Close())
}

// mark creates the file and locks it.
func (c *Claim) mark(dir *file.Directory) (err error) {
	c.lock, err = dir.LockFile(fmt.Sprintf("%d-%016x", os.Getpid(), rand.Uint64()), c.text())
	return err
}

func (c *Claim) text() string {
	text, _ := json.Marshal(c.work) // cannot fail: strings and times only
	return string(text)
}

// mostEntries limits how many files are read, since every user can create some.
const mostEntries = 1024

// look returns the work of others, the earliest first, and removes the files of killed processes.
func look(dir *file.Directory) []Work {
	var others []Work
	for _, text := range dir.Locked(mostEntries) {
		var work Work
		if json.Unmarshal([]byte(text), &work) != nil || strings.TrimSpace(work.What) == "" {
			work = Work{What: "another measurement"}
		}
		work.Since = work.Since.UTC() // for comparisons
		others = append(others, work)
	}
	slices.SortFunc(others, func(a, b Work) int { return a.Since.Compare(b.Since) })
	return others
}
