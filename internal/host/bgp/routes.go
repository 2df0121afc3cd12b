package bgp

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"
	"time"

	"linerate/internal/kernel/netlink"
	"linerate/internal/kernel/sched"
	"linerate/internal/model/message"
)

// lookEvery is how often the kernel's table is read while waiting for routes.
const lookEvery = 10 * time.Millisecond

// Await waits until the kernel's table has the routes that the daemon installs, each with all its interfaces,
// or until the timeout. The result lists those missing.
func (d *Daemon) Await(ctx context.Context, want message.RoutesWanted) (message.RoutesFound, error) {
	conn, err := netlink.Dial()
	if err != nil {
		return message.RoutesFound{}, err
	}
	defer conn.Close()
	waited := false
	for end := sched.Now() + want.TimeoutNs; ; waited = true {
		routes, err := conn.Routes()
		if err != nil {
			return message.RoutesFound{}, err
		}
		found := Held(routes, want.Routes)
		if found.Waited = waited; len(found.Missing) == 0 {
			return found, nil
		}
		if why := d.Broken(); why != "" {
			return found, errors.New(why)
		}
		if sched.Now() > end {
			return found, nil
		}
		select {
		case <-time.After(lookEvery):
		case <-ctx.Done():
			return found, context.Cause(ctx)
		}
	}
}

// Held compares the kernel's routes with the wanted ones.
func Held(routes []netlink.Route, want []message.RouteWanted) message.RoutesFound {
	found := message.RoutesFound{Routes: []string{}}
	learned := map[string]netlink.Route{}
	for _, r := range routes {
		if r.FromBIRD() && r.Table == netlink.TableMain {
			learned[r.To.String()] = r
			found.Routes = append(found.Routes, r.Text)
		}
	}
	for _, w := range want {
		r, there := learned[w.To.String()]
		if !there {
			found.Missing = append(found.Missing, fmt.Sprintf("%s by %s", w.To, strings.Join(w.Interfaces, ", ")))
			continue
		}
		have, wanted := slices.Sorted(slices.Values(r.Interfaces)), slices.Sorted(slices.Values(w.Interfaces))
		if !slices.Equal(have, wanted) {
			found.Missing = append(found.Missing, fmt.Sprintf("%s by %s; it is by %s", w.To, strings.Join(wanted, ", "),
				strings.Join(have, ", ")))
		}
	}
	return found
}
