//go:build !(linux || darwin || freebsd || openbsd || netbsd || dragonfly)

package kernel

import (
	"errors"
	"os"
)

func flock(*os.File, bool) error {
	return errors.New("file locks: not available on this system")
}
