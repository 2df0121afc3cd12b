package proc

import (
	"context"
	"errors"
	"os/exec"
	"time"
)

// lldpTime is how long lldpcli may take, which asks a daemon of this machine, and mostLLDP is
// how much of what it prints is read.
const lldpTime, mostLLDP = 2 * time.Second, 4 << 20

// LLDP is what lldpcli(8) prints as JSON of the neighbours that the daemon lldpd knows. The
// error says why there is nothing: there is no such program, or no daemon that it reaches.
func LLDP(ctx context.Context) ([]byte, error) {
	out, err := output(ctx, lldpTime, mostLLDP, nil, "lldpcli", "-f", "json", "show", "neighbors", "details")
	if errors.Is(err, exec.ErrNotFound) {
		err = errors.New("lldpcli of lldpd is not on the PATH")
	}
	return out, err
}
