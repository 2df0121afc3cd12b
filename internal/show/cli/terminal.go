package cli

import (
	"bytes"
	"fmt"
	"io"
	"os"
	"slices"
	"strconv"
	"sync"
	"sync/atomic"
	"time"
	"unicode/utf8"

	"golang.org/x/term"

	"linerate/internal/model/plain"
	"linerate/internal/model/unit"
	"linerate/internal/show/text"
)

// Lines of output have at least and at most so many columns, and defaultWidth where
// nothing says how many there are.
const (
	leastWidth, mostWidth = 60, 200
	defaultWidth          = 80
)

// columns is how wide the lines are that go to w: $COLUMNS, as POSIX has it, or else the
// width of the terminal that w is.
func columns(w io.Writer) int {
	width, err := strconv.Atoi(os.Getenv("COLUMNS"))
	if err != nil || width <= 0 {
		width, _ = terminalWidth(w)
	}
	if width <= 0 {
		width = defaultWidth
	}
	return min(max(width, leastWidth), mostWidth)
}

// terminalWidth is how many columns the terminal has that is written to; 0: unknown. A
// terminal that TERM=dumb says cannot move its cursor, or show colours, counts as none.
func terminalWidth(w io.Writer) (width int, terminal bool) {
	file, ok := fileOf(w)
	if !ok || !term.IsTerminal(int(file.Fd())) {
		return 0, false
	}
	width, _, _ = term.GetSize(int(file.Fd()))
	return width, os.Getenv("TERM") != "dumb"
}

// say writes what is not an answer: notes, errors, what was written where. On a terminal, and
// where $COLUMNS is set, it fits the width; in a pipe or a log a message is a line.
func say(w io.Writer, format string, args ...any) {
	width := 0
	if terminal, _ := terminalWidth(w); terminal > 0 || os.Getenv("COLUMNS") != "" {
		width = columns(w)
	}
	_, _ = io.WriteString(w, text.Message(fmt.Sprintf(format, args...), width)) // no error can be reported
}

// textOptions fit a report to where it goes: its width, and colour on a terminal unless
// NO_COLOR (no-color.org) is set.
func textOptions(w io.Writer, page string) text.Options {
	_, terminal := terminalWidth(w)
	return text.Options{Page: page, Width: columns(w), Color: terminal && os.Getenv("NO_COLOR") == ""}
}

// filter is a stream that people read, as a terminal or a log. All that linerate writes goes
// through it: what would act on a terminal is replaced, but line feeds, tabs and the
// attributes of package text.
type filter struct {
	to   io.Writer
	mu   sync.Mutex
	rest []byte // the beginning of a character, of an attribute or a line's end that the next write ends
}

// filtered is standard output and standard error as they are written to: messages always
// through a filter, output where it goes to a terminal. Elsewhere it may be a picture, an
// archive or a protocol.
func filtered(out, errs io.Writer) (io.Writer, io.Writer) {
	if file, is := out.(*os.File); is && term.IsTerminal(int(file.Fd())) {
		out = &filter{to: out}
	}
	return out, &filter{to: errs}
}

func (f *filter) Write(p []byte) (int, error) {
	f.mu.Lock()
	defer f.mu.Unlock()
	pending := append(f.rest, p...)
	clean := make([]byte, 0, len(pending))
	for len(pending) > 0 {
		if n, whole := text.Attribute(pending); n > 0 {
			if !whole {
				break
			}
			clean, pending = append(clean, pending[:n]...), pending[n:]
			continue
		}
		if !utf8.FullRune(pending) || string(pending) == "\r" {
			break
		}
		if bytes.HasPrefix(pending, []byte("\r\n")) { // as ssh(1) ends lines
			pending = pending[1:]
		}
		r, n := utf8.DecodeRune(pending)
		clean, pending = utf8.AppendRune(clean, plain.Rune(r)), pending[n:]
	}
	f.rest = slices.Clone(pending)
	if _, err := f.to.Write(clean); err != nil {
		return 0, err
	}
	return len(p), nil
}

// unfiltered is the stream under a filter or a log.
func unfiltered(w io.Writer) io.Writer {
	switch w := w.(type) {
	case *filter:
		return w.to
	case *logWriter:
		return unfiltered(w.to)
	}
	return w
}

// fileOf is the file that a stream of the process writes to.
func fileOf(w io.Writer) (file *os.File, is bool) {
	file, is = unfiltered(w).(*os.File)
	return file, is
}

// lastWords is how long a command that a signal has ended waits for its messages to be written:
// what reads them may have stopped, and must not keep the process.
const lastWords = 500 * time.Millisecond

// logQueue is how many messages a log holds that are not written yet.
const logQueue = 1000

// logWriter is standard error of a process that others depend on. Write never waits: what
// reads the log may have stopped, as a pager has, and a full pipe must not stop the server.
// Messages beyond logQueue are dropped, and their number is logged when there is room again.
type logWriter struct {
	to           io.Writer
	messages     chan []byte
	dropped      atomic.Int64
	end, written chan struct{} // closed by close, and after the last message
}

func newLogWriter(to io.Writer) *logWriter {
	l := &logWriter{to: to, messages: make(chan []byte, logQueue), end: make(chan struct{}),
		written: make(chan struct{})}
	go l.write()
	return l
}

func (l *logWriter) write() {
	defer close(l.written)
	for {
		select {
		case m := <-l.messages:
			l.one(m)
		case <-l.end:
			for {
				select {
				case m := <-l.messages:
					l.one(m)
				default:
					return
				}
			}
		}
	}
}

// one writes a message, and how many are missing before it.
func (l *logWriter) one(m []byte) {
	if n := l.dropped.Swap(0); n > 0 {
		fmt.Fprintf(l.to, "%s not logged: the log was not read\n", unit.Plural(int(n), "message"))
	}
	_, _ = l.to.Write(m) // no error can be reported
}

func (l *logWriter) Write(p []byte) (int, error) {
	select {
	case l.messages <- bytes.Clone(p):
	default:
		l.dropped.Add(1)
	}
	return len(p), nil
}

// close writes what is queued, for at most lastWords. A Write that follows, as of a session that
// has not ended with the server, is lost.
func (l *logWriter) close() {
	close(l.end)
	select {
	case <-l.written:
	case <-time.After(lastWords):
	}
}
