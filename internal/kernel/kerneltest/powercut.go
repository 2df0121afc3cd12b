package kerneltest

import (
	"math/rand/v2"
	"path/filepath"
	"slices"
)

// Disk models a disk that may lose power. Only what was synced is certain to survive: a file's contents with
// the file, names with their directory, and the name under which a file was created also with the file, as in
// all journaling file systems. Of the rest, any part may survive, as fsync(2) and rename(2) allow.
type Disk struct {
	files   []*inode
	live    map[string]*inode // by name
	durable map[string]*inode
	pending map[string][]names // by directory, in order
}

// inode is a file with the changes to its contents since the last sync.
type inode struct {
	synced  []byte
	pending []Call
}

// names are changes to names that happen at once; nil: the name is removed.
type names map[string]*inode

// NewDisk returns an empty disk.
func NewDisk() *Disk {
	return &Disk{live: map[string]*inode{}, durable: map[string]*inode{}, pending: map[string][]names{}}
}

func (d *Disk) rename(directory string, n names) {
	for name, file := range n {
		if d.live[name] = file; file == nil {
			delete(d.live, name)
		}
	}
	d.pending[directory] = append(d.pending[directory], n)
}

// Do applies a call to the disk.
func (d *Disk) Do(c Call) {
	directory := filepath.Dir(c.Path)
	file := d.live[c.Path]
	if file == nil && slices.Contains([]string{Create, Write, Truncate}, c.Op) {
		file = &inode{}
		d.files = append(d.files, file)
		d.rename(directory, names{c.Path: file})
	}
	switch c.Op {
	case Create:
		if c.Offset == 1 {
			file.pending = append(file.pending, Call{Op: Truncate})
		}
	case Write, Truncate:
		file.pending = append(file.pending, c)
	case Rename:
		if file != nil {
			d.rename(filepath.Dir(c.To), names{c.Path: nil, c.To: file})
		}
	case Link:
		if file != nil {
			d.rename(filepath.Dir(c.To), names{c.To: file})
		}
	case Remove:
		if file != nil {
			d.rename(directory, names{c.Path: nil})
		}
	case Sync:
		if file == nil { // a directory
			for _, n := range d.pending[c.Path] {
				settle(d.durable, n)
			}
			delete(d.pending, c.Path)
			return
		}
		file.synced, file.pending = file.after(len(file.pending)), nil
		if list := d.pending[directory]; len(list) > 0 {
			i := slices.IndexFunc(list, func(n names) bool { return n[c.Path] == file })
			if i >= 0 && len(list[i]) == 1 { // made under this name
				settle(d.durable, list[i])
				for _, earlier := range list[:i+1] {
					delete(earlier, c.Path)
				}
			}
		}
	}
}

func settle(where map[string]*inode, n names) {
	for name, file := range n {
		if where[name] = file; file == nil {
			delete(where, name)
		}
	}
}

// after returns a file's content after the first n of its pending changes.
func (f *inode) after(n int) []byte {
	text := slices.Clone(f.synced)
	for _, c := range f.pending[:n] {
		text = change(text, c)
	}
	return text
}

func change(text []byte, c Call) []byte {
	end := int(c.Offset) + len(c.Data)
	if more := end - len(text); more > 0 {
		text = append(text, make([]byte, more)...)
	}
	if c.Op == Truncate {
		return text[:c.Offset]
	}
	copy(text[c.Offset:], c.Data)
	return text
}

// What survives of unsynced changes.
const (
	Lost    = iota // nothing
	Kept           // all of it: the process was killed, and the power stayed on
	Torn           // all of it, but only half of the last write to each file
	Mixed          // any part of it: some writes without earlier ones, names without contents
	Remains        // the number of these values
)

// Cut returns what a power failure leaves: the contents of each file by its path. remains is one of the
// constants above.
func (d *Disk) Cut(remains int, random *rand.Rand) map[string][]byte {
	found := map[string]*inode{}
	settle(found, d.durable)
	directories := make([]string, 0, len(d.pending))
	for name := range d.pending {
		directories = append(directories, name)
	}
	slices.Sort(directories) // deterministic for the same random numbers
	for _, name := range directories {
		list := d.pending[name]
		switch remains {
		case Lost:
			list = nil
		case Mixed:
			list = list[:random.IntN(len(list)+1)]
		}
		for _, n := range list {
			settle(found, n)
		}
	}
	texts := map[*inode][]byte{}
	for _, file := range d.files {
		text := slices.Clone(file.synced)
		for i, c := range file.pending {
			switch {
			case remains == Lost, remains == Mixed && random.IntN(2) == 0:
				continue
			case remains == Torn && i == len(file.pending)-1 && c.Op == Write:
				c.Data = c.Data[:len(c.Data)/2]
			}
			text = change(text, c)
		}
		texts[file] = text
	}
	contents := map[string][]byte{}
	for name, file := range found {
		contents[name] = texts[file]
	}
	return contents
}
