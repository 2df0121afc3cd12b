package notebook

import (
	"context"
	"errors"
	"fmt"
	"maps"
	"path/filepath"
	"slices"
	"strings"
)

// Variable names the environment variable that says where the notebook is.
const Variable = "LINERATE_NOTEBOOK"

// Opener opens notebooks at a location, which is the path of a file or a URL: Open for reading and writing,
// OpenReadOnly for reading only. OpenReadOnly returns ErrNoNotebook if there is no notebook, and ErrOlder if it must
// be opened for writing first.
type Opener struct {
	Open, OpenReadOnly func(ctx context.Context, location string) (Store, error)
}

var openers = map[string]Opener{}

// Register makes o the Opener for URLs with this scheme, or for paths of files if scheme is empty. The package of
// each store calls it in its init function. Register panics if the scheme is already registered.
func Register(scheme string, o Opener) {
	if openers[scheme].Open != nil {
		panic("notebook: scheme " + scheme + " is registered twice")
	}
	openers[scheme] = o
}

// OpenerOf returns the Opener for a location returned by Location.
func OpenerOf(location string) Opener { return openers[schemeOf(location)] }

// schemeOf is the scheme of a URL; empty: it is the path of a file.
func schemeOf(location string) string {
	scheme, _, is := strings.Cut(location, "://")
	if !is {
		return ""
	}
	return scheme
}

// Location returns the location of the notebook: $LINERATE_NOTEBOOK if it is set, made an absolute path unless it is
// a URL with a registered scheme, and otherwise notebook.db in Directory.
func Location(getenv func(string) string) (string, error) {
	named := getenv(Variable)
	switch scheme := schemeOf(named); {
	case named == "":
		directory, err := Directory(getenv)
		if err != nil {
			return "", err
		}
		return filepath.Join(directory, "notebook.db"), nil
	case scheme != "" && openers[scheme].Open == nil: // the rest may have a password
		expected := "the path of a file, not an address"
		if known := slices.Sorted(maps.Keys(openers)); len(known) > 1 { // the first is that of files
			expected = "the path of a file, or a URL with " + strings.Join(known[1:], "://, ") + "://"
		}
		return "", fmt.Errorf("%s=%.20q…: expected %s", Variable, scheme+"://", expected)
	case scheme != "":
		return named, nil
	}
	path, err := filepath.Abs(named)
	if err != nil {
		return "", fmt.Errorf("%s=%q: %w", Variable, named, err)
	}
	return path, nil
}

// Directory returns the directory of the files that are kept beside the notebook: that of the notebook if it is a
// file, otherwise $XDG_DATA_HOME/linerate or ~/.local/share/linerate (XDG Base Directory Specification: a relative
// XDG_DATA_HOME is ignored).
func Directory(getenv func(string) string) (string, error) {
	if getenv(Variable) != "" {
		location, err := Location(getenv)
		if err != nil || schemeOf(location) == "" {
			return filepath.Dir(location), err
		}
	}
	data := getenv("XDG_DATA_HOME")
	if !filepath.IsAbs(data) {
		home := getenv("HOME")
		if !filepath.IsAbs(home) {
			return "", errors.New("notebook: HOME is not set: set " + Variable + " to the file to keep runs in")
		}
		data = filepath.Join(home, ".local", "share")
	}
	return filepath.Join(data, "linerate"), nil
}
