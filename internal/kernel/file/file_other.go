//go:build !linux

package file

import (
	"errors"
	"fmt"
	"net"
	"os"
)

var errNoPTY = fmt.Errorf("pseudoterminals need Linux here: %w", errors.ErrUnsupported)

func OpenPTY() (controller, terminal *os.File, err error) { return nil, nil, errNoPTY }
func CopyWindowSize(_, _ *os.File) error                  { return errNoPTY }
func SendFiles(*net.UnixConn, any, ...*os.File) error     { return errNoPTY }
func ReceiveFiles(*net.UnixConn, any) ([]*os.File, error) { return nil, errNoPTY }

// PrivateTmpfs returns an error: mount namespaces need Linux.
func PrivateTmpfs() (string, error) { return "", errors.New("mount namespaces need Linux") }
