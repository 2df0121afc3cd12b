package bus

import (
	"bufio"
	"bytes"
	"errors"
	"fmt"
	"io"
	"net"
	"slices"
	"strconv"
	"sync/atomic"
	"time"
)

// Guarded returns a stream for Join, for an agent that does not trust its conductor. The client
// library of NATS believes any size that a message claims to have. Guarded ends the stream
// instead, when it receives something that is no message of the protocol, or one larger than
// maxBytes.
func Guarded(stream net.Conn, maxBytes int) net.Conn {
	return &guarded{Conn: stream, r: bufio.NewReaderSize(stream, maxLine), length: func(line []byte) (int, error) {
		return bodyLength(line, maxBytes)
	}}
}

type guarded struct {
	net.Conn
	r      *bufio.Reader
	length func(line []byte) (int, error) // of what follows an operation's line, if it may pass
	line   []byte                         // of the current operation, still to be passed on
	body   int                            // bytes that follow it, still to be passed on
	err    error
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
	g.body, err = g.length(line)
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
	return lengthAfter(line, most, "MSG", 3, "INFO", "PING", "PONG", "+OK", "-ERR") // subject, subscription, size
}

// unasked is how many operations a node that is not trusted may send before it is asked:
// its subscriptions, its hello, what it flushes.
const unasked = 256

// bounded makes a reader of an agent's stream that fails at an operation which agents do not
// send, and after more operations than unasked, one for each request and one a second: the
// server keeps memory for each subscription, and for the error of each operation that it refuses.
func bounded(stream *bufio.Reader, requests *atomic.Int64) io.Reader {
	began, sent := time.Now(), int64(0)
	return &guarded{r: stream, length: func(line []byte) (int, error) {
		if sent++; sent > unasked+requests.Load()+int64(time.Since(began)/time.Second) {
			return 0, fmt.Errorf("the bus: the node sent %d operations for %d requests", sent, requests.Load())
		}
		return lengthAfter(line, MaxMessage, "PUB", 2, "SUB", "PING", "PONG") // subject, size
	}}
}

// lengthAfter is how many bytes follow an operation's line: after the verb message, whose line has
// so many words, or one more for a reply's subject, and the size as the last; after others none.
func lengthAfter(line []byte, most int, message string, words int, others ...string) (int, error) {
	text, complete := bytes.CutSuffix(line, []byte("\r\n"))
	if !complete || bytes.ContainsAny(text, "\r\t") {
		return 0, fmt.Errorf("the bus: an unfinished line %.40q", line)
	}
	verb, rest, _ := bytes.Cut(text, []byte(" "))
	if slices.Contains(others, string(verb)) {
		return 0, nil
	}
	has := bytes.Split(rest, []byte(" "))
	size, err := strconv.ParseUint(string(has[len(has)-1]), 10, 31)
	switch {
	case string(verb) != message || len(has) != words && len(has) != words+1 || err != nil:
		return 0, fmt.Errorf("the bus: expected a message, not %.40q", line)
	case int(size) > most:
		return 0, fmt.Errorf("the bus: a message of %d bytes: expected at most %d", size, most)
	}
	return int(size) + len("\r\n"), nil
}
