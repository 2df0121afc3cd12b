package cli

import (
	"bufio"
	"context"
	"fmt"
	"os"
	"strconv"
	"strings"

	"golang.org/x/term"

	"linerate/internal/model/record"
	"linerate/internal/model/unit"
	"linerate/internal/science/tuning"
)

// acceptFlag is the value of --accept-RESPONSE.
type acceptFlag struct {
	accepted tuning.Accepted
	name     string
}

func (acceptFlag) Type() string { return "share" }

func (f acceptFlag) String() string {
	if f.accepted[f.name] == 0 {
		return ""
	}
	return strconv.FormatFloat(100*f.accepted[f.name], 'g', -1, 64) + "%"
}

func (f acceptFlag) Set(text string) error {
	share, err := unit.ParseRatio(text)
	if err == nil {
		f.accepted[f.name] = float64(share)
	}
	return err
}

// asker asks on the terminal whether to keep a trade; nil: there is no terminal.
func (f tuneFlags) asker(ctx context.Context, s streams) func(*record.TuneOffer) (bool, error) {
	if f.asJSON || f.quiet || !s.asks() {
		return nil
	}
	return func(o *record.TuneOffer) (bool, error) {
		say(s.err, "%s.\n", tuning.Offered(o))
		return s.confirm(ctx, "Keep it?")
	}
}

// asks says whether there is somebody at a terminal who can be asked.
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
