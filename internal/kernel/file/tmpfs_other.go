//go:build !linux

package file

import "errors"

// PrivateTmpfs needs mount namespaces, which only Linux has.
func PrivateTmpfs() (string, error) {
	return "", errors.New("directories that only one thread sees are Linux's")
}
