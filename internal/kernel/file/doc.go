// Package file provides file locks (flock(2)), files and directories that only one user
// may access, directories below those that others can write, and pseudoterminals with the
// passing of descriptors (pty(7), unix(7)).
package file
