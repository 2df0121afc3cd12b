package bus

import (
	"bufio"
	"bytes"
	"errors"
	"fmt"
	"net"
	"strconv"
)

// Guarded makes a stream fit to Join for an agent that does not trust its
// conductor. The client library believes whatever size a message claims to have;
// here what is no message of the protocol, and what is larger than maxBytes, ends
// the stream instead.
func Guarded(stream net.Conn, maxBytes int) net.Conn {
	return &guarded{Conn: stream, r: bufio.NewReaderSize(stream, maxLine), max: maxBytes}
}

type guarded struct {
	net.Conn
	r    *bufio.Reader
	max  int
	line []byte // of the current operation, still to be passed on
	body int    // bytes that follow it, still to be passed on
	err  error
}

func (g *guarded) Read(p []byte) (int, error) {
	if len(g.line) == 0 && g.body == 0 && g.err == nil {
		g.err = g.next()
	}
	switch {
	case g.err != nil:
		return 0, g.err
	case len(p) == 0:
		return 0, nil
	case len(g.line) > 0:
		n := copy(p, g.line)
		g.line = g.line[n:]
		return n, nil
	}
	n, err := g.r.Read(p[:min(len(p), g.body)])
	g.body -= n
	g.err = err
	return n, err
}

// next reads one operation's line and learns how much follows it.
func (g *guarded) next() error {
	line, err := g.r.ReadSlice('\n')
	if errors.Is(err, bufio.ErrBufferFull) {
		return fmt.Errorf("the bus: a line of more than %d bytes", maxLine)
	}
	if err != nil {
		return err
	}
	g.body, err = bodyLength(line, g.max)
	if err != nil {
		return err
	}
	g.line = bytes.Clone(line) // reading the body moves the buffer
	return nil
}

// bodyLength is how many bytes follow an operation that a server may send to an
// agent: INFO, MSG, PING, PONG, +OK or -ERR. An agent asks for no headers, so
// that there is no HMSG.
func bodyLength(line []byte, most int) (int, error) {
	text, complete := bytes.CutSuffix(line, []byte("\r\n"))
	if !complete || bytes.ContainsAny(text, "\r\t") {
		return 0, fmt.Errorf("the bus: an unfinished line %.40q", line)
	}
	verb, rest, _ := bytes.Cut(text, []byte(" "))
	switch string(verb) {
	case "INFO", "PING", "PONG", "+OK", "-ERR":
		return 0, nil
	case "MSG": // subject, subscription, reply (if wanted), size
		words := bytes.Split(rest, []byte(" "))
		if len(words) != 3 && len(words) != 4 {
			break
		}
		size, err := strconv.ParseUint(string(words[len(words)-1]), 10, 31)
		if err != nil {
			break
		}
		if int(size) > most {
			return 0, fmt.Errorf("the bus: a message of %d bytes, and %d are the most here", size, most)
		}
		return int(size) + len("\r\n"), nil
	}
	return 0, fmt.Errorf("the bus: expected a message, not %.40q", line)
}
