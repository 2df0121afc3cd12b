//go:build unix

package cli

import (
	"os"
	"os/signal"
	"syscall"
)

// notifyResize tells when the terminal's window changes its size.
func notifyResize(c chan<- os.Signal) { signal.Notify(c, syscall.SIGWINCH) }
