//go:build carried

package main

// A real host has files with kernel parameters and neighbours that lldpd(8) knows; a lab's hosts have none.
import _ "linerate/internal/host/hoststate/texts"
