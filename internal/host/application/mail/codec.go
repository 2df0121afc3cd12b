package mail

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"net/textproto"
	"strconv"

	"linerate/internal/host/application"
	"linerate/internal/kernel/sched"
	"linerate/internal/model/record"
)

// longestReply limits a reply of the server including all its lines, in bytes.
const longestReply = 16 << 10

// codec is the client's end: a request is a mail, delivered by three commands and its text.
type codec struct {
	mail      []byte
	encrypted bool
}

func (*codec) Append(b []byte, _ application.Request) []byte {
	return append(b, "MAIL FROM:<"+sender+">\r\n"...)
}

func (*codec) Payload() int64 { return 0 }

func (*codec) Ordered() bool { return true }

func (c *codec) Parser() application.Parser { return &parser{mail: c.mail} }

// parser follows the dialogue of a mail.
type parser struct {
	application.Whole
	lines application.Lines
	mail  []byte
	bytes int    // of the reply so far
	code  string // of its earlier lines
	step  int    // of the dialogue
}

// steps are the replies that a mail needs, and what each is followed by. 251: the server forwards the mail (RFC 5321,
// section 4.3.2).
var steps = [...]struct {
	want string
	send []byte // nil: the mail, and nothing after that
}{{"250", []byte("RCPT TO:<" + recipient + ">\r\n")}, {"25", []byte("DATA\r\n")}, {want: "354"}, {want: "250"}}

// Next takes the reply to MAIL as the beginning of the answer.
func (p *parser) Next(b []byte, pending *application.Pending) (n int, e application.Event, err error) {
	e.Call = pending.Oldest()
	if e.Call == nil {
		return len(b), application.Event{Last: true}, nil
	}
	line, n, whole := p.lines.Next(b)
	if p.bytes += n; p.bytes > longestReply {
		return n, e, errLongReply
	}
	if !whole {
		return n, e, nil
	}
	code, last, err := parseReply(line)
	if err != nil || p.code != "" && string(code) != p.code {
		return n, e, errors.Join(err, errReply)
	}
	if !last {
		p.code = string(code)
		return n, e, nil
	}
	p.bytes, p.code = 0, ""
	step := &steps[p.step]
	switch p.step++; {
	case !bytes.HasPrefix(code, []byte(step.want)): // the state of the dialogue is unknown
		e.Done, e.Last, e.Failed, e.Outcome = true, true, true, string(code)
	case p.step == len(steps):
		e.Done, e.Outcome, p.step = true, "250", 0
	case step.send == nil:
		e.Send = p.mail
	default:
		e.Send = step.send
	}
	return n, e, nil
}

var (
	errLongReply = errors.New("a reply of more than 16 KiB")
	errReply     = errors.New("malformed reply")
)

// parseReply returns the code of a reply's line, and whether it is the last one (RFC 5321, section 4.2).
func parseReply(line []byte) (code []byte, last bool, err error) {
	line = bytes.TrimSuffix(line, []byte{'\r'})
	if len(line) < 4 || line[0] < '1' || line[0] > '5' || line[1] < '0' || line[1] > '9' || line[2] < '0' ||
		line[2] > '9' || line[3] != ' ' && line[3] != '-' {
		return nil, false, errReply
	}
	return line[:3], line[3] == ' ', nil
}

// Greet waits for the server's greeting, and starts TLS if the flow has it.
func (c *codec) Greet(ctx context.Context, o *application.Opening) error {
	err := c.greet(ctx, o)
	if refusal, refused := errors.AsType[*textproto.Error](err); refused {
		return &application.Refusal{Code: strconv.Itoa(refusal.Code), Err: err}
	}
	return err
}

func (c *codec) greet(ctx context.Context, o *application.Opening) error {
	began := sched.Now()
	d, err := newDialogue(ctx, o)
	if err != nil {
		return err
	}
	if err := d.expect(220); err != nil {
		return err
	}
	if err := d.command(250, "EHLO linerate.test"); err != nil {
		return err
	}
	if c.encrypted {
		if err := d.command(220, "STARTTLS"); err != nil {
			return fmt.Errorf("STARTTLS: %w", err)
		}
	}
	// What came before the handshake would be the attacker's (RFC 3207, section 6).
	if d.text.R.Buffered() > 0 {
		return errors.New("the server has sent more than it was asked for")
	}
	o.Phase(record.PhaseGreeting, began)
	if !c.encrypted {
		return nil
	}
	if err := o.StartTLS(ctx); err != nil {
		return err
	}
	began = sched.Now()
	if d, err = newDialogue(ctx, o); err != nil {
		return err
	}
	if err := d.command(250, "EHLO linerate.test"); err != nil {
		return err
	}
	if d.text.R.Buffered() > 0 {
		return errors.New("the server has sent more than it was asked for")
	}
	o.Phase(record.PhaseGreeting, began)
	return nil
}

// dialogue is commands with their replies, one after the other.
type dialogue struct {
	text  *textproto.Conn
	limit *io.LimitedReader
}

// newDialogue begins a dialogue that ends with ctx.
func newDialogue(ctx context.Context, o *application.Opening) (*dialogue, error) {
	stream := o.Stream()
	at, _ := ctx.Deadline()
	d := &dialogue{limit: &io.LimitedReader{R: stream}}
	d.text = textproto.NewConn(struct {
		io.Reader
		io.WriteCloser
	}{d.limit, stream})
	return d, stream.SetDeadline(at)
}

// command sends a command and expects a reply.
func (d *dialogue) command(want int, text string) error {
	if err := d.text.PrintfLine("%s", text); err != nil {
		return err
	}
	return d.expect(want)
}

// expect reads a reply; an unexpected one is returned as a *textproto.Error.
func (d *dialogue) expect(want int) error {
	d.limit.N = longestReply
	_, _, err := d.text.ReadResponse(want)
	if err != nil && d.limit.N <= 0 {
		return errLongReply
	}
	return err
}
