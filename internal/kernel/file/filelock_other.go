//go:build !(linux || darwin || freebsd || openbsd || netbsd || dragonfly)

package file

import (
	"errors"
	"os"
)

func flock(*os.File, bool) error {
	return errors.New("file locks: not available on this system")
}
