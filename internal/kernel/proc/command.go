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

// secrets are the variables that no child inherits. systemd passes credentials in CREDENTIALS_DIRECTORY
// (systemd.exec(5)).
var secrets = []string{TokenVariable, Iperf3PasswordVariable, "CREDENTIALS_DIRECTORY"}

// ChildEnvironment returns this process's environment without secrets, because everything a child starts
// inherits its environment, and /proc/PID/environ shows it.
func ChildEnvironment() []string {
	return slices.DeleteFunc(os.Environ(), func(variable string) bool {
		name, _, _ := strings.Cut(variable, "=")
		return slices.Contains(secrets, name)
	})
}

// Command is exec.Command with ChildEnvironment. Only it and output start linerate's children.
func Command(name string, arguments ...string) *exec.Cmd {
	cmd := exec.Command(name, arguments...)
	cmd.Env = ChildEnvironment()
	return cmd
}

// output runs a program with the given input (nil: none) and returns at most most bytes of its output. The
// program is killed after takes. The error of a failed program is the first line of its standard error; that of
// a program not on the PATH wraps exec.ErrNotFound.
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
	// or a child of it did not end
	case errors.Is(ctx.Err(), context.DeadlineExceeded), errors.Is(err, exec.ErrWaitDelay):
		return nil, fmt.Errorf("%s did not end within %v", program, takes)
	case err != nil:
		first, _, _ := strings.Cut(strings.TrimSpace(wrong.String()), "\n")
		return nil, errors.New(program + ": " + cmp.Or(plain.Short(first, 200), err.Error()))
	}
	return out.Bytes(), nil
}
