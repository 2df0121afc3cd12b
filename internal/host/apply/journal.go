package apply

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"time"

	"linerate/internal/kernel/file"
	"linerate/internal/kernel/netlink"
	"linerate/internal/kernel/proc"
	"linerate/internal/model/setting"
)

// JournalSchema is the schema of an undo journal: one JSON value per line, a header, then
// entries and which of them are undone.
const JournalSchema = "linerate.journal/v1"

// header identifies where and when a journal was begun.
type header struct {
	Schema string `json:"schema"`
	// Boot and NetNS decide whether the changes can still exist, and whether they
	// can be undone in this namespace.
	Boot    string        `json:"boot"`
	NetNS   netlink.NetNS `json:"netns"`
	PID     int           `json:"pid"`
	Started time.Time     `json:"started"`
}

func newHeader() (header, error) {
	boot, bootErr := proc.Sysctls{}.Read("kernel.random.boot_id")
	ns, nsErr := netlink.CurrentNetNS()
	return header{JournalSchema, boot, ns, os.Getpid(), time.Now().UTC().Truncate(time.Second)}, errors.Join(bootErr, nsErr)
}

// entry is one change with the data to undo it.
type entry struct {
	Seq     int             `json:"seq"`
	Kind    string          `json:"kind"`
	What    string          `json:"what"`
	Scope   string          `json:"scope"`
	Host    string          `json:"host,omitempty"`
	Setting setting.Setting `json:"setting"`
	Prior   State           `json:"prior"`
	New     State           `json:"new"`
	Around  dependents      `json:"around,omitzero"`

	target target
	offset int64 // of its first line in the journal
}

// line is one line of a journal after the header. An entry with the number of an
// earlier one replaces it; Done marks an entry as undone.
type line struct {
	Entry *entry `json:"entry,omitempty"`
	Done  int    `json:"done,omitempty"`
}

// decodeJournal reads a journal. An incomplete last line is dropped: the process was
// killed or the disk was full during the write, so the change was never made. Any
// other mistake is an error, since a guessed undo would be worse than none. good is
// the length without the incomplete line.
func decodeJournal(text []byte) (h header, entries []*entry, good int, err error) {
	good = bytes.LastIndexByte(text, '\n') + 1
	number, offset := 0, int64(0)
	for raw := range bytes.Lines(text[:good]) {
		number++
		at := offset
		offset += int64(len(raw))
		fail := func(err error) (header, []*entry, int, error) {
			return h, nil, good, fmt.Errorf("line %d: %w", number, err)
		}
		if number == 1 {
			if err := json.Unmarshal(raw, &h); err != nil {
				return fail(err)
			}
			if h.Schema != JournalSchema {
				return fail(fmt.Errorf("schema %q: expected %s", h.Schema, JournalSchema))
			}
			continue
		}
		var l line
		if err := json.Unmarshal(raw, &l); err != nil {
			return fail(err)
		}
		switch {
		case l.Entry != nil && l.Entry.Seq > 0 && l.Done == 0:
			l.Entry.offset = at
			entries = replace(entries, l.Entry)
		case l.Entry == nil && l.Done > 0:
			i := index(entries, l.Done)
			if i < 0 {
				return fail(fmt.Errorf("entry %d is done, but was never written", l.Done))
			}
			entries = append(entries[:i], entries[i+1:]...)
		default:
			return fail(errors.New("expected an entry with its number, or the number of one that is done"))
		}
	}
	return h, entries, good, nil
}

func index(entries []*entry, seq int) int {
	return slices.IndexFunc(entries, func(e *entry) bool { return e.Seq == seq })
}

func replace(entries []*entry, e *entry) []*entry {
	if i := index(entries, e.Seq); i >= 0 {
		e.offset = entries[i].offset
		entries[i] = e
		return entries
	}
	return append(entries, e)
}

// journal is an undo journal on disk; a nil one keeps nothing. While it is open its lock file excludes a second
// agent and recovery; the lock ends with the process.
type journal struct {
	path   string
	header header
	lock   *file.FileLock
	file   *os.File // nil until the first line is written
	size   int64
	broken error // why nothing can be written any more
}

// lockSuffix is what a journal's lock file is called after.
const lockSuffix = ".lock"

