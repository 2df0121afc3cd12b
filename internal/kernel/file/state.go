package file

import (
	"errors"
	"os"
	"path/filepath"
)

// StateDir returns the directory for this user's state that belongs to this machine only:
// $XDG_STATE_HOME/linerate, else ~/.local/state/linerate (XDG Base Directory Specification: a relative
// XDG_STATE_HOME is ignored). It may not exist yet.
func StateDir() (string, error) {
	state := os.Getenv("XDG_STATE_HOME")
	if !filepath.IsAbs(state) {
		home := os.Getenv("HOME")
		if !filepath.IsAbs(home) {
			return "",
				errors.New("there is no directory of this user's own: set HOME or XDG_STATE_HOME to an absolute path")
		}
		state = filepath.Join(home, ".local", "state")
	}
	return filepath.Join(state, "linerate"), nil
}
