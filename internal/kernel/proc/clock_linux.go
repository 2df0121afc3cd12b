package proc

import (
	"os"
	"strings"

	"golang.org/x/sys/unix"

	"linerate/internal/model/netstate"
)

// ClockSource returns the machine's clock source and its synchronization (adjtimex(2)).
func ClockSource() (*netstate.ClockSource, error) {
	const dir = "/sys/devices/system/clocksource/clocksource0/"
	current, err := os.ReadFile(dir + "current_clocksource")
	if err != nil {
		return nil, err
	}
	available, _ := os.ReadFile(dir + "available_clocksource")
	c := netstate.ClockSource{Source: strings.TrimSpace(string(current)), Available: strings.Fields(string(available))}
	var t unix.Timex
	if _, err := unix.Adjtimex(&t); err != nil {
		return nil, os.NewSyscallError("adjtimex", err)
	}
	c.Synchronised, c.MaxErrorUs = t.Status&unix.STA_UNSYNC == 0, t.Maxerror
	return &c, nil
}
