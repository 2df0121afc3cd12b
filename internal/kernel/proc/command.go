package proc

import (
	"os"
	"os/exec"
	"slices"
	"strings"
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

// Command is exec.Command with ChildEnvironment. All children of linerate are made by it.
func Command(name string, arguments ...string) *exec.Cmd {
	cmd := exec.Command(name, arguments...)
	cmd.Env = ChildEnvironment()
	return cmd
}
