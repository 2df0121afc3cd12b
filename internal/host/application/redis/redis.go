// Package redis is Redis as an application of flows: PING, or GET of a key, in the serialization protocol RESP2
// (https://redis.io/docs/latest/develop/reference/protocol-spec/), and a server whose every key has a value of the
// flow's size.
package redis

import (
	"bufio"
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"strconv"
	"strings"

	"linerate/internal/host/application"
	"linerate/internal/model/flow"
)

const (
	// longestLine limits a line of a reply or a command, in bytes.
	longestLine = 4 << 10
	// largestValue is that of Redis, in bytes.
	largestValue = 512 << 20
)

func init() { application.Register(Protocol{}, flow.Redis) }

// Protocol is Redis.
type Protocol struct{}

// Session returns a client's session.
func (Protocol) Session(d *application.Dialer) application.Session {
	return application.NewCoded(d, newCodec(d.Spec()))
}

// codec is the client's end.
type codec struct{ command []byte }

func newCodec(spec flow.Spec) codec {
	key := strings.TrimPrefix(spec.Path, "/")
	if key == "" {
		return codec{[]byte("*1\r\n$4\r\nPING\r\n")}
	}
	return codec{fmt.Appendf(nil, "*2\r\n$3\r\nGET\r\n$%d\r\n%s\r\n", len(key), key)}
}

func (c codec) Append(b []byte, _ application.Request) []byte { return append(b, c.command...) }

func (codec) Payload() int64 { return 0 }

func (codec) Ordered() bool { return true }

func (codec) Parser() application.Parser { return &parser{} }

// parser finds replies.
type parser struct {
	application.Values
	value bool // the rest of a line ends a value
}

func (p *parser) Next(b []byte, pending *application.Pending) (n int, e application.Event, err error) {
	e.Call = pending.Oldest()
	if e.Call == nil {
		return len(b), application.Event{Last: true}, nil
	}
	line, n, whole, err := p.Line(b, longestLine)
	if err != nil || !whole {
		return n, e, err
	}
	line, hasCR := bytes.CutSuffix(line, []byte{'\r'})
	switch {
	case !hasCR || p.value == (len(line) > 0):
		return n, e, fmt.Errorf("malformed reply %q", line)
	case p.value:
		p.value = false
		e.Done, e.Outcome = true, "value"
		return n, e, nil
	}
	switch text := line[1:]; line[0] {
	case '+':
		e.Done, e.Outcome = true, word(text)
	case '-':
		e.Done, e.Outcome, e.Failed = true, word(text), true
	case '$':
		size, err := strconv.ParseInt(string(text), 10, 64)
		switch {
		case err != nil || size < -1 || size > largestValue:
			return n, e, fmt.Errorf("malformed reply %q", line)
		case size < 0:
			e.Done, e.Outcome = true, "nil"
		default:
			p.Await(size)
			p.value = true
		}
	default:
		return n, e, fmt.Errorf("unexpected reply %q", line)
	}
	return n, e, nil
}

// word returns the first word of a reply, which is a name such as PONG, OK or WRONGTYPE.
func word(text []byte) string {
	if string(text) == "PONG" {
		return "PONG" // without an allocation
	}
	const longest = 20
	text, _, _ = bytes.Cut(text, []byte{' '})
	if len(text) == 0 || len(text) > longest || bytes.ContainsFunc(text, func(r rune) bool {
		return (r < 'A' || r > 'Z') && r != '_'
	}) {
		return "other"
	}
	return string(text)
}

// Serve answers PING, and GET of any key with a value of the flow's size.
func (Protocol) Serve(ctx context.Context, s *application.Server) error {
	return s.Answer(ctx, longestLine, func(from *bufio.Reader) (func(io.Writer) error, error) {
		command, err := read(from)
		return func(to io.Writer) error { return answer(to, command, s.Spec) }, err
	})
}

// read reads a command: an array of values, or a line (an inline command). It returns the first word.
func read(from *bufio.Reader) (command string, err error) {
	line, err := readLine(from)
	if err != nil || len(line) == 0 || line[0] != '*' {
		word, _, _ := strings.Cut(line, " ")
		return word, err
	}
	const mostWords = 16
	words, err := strconv.Atoi(line[1:])
	if err != nil || words < 1 || words > mostWords {
		return "", errors.New("not an array of words")
	}
	for i := range words {
		size, err := readLine(from)
		if err != nil {
			return "", err
		}
		n, err := strconv.Atoi(strings.TrimPrefix(size, "$"))
		if err != nil || n < 0 || n > longestLine {
			return "", errors.New("not a word")
		}
		word, err := readLine(from)
		if err != nil || len(word) != n {
			return "", errors.Join(errors.New("not a word"), err)
		}
		if i == 0 {
			command = word
		}
	}
	return command, nil
}

// readLine returns a line without CRLF.
func readLine(from *bufio.Reader) (string, error) {
	line, err := from.ReadSlice('\n')
	return strings.TrimSuffix(string(line[:max(0, len(line)-1)]), "\r"), err
}

// answer writes a reply.
func answer(to io.Writer, command string, spec flow.Spec) error {
	switch strings.ToUpper(command) {
	case "PING":
		_, err := io.WriteString(to, "+PONG\r\n")
		return err
	case "GET":
		return application.WriteValue(to, spec, func(size int64) string { return fmt.Sprintf("$%d\r\n", size) }, "\r\n")
	}
	_, err := io.WriteString(to, "-ERR unknown command\r\n")
	return err
}
