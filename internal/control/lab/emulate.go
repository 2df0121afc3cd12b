package lab

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"os"
	"syscall"

	"linerate/internal/kernel/netlink"
	"linerate/internal/model/record"
)

// wires are the links that a program carries: those with delay or loss, on a
// kernel that has no netem, and those that mark frames, on any. Their interfaces are
// taps, and one process in the lab holds all of them; it ends with the lab.
type wires struct {
	taps  []*os.File
	links []record.WireLink
	netem bool // the kernel has it
}

// wiresOf is nil when the kernel makes all links itself.
func wiresOf(p plan) (*wires, error) {
	altered, marked := false, false
	for _, c := range p.Links {
		altered, marked = altered || c.alters(), marked || c.marks()
	}
	if !altered && !marked {
		return nil, nil
	}
	conn, err := netlink.Dial() // the keeper's own network namespace is nobody's
	if err != nil {
		return nil, err
	}
	defer conn.Close()
	w := &wires{netem: !errors.Is(conn.HasNetem(), syscall.ENOENT)} // or it will turn out
	if w.netem && !marked {
		return nil, nil
	}
	return w, nil
}

// alters says whether frames come later than they were sent, or not all of them.
func (c planLink) alters() bool { return c.Ends[0].Shape.Alters() || c.Ends[1].Shape.Alters() }

// marks says whether frames get congestion marks.
func (c planLink) marks() bool { return c.Ends[0].Mark > 0 || c.Ends[1].Mark > 0 }

// carries says whether a link is the program's.
func (w *wires) carries(c planLink) bool {
	return w != nil && (c.marks() || c.alters() && !w.netem)
}

// carried says who makes the delay, the losses and the marks of a plan's links.
func (w *wires) carried(p plan) string {
	own, kernels := false, false
	for _, c := range p.Links {
		switch {
		case w.carries(c):
			own = true
		case c.alters():
			kernels = true
		}
	}
	switch {
	case own && kernels:
		return "delay and loss by the kernel's netem, of links with marks by linerate's own wire"
	case own:
		return "delay and loss by linerate's own wire"
	case kernels:
		return "delay and loss by the kernel's netem"
	}
	return ""
}

// lay makes a link's two interfaces. What the program does is not for the interfaces to do.
func (w *wires) lay(c *planLink, a, b netlink.LinkEnd) error {
	link := record.WireLink{Seed: uint64(len(w.links))}
	for i, end := range []netlink.LinkEnd{a, b} {
		tap, err := netlink.NewTap(end)
		if err != nil {
			// Not %w: the file was refused, where namespaces have been had.
			return fmt.Errorf("the link from %s.%s to %s.%s %s, and a program has to carry its frames: %v",
				a.Namespace.Name(), a.Interface, b.Namespace.Name(), b.Interface, c.wants(), err)
		}
		link.Ends[i] = len(w.taps)
		w.taps = append(w.taps, tap)
		link.Ways[i] = c.Ends[i].way()
	}
	w.links = append(w.links, link)
	return nil
}

// wants is what no interface of this kernel does by itself.
func (c planLink) wants() string {
	if c.marks() {
		return "has congestion marks (ecn)"
	}
	return "has delay or loss, this kernel has no netem (CONFIG_NET_SCH_NETEM, module sch_netem)"
}

// way takes from an interface what the program does in its stead. Who marks frames has
// to know how many wait, and so has the queue and the rate as well.
func (e *planEnd) way() record.WireWay {
	s := &e.Shape
	w := record.WireWay{DelayUs: s.DelayUs, JitterUs: s.JitterUs, Loss: s.Loss, Reorder: s.Reorder}
	s.DelayUs, s.JitterUs, s.Loss, s.Reorder = 0, 0, 0, 0
	if e.Mark > 0 {
		w.RateBps, w.QueueBytes, w.MarkBytes = s.RateBps, s.QueueBytes, e.Mark
		s.RateBps = 0
	}
	return w
}

// start starts the program that carries all of them.
func (w *wires) start() error {
	if w == nil {
		return nil
	}
	order, err := json.Marshal(w.links)
	if err != nil {
		return err
	}
	cmd := program("lab", "wire")
	cmd.Stdin, cmd.Stderr = bytes.NewReader(order), os.Stderr
	cmd.ExtraFiles = w.taps
	if err := cmd.Start(); err != nil {
		return fmt.Errorf("starting the program that carries links with delay or loss: %w", err)
	}
	go func() { _ = cmd.Wait() }()
	for _, tap := range w.taps {
		tap.Close() // the interfaces end with the program
	}
	return nil
}
