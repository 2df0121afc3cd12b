package cli

import (
	"bufio"
	"context"
	"fmt"
	"os"
	"strings"

	"golang.org/x/term"
)

// asks says whether the user is at a terminal and can be asked.
func (s streams) asks() bool {
	in, isFile := s.in.(*os.File)
	_, shown := terminalWidth(s.err)
	return isFile && shown && term.IsTerminal(int(in.Fd()))
}

// confirm asks a question that is answered with yes or no.
func (s streams) confirm(ctx context.Context, question string) (bool, error) {
	fmt.Fprint(s.err, question+" [y/N] ")
	answers := make(chan string, 1)
	go func() { // ends with the process where there is no answer
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
