package machinetest

import (
	"errors"
	"fmt"
	"io"
	"net"
	"os"
	"path/filepath"
	"strings"
	"time"
)

// Exec returns the command for `go test -exec`. The words after it are executed in the machine,
// which must have a Tree, as root, with the caller's working directory and environment, except
// that HOME and TMPDIR are the machine's own. When the words' command has ended, Exec's command
// writes both of its output streams to standard output, and exits with its status. Commands run
// one at a time.
func (r *Running) Exec() []string {
	self, err := os.Executable()
	if err != nil {
		self = os.Args[0]
	}
	return []string{self, executeArgument, r.dir}
}

// executionTimeout bounds a command of Exec. That of go test is shorter.
const executionTimeout = time.Hour

// listen makes the socket by which the programs of Exec reach the machine.
func (r *Running) listen() error {
	if r.executions == nil {
		return nil
	}
	dir, err := os.Open(r.dir)
	if err != nil {
		return err
	}
	defer dir.Close()
	// The path of a socket has at most 108 bytes, and the directory's may be longer.
	listener, err := net.Listen("unix", fmt.Sprintf("/proc/self/fd/%d/%s", dir.Fd(), agentsSocket))
	if err != nil {
		return err
	}
	go func() {
		defer listener.Close()
		ready := newChannel(r.executions).ready(bootTimeout)
		for ready == nil {
			client, err := listener.Accept()
			if err != nil {
				return
			}
			r.relay(client)
		}
	}()
	go func() {
		<-r.ended
		listener.Close()
	}()
	return nil
}

// relay connects a client with the machine until the client has gone.
func (r *Running) relay(client net.Conn) {
	_ = r.executions.SetDeadline(time.Time{})
	returned := make(chan struct{})
	go func() {
		defer close(returned)
		_, _ = io.Copy(client, r.executions)
	}()
	_, _ = io.Copy(r.executions, client)
	_ = r.executions.SetReadDeadline(time.Now()) // ends the other direction
	<-returned
	client.Close()
}

// executeInTree is the program of Exec: DIR COMMAND…
func executeInTree(args []string) int {
	status, err := executeOnce(args[0], args[1:])
	if err != nil {
		fmt.Fprintln(os.Stderr, err)
		return 1
	}
	return status
}

func executeOnce(dir string, words []string) (int, error) {
	working, err := os.Getwd()
	if err != nil {
		return 0, err
	}
	if len(words) == 0 {
		return 0, errors.New("no command")
	}
	if words[0], err = filepath.Abs(words[0]); err != nil {
		return 0, err
	}
	conn, err := dialIn(dir, agentsSocket)
	if err != nil {
		return 0, err
	}
	defer conn.Close()
	command := []string{"exec", "chroot", ".", "/usr/bin/env", "-i", "-C", working}
	command = append(command, os.Environ()...)
	command = append(command, "HOME=/run/home", "TMPDIR=/run/tmp", "GOTMPDIR=")
	output, status, err := newChannel(conn).execute(quoted(append(command, words...)), executionTimeout)
	fmt.Print(output)
	return status, err
}

// dialIn connects to a socket in a directory, whose path may have more than 108 bytes.
func dialIn(dir, socket string) (net.Conn, error) {
	if err := os.Chdir(dir); err != nil {
		return nil, err
	}
	return net.Dial("unix", socket)
}

// quoted is a command for a shell.
func quoted(words []string) string {
	var b strings.Builder
	for _, word := range words {
		b.WriteString(" '" + strings.ReplaceAll(word, "'", `'\''`) + "'")
	}
	return b.String()
}
