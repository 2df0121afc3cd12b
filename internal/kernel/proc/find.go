package proc

import (
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
)

// places are where programs for administrators are: ordinary users' PATH often has
// none of them.
var places = []string{"/usr/sbin", "/usr/local/sbin", "/sbin"}

// Find finds a program by the PATH, or where programs for administrators are.
func Find(name string) (string, error) {
	path, err := exec.LookPath(name)
	for _, dir := range places {
		if err != nil {
			path, err = exec.LookPath(filepath.Join(dir, name))
		}
	}
	return path, err
}

// HasUser reports whether this process's user namespace has a user of that number
// (user_namespaces(7), uid_map).
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
