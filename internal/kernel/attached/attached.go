// Package attached appends a program to another one, in the same file: the agent of a lab's hosts to linerate. The
// kernel and the Go runtime ignore what follows an ELF file.
package attached

import (
	"bytes"
	"encoding/binary"
	"errors"
	"fmt"
	"io"
	"os"
)

// magic ends a file with an attached program. Before it is the size of that program in bytes, as 8 bytes, most
// significant first.
const magic = "\nlinerate-agent\n"

const trailer = 8 + len(magic)

// elf begins every ELF file.
const elf = "\x7fELF"

// section returns the attached program of a file. It is nil if there is none.
func section(f *os.File) (*io.SectionReader, error) {
	info, err := f.Stat()
	if err != nil || info.Size() < int64(trailer) {
		return nil, err
	}
	end := info.Size() - int64(trailer)
	tail := make([]byte, trailer)
	if _, err := f.ReadAt(tail, end); err != nil {
		return nil, err
	}
	if string(tail[8:]) != magic {
		return nil, nil
	}
	size := binary.BigEndian.Uint64(tail)
	if size > uint64(end) {
		return nil, fmt.Errorf("%s: the attached program of %d bytes is larger than the file", f.Name(), size)
	}
	s := io.NewSectionReader(f, end-int64(size), int64(size))
	head := make([]byte, len(elf))
	if _, err := s.ReadAt(head, 0); err != nil || string(head) != elf {
		return nil, fmt.Errorf("%s: what is attached is no program: %w", f.Name(),
			errors.Join(err, errors.ErrUnsupported))
	}
	return s, nil
}

// Find returns the program that is attached to a file. It is nil if none is.
func Find(file string) ([]byte, error) {
	f, err := os.Open(file)
	if err != nil {
		return nil, err
	}
	defer f.Close()
	program, err := section(f)
	if program == nil {
		return nil, err
	}
	return io.ReadAll(program)
}

// Path is the path by which this process executes a program that Open has returned.
func Path(program *os.File) string { return fmt.Sprintf("/proc/self/fd/%d", program.Fd()) }

// Append attaches the program in a file to the file of another one. An earlier attached program is replaced.
func Append(to, program string) error {
	data, err := os.ReadFile(program)
	if err != nil {
		return err
	}
	if !bytes.HasPrefix(data, []byte(elf)) {
		return fmt.Errorf("%s is no ELF file", program)
	}
	f, err := os.OpenFile(to, os.O_RDWR, 0)
	if err != nil {
		return err
	}
	end, err := f.Seek(0, io.SeekEnd)
	if err == nil {
		var earlier *io.SectionReader
		if earlier, err = section(f); earlier != nil {
			end -= earlier.Size() + int64(trailer)
			err = f.Truncate(end)
		}
	}
	if err == nil {
		data = append(binary.BigEndian.AppendUint64(data, uint64(len(data))), magic...)
		_, err = f.WriteAt(data, end)
	}
	return errors.Join(err, f.Close())
}
