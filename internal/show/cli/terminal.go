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

// leastWidth and mostWidth bound the width of output lines. defaultWidth applies if the width is
// unknown.
const (
	leastWidth, mostWidth = 60, 200
	defaultWidth          = 80
)

// columns returns the width of lines written to w: $COLUMNS, as defined by POSIX, or else the width
// of the terminal that w is.
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

// terminalWidth returns the width of the terminal that w writes to, in columns; 0: unknown. A
// terminal that cannot move its cursor or show colours (TERM=dumb) does not count as one.
func terminalWidth(w io.Writer) (width int, terminal bool) {
	file, ok := fileOf(w)
	if !ok || !term.IsTerminal(int(file.Fd())) {
		return 0, false
	}
	width, _, _ = term.GetSize(int(file.Fd()))
	return width, os.Getenv("TERM") != "dumb"
}

// say prints what is not an answer: notes, errors, names of written files. On a terminal, or if
// $COLUMNS is set, it wraps to the width; in a pipe or a log, a message is one line.
func say(w io.Writer, format string, args ...any) {
	width := 0
	if terminal, _ := terminalWidth(w); terminal > 0 || os.Getenv("COLUMNS") != "" {
		width = columns(w)
	}
	_, _ = io.WriteString(w, text.Message(fmt.Sprintf(format, args...), width)) // no error can be reported
}

// textOptions fits a report to its output: its width, and colour on a terminal unless NO_COLOR
// (no-color.org) is set.
func textOptions(w io.Writer, page string) text.Options {
	_, terminal := terminalWidth(w)
	return text.Options{Page: page, Width: columns(w), Color: terminal && os.Getenv("NO_COLOR") == ""}
}

// filter is a stream that people read, such as a terminal or a log. Everything that linerate writes
// to people goes through it. It replaces what would act on a terminal, except line feeds, tabs and
// the attributes of package text.
type filter struct {
	to   io.Writer
	mu   sync.Mutex
	rest []byte // an incomplete character, attribute or line end, which the next write completes
}

// filtered returns the streams for standard output and standard error. Messages always go through a
// filter, output only if it goes to a terminal: elsewhere it may be a picture, an archive or a
// protocol.
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

// unfiltered returns the stream below a filter or a log.
func unfiltered(w io.Writer) io.Writer {
	switch w := w.(type) {
	case *filter:
		return w.to
	case *logWriter:
		return unfiltered(w.to)
	}
	return w
}

// fileOf returns the file that a stream of the process writes to.
func fileOf(w io.Writer) (file *os.File, is bool) {
	file, is = unfiltered(w).(*os.File)
	return file, is
}

// lastWords is how long a command that a signal has ended waits for its messages to be written. The
// reader may have stopped, and must not keep the process alive.
const lastWords = 500 * time.Millisecond

// logQueue is the largest number of messages waiting to be written.
const logQueue = 1000

// logWriter is the standard error of a process that others depend on. Write never blocks: the
// reader of the log may have stopped, as a pager does, and a full pipe must not stop the server.
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

// one writes a message, and before it how many are missing.
func (l *logWriter) one(m []byte) {
	if n := l.dropped.Swap(0); n > 0 {
		fmt.Fprintf(l.to, "%s not logged: the log was not read\n", unit.Plural(int(n), "message"))
	}
	_, _ = l.to.Write(m) // an error could not be reported
}

func (l *logWriter) Write(p []byte) (int, error) {
	select {
	case l.messages <- bytes.Clone(p):
	default:
		l.dropped.Add(1)
	}
	return len(p), nil
}

// close writes what is queued, for at most lastWords. Later writes are lost, such as those of a
// session that outlives the server.
func (l *logWriter) close() {
	close(l.end)
	select {
	case <-l.written:
	case <-time.After(lastWords):
	}
}
