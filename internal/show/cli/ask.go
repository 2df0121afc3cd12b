package cli

import (
	"bufio"
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"strings"

	"golang.org/x/term"
)

// asks reports whether the user is at a terminal and can be asked.
func (s streams) asks() bool {
	in, isFile := s.in.(*os.File)
	_, shown := terminalWidth(s.err)
	return isFile && shown && term.IsTerminal(int(in.Fd()))
}

// input returns standard input until ctx ends, as by Ctrl-C. Reading then fails with
// ExitInterrupted.
func (s streams) input(ctx context.Context) io.Reader { return untilDone{ctx, s.in} }

// untilDone is a reader that fails once its context ends.
type untilDone struct {
	ctx context.Context
	in  io.Reader
}

func (u untilDone) Read(p []byte) (int, error) {
	type result struct {
		data []byte
		err  error
	}
	const most = 64 << 10 // a pipe holds no more
	read := make(chan result, 1)
	go func() { // without input it ends with the process
		buffer := make([]byte, min(len(p), most))
		n, err := u.in.Read(buffer)
		read <- result{buffer[:n], err}
	}()
	select {
	case r := <-read:
		return copy(p, r.data), r.err
	case <-u.ctx.Done():
		return 0, statusError{ExitInterrupted, errors.New("interrupted")}
	}
}

// confirm asks a question that is answered with yes or no.
func (s streams) confirm(ctx context.Context, question string) (bool, error) {
	fmt.Fprint(s.err, question+" [y/N] ")
	answers := make(chan string, 1)
	go func() { // ends with the process if there is no answer
		line, _ := bufio.NewReader(s.in).ReadString('\n') // no line: no
		answers <- line
	}()
	select {
	case line := <-answers:
		answer := strings.ToLower(strings.TrimSpace(line))
		return answer == "y" || answer == "yes", nil
	case <-ctx.Done():
		return false, context.Cause(ctx)
	}
}
