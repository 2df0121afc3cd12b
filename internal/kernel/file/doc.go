// Package file has file locks (flock(2)), directories of one user, and
// pseudoterminals with the passing of descriptors (pty(7), unix(7)).
package file