// openJournal takes the lock and reads what is there: the header it was written
// with, and the changes that were not undone. The file is made with the first
// change only.
func openJournal(path string, h header) (*journal, header, []*entry, error) {
	fail := func(err error) (*journal, header, []*entry, error) {
		return nil, header{}, nil, fmt.Errorf("undo journal %s: %w", path, err)
	}
	if err := os.MkdirAll(filepath.Dir(path), 0o700); err != nil {
		return fail(err)
	}
	lock, err := file.LockFile(path+lockSuffix, fmt.Sprintf("linerate process %d", os.Getpid()))
	if errors.Is(err, file.ErrLocked) {
		return fail(fmt.Errorf("in use by another agent on this host: %w", err))
	}
	if err != nil {
		return fail(err)
	}
	j := &journal{path: path, header: h, lock: lock}
	text, err := os.ReadFile(path)
	if errors.Is(err, fs.ErrNotExist) || err == nil && len(text) == 0 {
		return j, h, nil, nil
	}
	var old header
	var entries []*entry
	var good int
	if err == nil {
		old, entries, good, err = decodeJournal(text)
	}
	if err == nil && good == 0 {
		old = h // not even a header was finished: nothing was ever changed
	}
	if err == nil && len(entries) > 0 {
		j.size = int64(good)
		if j.file, err = os.OpenFile(path, os.O_RDWR, 0o600); err == nil {
			err = j.file.Truncate(j.size)
		}
	}
	if err != nil {
		return fail(errors.Join(err, j.close()))
	}
	return j, old, entries, nil
}

// append writes one line, and if durable does not return before it is on disk. It
// returns where the line begins. When it fails the journal is as it was before.
func (j *journal) append(l line, durable bool) (at int64, err error) {
	if j == nil {
		return 0, nil
	}
	if j.broken != nil {
		return 0, j.broken
	}
	if j.file == nil {
		if err := j.begin(); err != nil {
			return 0, err
		}
	}
	at = j.size
	return at, j.put(l, durable)
}

// begin makes the file with its header.
func (j *journal) begin() error {
	file, err := os.OpenFile(j.path, os.O_RDWR|os.O_CREATE|os.O_TRUNC, 0o600)
	if err != nil {
		return err
	}
	j.file, j.size = file, 0
	err = j.put(j.header, true)
	if err == nil {
		err = syncDir(filepath.Dir(j.path))
	}
	if err != nil {
		j.file = nil
		return errors.Join(err, file.Close())
	}
	return nil
}

func (j *journal) put(value any, durable bool) error {
	text, err := json.Marshal(value)
	if err != nil {
		return err
	}
	text = append(text, '\n')
	_, err = j.file.WriteAt(text, j.size)
	if err == nil && durable {
		err = j.file.Sync()
	}
	if err == nil {
		j.size += int64(len(text))
		return nil
	}
	// A part of the line may have been written. If it cannot be removed, no further
	// line is written: it would make the journal unreadable.
	if undo := j.file.Truncate(j.size); undo != nil {
		j.broken = fmt.Errorf("the journal is damaged: %w", errors.Join(err, undo))
	}
	return err
}

// cut shortens the journal.
func (j *journal) cut(size int64) error {
	if j.file == nil || size <= 0 {
		return errors.New("there is nothing to cut off")
	}
	if err := j.file.Truncate(size); err != nil {
		return err
	}
	j.size = size
	return j.file.Sync()
}

// syncDir makes a file's name durable.
func syncDir(dir string) error {
	d, err := os.Open(dir)
	if err != nil {
		return err
	}
	return errors.Join(d.Sync(), d.Close())
}

// reset empties the journal: every change is undone.
func (j *journal) reset() error {
	if j == nil {
		return nil
	}
	if j.file == nil {
		return j.remove()
	}
	err := errors.Join(j.file.Close(), j.remove())
	j.file, j.size = nil, 0
	return err
}

func (j *journal) remove() error {
	if j == nil {
		return nil
	}
	if err := os.Remove(j.path); err != nil && !errors.Is(err, fs.ErrNotExist) {
		return err
	}
	return nil
}

func (j *journal) close() error {
	if j == nil {
		return nil
	}
	var err error
	if j.file != nil {
		err = j.file.Close()
		j.file = nil
	}
	return errors.Join(err, j.lock.Unlock())
}
