package apply

import (
	"bytes"
	"encoding/json"
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
	"linerate/internal/kernel/netlink"
	"linerate/internal/kernel/proc"
	"linerate/internal/model/setting"
)

// JournalSchema is the schema of an undo journal: one JSON value per line, a header, then
// entries and which of them are undone.
const JournalSchema = "linerate.journal/v2"

// textSchema is that of journals whose states and objects are texts alone (see typed).
const textSchema = "linerate.journal/v1"

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
	return header{JournalSchema, boot, ns, os.Getpid(), time.Now().UTC().Truncate(time.Second)},
		errors.Join(bootErr, nsErr)
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

// check returns an error if the entry is not one that an agent writes: its parts must
// agree, and what is restored along with a change must be of its scope.
func (e *entry) check() error {
	kind, scope := e.Setting.Kind(), Namespace
	if e.outsideNet() {
		scope = Machine
	}
	switch {
	case kind == "" || e.Kind != kind:
		return fmt.Errorf("an entry of kind %q has a setting of kind %q", e.Kind, kind)
	case kind == "sysctl" && (len(e.Setting.Sysctl) != 1 || e.Setting.Sysctl[0].Key != e.What):
		return fmt.Errorf("the entry of sysctl %q has another one in its setting", e.What)
	case e.Scope != scope && e.Scope != Machine:
		return fmt.Errorf("the entry of %s %q has the scope %q: expected %s", e.Kind, e.What, e.Scope, scope)
	}
	for _, along := range e.Around.Sysctls {
		if !strings.HasPrefix(along.Key, "net.") && !slices.Contains(partners[e.What], along.Key) {
			return fmt.Errorf("%s %s does not change sysctl %q along with it", e.Kind, e.What, along.Key)
		}
	}
	for name := range e.Around.Objects {
		if !slices.ContainsFunc(objectKinds, func(k objectKind) bool { return k.name == name }) {
			return fmt.Errorf("unknown kind of object %q", name)
		}
	}
	return nil
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
	places := map[int]int{} // in entries, by number
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
			if h.Schema != JournalSchema && h.Schema != textSchema {
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
			if err := l.Entry.check(); err != nil {
				return fail(err)
			}
			if h.Schema == textSchema {
				l.Entry.typed()
			}
			l.Entry.offset = at
			if i, is := places[l.Entry.Seq]; is {
				l.Entry.offset, entries[i] = entries[i].offset, l.Entry
				continue
			}
			places[l.Entry.Seq] = len(entries)
			entries = append(entries, l.Entry)
		case l.Entry == nil && l.Done > 0:
			i, is := places[l.Done]
			if !is {
				return fail(fmt.Errorf("entry %d is done, but was never written", l.Done))
			}
			entries[i] = nil
			delete(places, l.Done)
		default:
			return fail(errors.New("expected an entry with its number, or the number of one that is done"))
		}
	}
	return h, slices.DeleteFunc(entries, func(e *entry) bool { return e == nil }), good, nil
}

// journal is an undo journal on disk; a nil one keeps nothing. While it is open its file is
// locked (flock(2)), which tells other processes that its agent lives, or that it is being
// recovered.
type journal struct {
	path   string
	header header
	file   *os.File // nil until the first line is written
	size   int64
	broken error // why nothing can be written any more
}

// maxJournal bounds a journal: 100,000 routes that go with an interface are some 30 MB.
const maxJournal = 64 << 20

// openJournal locks a journal and reads what is there: the header it was written with, and
// the changes that were not undone. A journal without any is removed, and so is one of
// before the machine restarted with a line that is no JSON. The error is file.ErrLocked while
// its agent lives.
func openJournal(path string, h header) (*journal, header, []*entry, error) {
	j := &journal{path: path, header: h}
	fail := func(err error) (*journal, header, []*entry, error) {
		if at, is := errors.AsType[*fs.PathError](err); is && at.Path == path {
			err = at.Err
		}
		return nil, header{}, nil, fmt.Errorf("undo journal %s: %w", path, errors.Join(err, j.close()))
	}
	for {
		f, err := file.OpenPrivate(path, maxJournal)
		if errors.Is(err, fs.ErrNotExist) {
			return j, h, nil, nil
		}
		if err != nil {
			return fail(err)
		}
		if j.file = f; file.Lock(f) != nil {
			return fail(fmt.Errorf("in use by its agent, or being recovered: %w", file.ErrLocked))
		}
		if file.Current(f, path) {
			break
		}
		_ = j.close() // its agent removed it after we had opened it
	}
	was, entries, good, err := readJournal(j.file)
	if _, torn := errors.AsType[*json.SyntaxError](err); torn && was.Boot != "" && was.Boot != h.Boot {
		// A power cut leaves any part of what was not synced, such as zeros in place of a
		// line. It has also ended every change.
		entries, err = nil, nil
	}
	if err != nil {
		return fail(err)
	}
	if len(entries) == 0 {
		if err := j.reset(); err != nil {
			return fail(err)
		}
		return j, h, nil, nil
	}
	j.size = int64(good)
	if err := j.file.Truncate(j.size); err != nil {
		return fail(err)
	}
	return j, was, entries, nil
}

func readJournal(f *os.File) (was header, entries []*entry, good int, err error) {
	text, err := io.ReadAll(io.LimitReader(f, maxJournal))
	if err != nil {
		return was, nil, 0, err
	}
	return decodeJournal(text)
}

// peekJournal reads a journal that another process has locked.
func peekJournal(path string) (was header, entries []*entry, err error) {
	f, err := file.OpenPrivate(path, maxJournal)
	if errors.Is(err, fs.ErrNotExist) {
		return was, nil, nil
	}
	if err == nil {
		defer f.Close()
		was, entries, _, err = readJournal(f)
	}
	if err != nil {
		err = fmt.Errorf("undo journal %s: %w", path, err)
	}
	return was, entries, err
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

// begin makes the file with its header. It has its name only when it is locked.
func (j *journal) begin() error {
	dir, name := filepath.Dir(j.path), j.path+".new"
	if err := os.MkdirAll(dir, 0o700); err != nil {
		return err
	}
	if err := os.Remove(name); err != nil && !errors.Is(err, fs.ErrNotExist) {
		return err
	}
	f, err := os.OpenFile(name, os.O_RDWR|os.O_CREATE|os.O_EXCL, 0o600)
	if err != nil {
		return err
	}
	j.file, j.size = f, 0
	if err = file.Lock(f); err == nil {
		err = j.put(j.header, true)
	}
	if err == nil {
		err = os.Rename(name, j.path)
	}
	if err == nil {
		err = syncDir(dir)
	}
	if err != nil {
		j.file = nil
		_ = os.Remove(name)
		return errors.Join(err, f.Close())
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

// reset removes the journal: every change is undone.
func (j *journal) reset() error {
	if j == nil || j.file == nil {
		return nil
	}
	err := os.Remove(j.path)
	j.size = 0
	return errors.Join(err, j.close())
}

func (j *journal) close() error {
	if j == nil || j.file == nil {
		return nil
	}
	err := j.file.Close()
	j.file = nil
	return err
}
