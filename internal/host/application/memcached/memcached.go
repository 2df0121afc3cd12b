// Package memcached is memcached as an application of flows: get of a key in the text protocol
// (https://docs.memcached.org/protocols/basic/), and a server whose every key has a value of the flow's size.
package memcached

import (
	"bufio"
	"bytes"
	"cmp"
	"context"
	"fmt"
	"io"
	"strconv"
	"strings"

	"linerate/internal/host/application"
	"linerate/internal/model/flow"
)

const (
	// longestLine limits a line, in bytes.
	longestLine = 2 << 10
	// largestValue is the highest that memcached can be configured for, in bytes.
	largestValue = 1 << 30
	// anyKey is read if the flow names none.
	anyKey = "linerate"
)

func init() { application.Register(Protocol{}, flow.Memcached) }

// Protocol is memcached.
type Protocol struct{}

// Session returns a client's session.
func (Protocol) Session(d *application.Dialer) application.Session {
	key := cmp.Or(strings.TrimPrefix(d.Spec().Path, "/"), anyKey)
	return application.NewCoded(d, codec{[]byte("get " + key + "\r\n")})
}

// codec is the client's end.
type codec struct{ command []byte }

func (c codec) Append(b []byte, _ application.Request) []byte { return append(b, c.command...) }

func (codec) Payload() int64 { return 0 }

func (codec) Ordered() bool { return true }

func (codec) Parser() application.Parser { return &parser{} }

// parser finds replies: a value and END, or END alone.
type parser struct {
	application.Values
	value bool // a value has been announced
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
	line = bytes.TrimSuffix(line, []byte{'\r'})
	words := bytes.Fields(line)
	switch {
	case len(words) == 1 && string(words[0]) == "END":
		e.Done, e.Outcome = true, "miss"
		if p.value {
			e.Outcome = "hit"
		}
		p.value = false
	case len(words) >= 4 && string(words[0]) == "VALUE" && !p.value:
		size, err := strconv.ParseInt(string(words[3]), 10, 64)
		if err != nil || size < 0 || size > largestValue {
			return n, e, fmt.Errorf("malformed reply %q", line)
		}
		p.Await(size + int64(len("\r\n")))
		p.value = true
	case len(words) > 0 && (string(words[0]) == "ERROR" || string(words[0]) == "SERVER_ERROR" ||
		string(words[0]) == "CLIENT_ERROR"):
		e.Done, e.Outcome, e.Failed = true, string(words[0]), true
		p.value = false
	default:
		return n, e, fmt.Errorf("unexpected reply %q", line)
	}
	return n, e, nil
}

// Serve answers get of any key with a value of the flow's size.
func (Protocol) Serve(ctx context.Context, s *application.Server) error {
	return s.Answer(ctx, longestLine, func(from *bufio.Reader) (func(io.Writer) error, error) {
		line, err := from.ReadSlice('\n')
		words := strings.Fields(string(line))
		return func(to io.Writer) error { return answer(to, words, s.Spec) }, err
	})
}

// answer writes a reply.
func answer(to io.Writer, words []string, spec flow.Spec) error {
	if len(words) != 2 || words[0] != "get" {
		_, err := io.WriteString(to, "ERROR\r\n")
		return err
	}
	return application.WriteValue(to, spec, func(size int64) string {
		return fmt.Sprintf("VALUE %s 0 %d\r\n", words[1], size)
	}, "\r\nEND\r\n")
}
