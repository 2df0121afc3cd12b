package reach

import (
	"path"
	"slices"
)

// localCommands execute another command on this machine; remoteCommands execute it elsewhere, or
// without this machine's files.
var (
	localCommands = []string{"ip", "nsenter", "unshare", "sudo", "doas", "setpriv", "env", "chroot", "nice",
		"timeout", "taskset", "linerate"} // linerate lab exec
	remoteCommands = []string{"ssh", "rsh", "kubectl", "oc", "docker", "podman", "nerdctl", "crictl", "lxc",
		"lxc-attach", "incus", "machinectl", "limactl", "vagrant", "adb"}
)

// Program returns what a command executes as linerate: own, the path of this program, if the
// command stays on this machine, and otherwise "linerate", which is looked up in the PATH there.
// All words of the command count: sudo stays here, and sudo ssh nas does not.
func Program(via []string, own string) string {
	leaves := slices.ContainsFunc(via, func(word string) bool {
		return slices.Contains(remoteCommands, path.Base(word))
	})
	if !leaves && (via[0] == own || slices.Contains(localCommands, path.Base(via[0]))) {
		return own
	}
	return "linerate"
}
