package file

import (
	"fmt"
	"os"
	"path/filepath"
)

// StateDir returns the directory for this user's state that belongs to this machine only:
// $XDG_STATE_HOME/linerate, else ~/.local/state/linerate (XDG Base Directory Specification: a relative
// XDG_STATE_HOME is ignored). It may not exist yet.
func StateDir() (string, error) { return userDir("XDG_STATE_HOME", ".local/state") }

// ConfigDir returns the directory for this user's configuration, as StateDir does:
// $XDG_CONFIG_HOME/linerate, else ~/.config/linerate.
func ConfigDir() (string, error) { return userDir("XDG_CONFIG_HOME", ".config") }

func userDir(variable, under string) (string, error) {
	base := os.Getenv(variable)
	if !filepath.IsAbs(base) {
		home := os.Getenv("HOME")
		if !filepath.IsAbs(home) {
			return "",
				fmt.Errorf("there is no directory of this user's own: set HOME or %s to an absolute path", variable)
		}
		base = filepath.Join(home, filepath.FromSlash(under))
	}
	return filepath.Join(base, "linerate"), nil
}
