package machinetest

import (
	"fmt"
	"io"
	"net"
	"os"
	"time"
)

// Sockets of a QEMU machine, in its directory, and its devices at their other ends. By the
// first, commands are executed whose standard input and output are the second.
const (
	agentsSocket = "agents.sock"
	streamSocket = "stream.sock"
	streamDevice = "/dev/vport0p3"
)

// agentTimeout bounds the life of an agent.
const agentTimeout = 24 * time.Hour

// Via returns the command that reaches an agent on the machine, for `via:` in a study. As
// with ssh(1), the words after it are executed in the machine, and it exits with the
// status of that command. Commands run one at a time.
func (r *Running) Via() []string {
	self, err := os.Executable()
	if err != nil {
		self = os.Args[0]
	}
	return []string{self, connectArgument, r.dir}
}

// connect is the program of Via: DIR COMMAND…
func connect(args []string) int {
	status, err := attach(args[0], args[1:])
	if err != nil {
		fmt.Fprintln(os.Stderr, err)
		return 1
	}
	return status
}

func attach(dir string, words []string) (int, error) {
	conn, err := dialIn(dir, agentsSocket)
	if err != nil {
		return 0, err
	}
	defer conn.Close()
	agents := newChannel(conn)
	// The response comes when an earlier command has ended and the stream is free.
	if _, _, err := agents.execute("true", agentTimeout); err != nil {
		return 0, err
	}
	stream, err := net.Dial("unix", streamSocket)
	if err != nil {
		return 0, err
	}
	defer stream.Close()
	// Until the machine knows of the connection, reading finds the end of the stream but
	// writing waits (drivers/char/virtio_console.c): so it writes first.
	script := "exec 0<>" + streamDevice + " 1>&0; echo; exec" + quoted(words)
	go func() {
		if _, err := io.ReadFull(stream, make([]byte, 1)); err != nil {
			return
		}
		go func() {
			_, _ = io.Copy(stream, os.Stdin)
			stream.Close() // which is the end of the command's standard input
		}()
		_, _ = io.Copy(os.Stdout, stream)
	}()
	messages, status, err := agents.execute(script, agentTimeout)
	fmt.Fprint(os.Stderr, messages)
	return status, err
}
