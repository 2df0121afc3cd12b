package attached

import (
	"errors"
	"io"
	"os"

	"golang.org/x/sys/unix"

	"linerate/internal/kernel"
)

// Open copies the program of a lab's hosts that is attached to a file into memory, from which it can be executed by its
// Path while the returned file is open. The processes share its pages. It returns nil if none is attached.
func Open(file string) (*os.File, error) {
	f, err := os.Open(file)
	if err != nil {
		return nil, err
	}
	defer f.Close()
	found, _, err := sections(f)
	program := found[Lab]
	if program == nil {
		return nil, err
	}
	const op, object = "make", "a program in memory (memfd_create)"
	fd, err := unix.MemfdCreate("linerate-agent", unix.MFD_CLOEXEC|unix.MFD_EXEC)
	if errors.Is(err, unix.EINVAL) { // before Linux 6.3
		fd, err = unix.MemfdCreate("linerate-agent", unix.MFD_CLOEXEC)
	}
	if err != nil {
		return nil, &kernel.Error{Op: op, Object: object, Err: err}
	}
	memory := os.NewFile(uintptr(fd), "linerate-agent")
	defer memory.Close()
	if _, err := io.Copy(memory, program); err != nil {
		return nil, &kernel.Error{Op: op, Object: object, Err: err}
	}
	// The kernel executes no file that is open for writing (ETXTBSY).
	return os.Open(Path(memory))
}
