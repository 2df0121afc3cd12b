package proc

import (
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
)

// places are the directories of administration programs, which are often not in the PATH of ordinary users.
var places = []string{"/usr/sbin", "/usr/local/sbin", "/sbin"}

// Find returns the path of a program: in the PATH, or otherwise in a directory of administration programs.
func Find(name string) (string, error) {
	path, err := exec.LookPath(name)
	for _, dir := range places {
		if err != nil {
			path, err = exec.LookPath(filepath.Join(dir, name))
		}
	}
	return path, err
}

// HasUser reports whether this process's user namespace has a user with this ID (user_namespaces(7), uid_map).
func (p Proc) HasUser(uid int) bool {
	text, _ := os.ReadFile(p.path("self/uid_map"))
	for line := range strings.Lines(string(text)) {
		var first, outside, length int
		if _, err := fmt.Sscan(line, &first, &outside, &length); err == nil && uid >= first && uid-first < length {
			return true
		}
	}
	return false
}
