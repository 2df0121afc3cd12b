package proc

import (
	"context"
	"errors"
	"os/exec"
	"time"
)

// lldpTime limits how long lldpcli may take, which asks a local daemon; mostLLDP limits its output.
const lldpTime, mostLLDP = 2 * time.Second, 4 << 20

// LLDP returns the neighbours that lldpd knows, as JSON from lldpcli(8). It fails if there is no such program,
// or no daemon that it reaches.
func LLDP(ctx context.Context) ([]byte, error) {
	out, err := output(ctx, lldpTime, mostLLDP, nil, "lldpcli", "-f", "json", "show", "neighbors", "details")
	if errors.Is(err, exec.ErrNotFound) {
		err = errors.New("lldpcli of lldpd is not on the PATH")
	}
	return out, err
}
