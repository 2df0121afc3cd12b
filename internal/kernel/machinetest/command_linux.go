package machinetest

import (
	"bufio"
	"encoding/base64"
	"fmt"
	"io"
	"math/rand/v2"
	"net"
	"strconv"
	"strings"
	"time"
)

// channel executes commands in a machine; see serve in init.sh for its protocol.
type channel struct {
	conn net.Conn
	in   *bufio.Reader
}

func newChannel(conn net.Conn) *channel { return &channel{conn, bufio.NewReader(conn)} }

// largestOutput bounds the output of a command.
const largestOutput = 64 << 20

// ready waits until the machine reads requests. Before, a terminal would echo them.
func (c *channel) ready(timeout time.Duration) error {
	if err := c.conn.SetDeadline(time.Now().Add(timeout)); err != nil {
		return err
	}
	for {
		line, err := c.in.ReadString('\n')
		if err != nil {
			return err
		}
		if strings.TrimSpace(line) == "ready" {
			return nil
		}
	}
}

// execute executes a shell script and returns its output and exit status. The shell is
// killed after timeout.
func (c *channel) execute(script string, timeout time.Duration) (output string, status int, err error) {
	if err := c.conn.SetDeadline(time.Now().Add(timeout + replyTimeout)); err != nil {
		return "", 0, err
	}
	id := strconv.FormatUint(rand.Uint64(), 16)
	seconds := (timeout + time.Second - 1) / time.Second
	if _, err := fmt.Fprintf(c.conn, "%s %d %s\n", id, seconds,
		base64.StdEncoding.EncodeToString([]byte(script))); err != nil {
		return "", 0, err
	}
	for {
		line, err := c.in.ReadString('\n')
		if err != nil {
			return "", 0, err
		}
		words := strings.Fields(line)
		if len(words) != 3 {
			continue // "ready"
		}
		status, notStatus := strconv.Atoi(words[1])
		length, notLength := strconv.Atoi(words[2])
		if notStatus != nil || notLength != nil || length < 0 || length > largestOutput {
			return "", 0, fmt.Errorf("response %q: want ID STATUS LENGTH", line)
		}
		text := make([]byte, length)
		if _, err := io.ReadFull(c.in, text); err != nil {
			return "", 0, err
		}
		// A client that has gone may have left a response behind.
		if words[0] == id {
			return string(text), status, nil
		}
	}
}
