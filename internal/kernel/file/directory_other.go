//go:build !linux

package file

import "errors"

// OwnDirectory needs mount namespaces, which only Linux has.
func OwnDirectory() (string, error) {
	return "", errors.New("directories that only one thread sees are Linux's")
}
