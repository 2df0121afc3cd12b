// Package attached appends programs to another one, in the same file: agents to linerate. The kernel and the Go
// runtime ignore what follows an ELF file.
package attached

import (
	"bytes"
	"compress/gzip"
	"encoding/binary"
	"errors"
	"fmt"
	"io"
	"os"
)

// Kind says what an attached program is for. Each ends with its size in bytes, as 8 bytes, most significant first, and
// its kind.
type Kind string

const (
	Lab     Kind = "\nlinerate-agent\n" // the agent of a lab's hosts
	Carried Kind = "\nlinerate-carry\n" // the agent for hosts without linerate, compressed by gzip
)

// trailer is the length of the size and of each kind.
const trailer = 8 + len(Lab)

// begins are the first bytes of a program of each kind: an ELF file or one of gzip (RFC 1952).
var begins = map[Kind]string{Lab: "\x7fELF", Carried: "\x1f\x8b"}

// sections returns the attached programs of a file, and the size of the file without them.
func sections(f *os.File) (found map[Kind]*io.SectionReader, end int64, err error) {
	info, err := f.Stat()
	if err != nil {
		return nil, 0, err
	}
	found = map[Kind]*io.SectionReader{}
	for end = info.Size(); end >= int64(trailer); {
		tail := make([]byte, trailer)
		if _, err := f.ReadAt(tail, end-int64(trailer)); err != nil {
			return nil, 0, err
		}
		kind := Kind(tail[8:])
		if begins[kind] == "" || found[kind] != nil {
			break
		}
		size := binary.BigEndian.Uint64(tail)
		if size > uint64(end)-uint64(trailer) {
			return nil, 0, fmt.Errorf("%s: the attached program of %d bytes is larger than the file", f.Name(), size)
		}
		end -= int64(trailer) + int64(size)
		found[kind] = io.NewSectionReader(f, end, int64(size))
		head := make([]byte, len(begins[kind]))
		if _, err := found[kind].ReadAt(head, 0); err != nil || string(head) != begins[kind] {
			return nil, 0, fmt.Errorf("%s: what is attached is no program: %w", f.Name(),
				errors.Join(err, errors.ErrUnsupported))
		}
	}
	return found, end, nil
}

// Packed returns the program for hosts without linerate that is attached to a file, compressed by gzip. It is nil if
// none is.
func Packed(file string) ([]byte, error) {
	f, err := os.Open(file)
	if err != nil {
		return nil, err
	}
	defer f.Close()
	found, _, err := sections(f)
	if err != nil || found[Carried] == nil {
		return nil, err
	}
	return io.ReadAll(found[Carried])
}

// Path is the path by which this process executes a program that Open has returned.
func Path(program *os.File) string { return fmt.Sprintf("/proc/self/fd/%d", program.Fd()) }

// Append attaches the programs in files to the file of another one. Earlier attached programs are removed.
func Append(to string, programs map[Kind]string) error {
	var all []byte
	for kind, file := range programs {
		data, err := os.ReadFile(file)
		if err != nil {
			return err
		}
		if !bytes.HasPrefix(data, []byte(begins[Lab])) {
			return fmt.Errorf("%s is no ELF file", file)
		}
		if kind == Carried {
			if data, err = packed(data); err != nil {
				return err
			}
		}
		all = append(binary.BigEndian.AppendUint64(append(all, data...), uint64(len(data))), kind...)
	}
	f, err := os.OpenFile(to, os.O_RDWR, 0)
	if err != nil {
		return err
	}
	_, end, err := sections(f)
	if err == nil {
		err = f.Truncate(end)
	}
	if err == nil {
		_, err = f.WriteAt(all, end)
	}
	return errors.Join(err, f.Close())
}

func packed(data []byte) ([]byte, error) {
	var b bytes.Buffer
	w, err := gzip.NewWriterLevel(&b, gzip.BestCompression)
	if err == nil {
		_, err = w.Write(data)
	}
	err = errors.Join(err, w.Close())
	return b.Bytes(), err
}
