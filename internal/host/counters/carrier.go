package counters

import (
	"slices"

	"linerate/internal/kernel/netlink"
	"linerate/internal/model/lists"
	"linerate/internal/model/message"
	"linerate/internal/model/netstate"
)

// Carriers records when the host's interfaces have no carrier. A nil Carriers records nothing.
type Carriers struct {
	reader *Reader
	watch  *netlink.LinkWatch
}

// WatchCarriers starts recording losses of carrier.
func (r *Reader) WatchCarriers() (*Carriers, error) {
	watch, err := netlink.WatchLinks()
	if err != nil {
		return nil, err
	}
	return &Carriers{r, watch}, nil
}

// Close stops and returns the losses between two times. An error means that some may be missing.
func (c *Carriers) Close(begin, end int64) (losses []netstate.CarrierLoss, err error) {
	if c == nil {
		return nil, nil
	}
	changes, err := c.watch.Close()
	open := map[string]int{} // losses that have not ended
	for _, s := range changes {
		if c.reader.skip[s.Interface] {
			continue
		}
		at := float64(max(begin, min(s.AtNs, end))-begin) / 1e9
		i, lasts := open[s.Interface]
		switch {
		case !s.Carrier && !lasts:
			open[s.Interface] = len(losses)
			losses = append(losses, netstate.CarrierLoss{Interface: s.Interface, FromS: at,
				ToS: float64(end-begin) / 1e9, Down: !s.Up})
		case s.Carrier && lasts && s.AtNs < end:
			losses[i].ToS, losses[i].Regained = at, true
			delete(open, s.Interface)
		}
	}
	return inside(losses, float64(end-begin)/1e9), err
}

// inside returns the losses that overlap the window.
func inside(losses []netstate.CarrierLoss, windowS float64) (kept []netstate.CarrierLoss) {
	return lists.Where(losses, func(l netstate.CarrierLoss) bool { return l.FromS < windowS && l.ToS > 0 })
}

// LinkStates returns the states of those named interfaces that exist.
func (r *Reader) LinkStates(names []string) (states []message.LinkState, err error) {
	links, err := r.conn.Links()
	for _, l := range links {
		if slices.Contains(names, l.Name) {
			states = append(states, message.LinkState{Interface: l.Name, Up: l.Up, Running: l.Up && l.Carrier &&
				!l.Activating()})
		}
	}
	return states, err
}
