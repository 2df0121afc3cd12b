package proc

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"os/exec"
	"slices"
	"strings"
	"time"

	"linerate/internal/model/plain"
)

// Environment variables with secrets: the token of linerate's own server and clients, and
// the password of iperf3's.
const (
	TokenVariable          = "LINERATE_TOKEN"
	Iperf3PasswordVariable = "IPERF3_PASSWORD"
)

// secrets are the variables that no child inherits. CREDENTIALS_DIRECTORY is where
// systemd has them (systemd.exec(5)).
var secrets = []string{TokenVariable, Iperf3PasswordVariable, "CREDENTIALS_DIRECTORY"}

// ChildEnvironment is this process's environment without secrets: an environment is
// inherited by all that a child starts, and is in /proc/PID/environ.
func ChildEnvironment() []string {
	return slices.DeleteFunc(os.Environ(), func(variable string) bool {
		name, _, _ := strings.Cut(variable, "=")
		return slices.Contains(secrets, name)
	})
}

// Command is exec.Command with ChildEnvironment. Children of linerate are made by it, or by output.
func Command(name string, arguments ...string) *exec.Cmd {
	cmd := exec.Command(name, arguments...)
	cmd.Env = ChildEnvironment()
	return cmd
}

// output is what a program prints that reads input (nil: nothing). It is killed after takes, and
// prints at most most bytes. The error of a program that failed is the first line of its standard
// error; that of one that is not on the PATH wraps exec.ErrNotFound.
func output(ctx context.Context, takes time.Duration, most int, input io.Reader, program string, arguments ...string) (
	[]byte, error) {
	path, err := exec.LookPath(program)
	if err != nil {
		return nil, fmt.Errorf("%s is not on the PATH: %w", program, exec.ErrNotFound)
	}
	ctx, cancel := context.WithTimeout(ctx, takes)
	defer cancel()
	command := exec.CommandContext(ctx, path, arguments...)
	command.Env, command.WaitDelay, command.Stdin = ChildEnvironment(), takes/4, input
	out, wrong := &FirstBytes{Most: most}, &FirstBytes{Most: 4096}
	command.Stdout, command.Stderr = out, wrong
	err = command.Run()
	switch {
	case out.Len() > most:
		return nil, fmt.Errorf("%s printed more than %d bytes", program, most)
	case errors.Is(ctx.Err(), context.DeadlineExceeded), errors.Is(err, exec.ErrWaitDelay): // or a child of it did not
		return nil, fmt.Errorf("%s did not end within %v", program, takes)
	case err != nil:
		first, _, _ := strings.Cut(strings.TrimSpace(wrong.String()), "\n")
		return nil, errors.New(program + ": " + cmp.Or(plain.Short(first, 200), err.Error()))
	}
	return out.Bytes(), nil
}
