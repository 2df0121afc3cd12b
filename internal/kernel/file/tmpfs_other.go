//go:build !linux

package file

import "errors"

// PrivateTmpfs needs mount namespaces; on Linux only.
func PrivateTmpfs() (string, error) {
	return "", errors.New("mount namespaces need Linux")
}
