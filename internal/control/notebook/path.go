package notebook

import (
	"errors"
	"fmt"
	"path/filepath"
	"strings"
)

// Variable names the environment variable that says where the notebook is.
const Variable = "LINERATE_NOTEBOOK"

// Path says where the notebook is: $LINERATE_NOTEBOOK, else
// $XDG_DATA_HOME/linerate/notebook.db, else ~/.local/share/linerate/notebook.db
// (XDG Base Directory Specification: a relative XDG_DATA_HOME is ignored).
func Path(getenv func(string) string) (string, error) {
	if named := getenv(Variable); named != "" {
		if scheme, _, address := strings.Cut(named, "://"); address { // which may have a password
			return "", fmt.Errorf("%s=%.20q…: expected the path of a file, not an address", Variable, scheme+"://")
		}
		path, err := filepath.Abs(named)
		if err != nil {
			return "", fmt.Errorf("%s=%q: %w", Variable, named, err)
		}
		return path, nil
	}
	data := getenv("XDG_DATA_HOME")
	if !filepath.IsAbs(data) {
		home := getenv("HOME")
		if !filepath.IsAbs(home) {
			return "", errors.New("notebook: HOME is not set: set " + Variable + " to the file to keep runs in")
		}
		data = filepath.Join(home, ".local", "share")
	}
	return filepath.Join(data, "linerate", "notebook.db"), nil
}
