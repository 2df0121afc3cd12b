package file

import (
	"encoding/json"
	"errors"
	"fmt"
	"net"
	"os"

	"golang.org/x/sys/unix"
)

// OpenPTY opens a pseudoterminal (pty(7)): its controlling side and the terminal.
func OpenPTY() (controller, terminal *os.File, err error) {
	fd, err := unix.Open("/dev/ptmx", unix.O_RDWR|unix.O_NOCTTY|unix.O_CLOEXEC, 0)
	if err != nil {
		return nil, nil, fmt.Errorf("opening /dev/ptmx: %w", err)
	}
	number, err := unix.IoctlGetInt(fd, unix.TIOCGPTN)
	if err == nil {
		err = unix.IoctlSetPointerInt(fd, unix.TIOCSPTLCK, 0)
	}
	if err != nil {
		unix.Close(fd)
		return nil, nil, fmt.Errorf("unlocking a pseudoterminal: %w", err)
	}
	controller = os.NewFile(uintptr(fd), "/dev/ptmx")
	terminal, err = os.OpenFile(fmt.Sprintf("/dev/pts/%d", number), os.O_RDWR|unix.O_NOCTTY, 0)
	if err != nil {
		controller.Close()
		return nil, nil, err
	}
	return controller, terminal, nil
}

// CopyWindowSize sets the size of a terminal to that of another (ioctl_tty(2)).
func CopyWindowSize(from, to *os.File) error {
	size, err := unix.IoctlGetWinsize(int(from.Fd()), unix.TIOCGWINSZ)
	if err != nil {
		return err
	}
	return unix.IoctlSetWinsize(int(to.Fd()), unix.TIOCSWINSZ, size)
}

// SendFiles sends a JSON value and open files over a unix socket (unix(7), SCM_RIGHTS). It
// fails unless the peer is a process of the same user.
func SendFiles(conn *net.UnixConn, value any, files ...*os.File) error {
	if err := checkPeerUser(conn); err != nil {
		return err
	}
	data, err := json.Marshal(value)
	if err != nil {
		return err
	}
	var fds []int
	for _, f := range files {
		fds = append(fds, int(f.Fd()))
	}
	_, _, err = conn.WriteMsgUnix(data, unix.UnixRights(fds...), nil)
	return err
}

// ReceiveFiles receives what SendFiles sent, with at most 256 KiB of JSON. It fails unless
// the peer is a process of the same user. The files are close-on-exec.
func ReceiveFiles(conn *net.UnixConn, value any) ([]*os.File, error) {
	if err := checkPeerUser(conn); err != nil {
		return nil, err
	}
	data, control := make([]byte, 256<<10), make([]byte, 4096)
	n, c, _, _, err := conn.ReadMsgUnix(data, control)
	if err != nil {
		return nil, err
	}
	var files []*os.File
	messages, err := unix.ParseSocketControlMessage(control[:c])
	if err != nil {
		return nil, err
	}
	for _, m := range messages {
		fds, err := unix.ParseUnixRights(&m)
		if err != nil {
			continue
		}
		for _, fd := range fds {
			unix.CloseOnExec(fd)
			files = append(files, os.NewFile(uintptr(fd), "received"))
		}
	}
	if err := json.Unmarshal(data[:n], value); err != nil {
		for _, f := range files {
			f.Close()
		}
		return nil, err
	}
	return files, nil
}

// checkPeerUser returns an error unless the process at the other end of a unix socket runs
// as this process's user (SO_PEERCRED, unix(7)).
func checkPeerUser(conn *net.UnixConn) error {
	raw, err := conn.SyscallConn()
	if err != nil {
		return err
	}
	var cred *unix.Ucred
	var credErr error
	if err := raw.Control(func(fd uintptr) {
		cred, credErr = unix.GetsockoptUcred(int(fd), unix.SOL_SOCKET, unix.SO_PEERCRED)
	}); err != nil {
		return err
	}
	if credErr != nil {
		return credErr
	}
	if int(cred.Uid) != os.Getuid() {
		return errors.New("the lab belongs to another user")
	}
	return nil
}
