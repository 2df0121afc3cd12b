package reach

import (
	"path"
	"slices"
	"strings"
)

// localCommands execute another command on this machine; remoteCommands execute it elsewhere, or
// without this machine's files.
var (
	localCommands = []string{"ip", "nsenter", "unshare", "sudo", "doas", "setpriv", "env", "nice", "timeout",
		"taskset", "linerate"} // linerate lab exec
	remoteCommands = []string{"ssh", "rsh", "kubectl", "oc", "docker", "podman", "nerdctl", "crictl", "lxc",
		"lxc-attach", "incus", "machinectl", "limactl", "vagrant", "adb", "chroot"}
	// otherFiles are options by which nsenter(1) enters a mount namespace, where this machine's files may not be.
	otherFiles = []string{"-m", "--mount", "-a", "--all"}
)

// Program returns what a command executes as linerate: own, the path of this program, if the
// command stays on this machine, and otherwise "linerate", which is looked up in the PATH there.
// All words of the command count: sudo stays here, and sudo ssh nas does not.
func Program(via []string, own string) string {
	enters := false
	leaves := slices.ContainsFunc(via, func(word string) bool {
		enters = enters || path.Base(word) == "nsenter"
		option, _, _ := strings.Cut(word, "=")
		return slices.Contains(remoteCommands, path.Base(word)) || enters && slices.Contains(otherFiles, option)
	})
	if !leaves && (via[0] == own || slices.Contains(localCommands, path.Base(via[0]))) {
		return own
	}
	return "linerate"
}
