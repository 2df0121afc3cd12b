package lab

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"os"
	"syscall"

	"linerate/internal/kernel/netlink"
	"linerate/internal/model/topology"
)

// emulator collects the emulated links of a lab: pairs of taps between which one
// process, `linerate lab emulate`, carries frames. It ends with the lab.
type emulator struct {
	taps  []*os.File // two for each link
	links [][2]topology.Impairment
}

// probeNetem reports whether the kernel has the netem qdisc; true if no link of the
// plan would need it. An open question counts as yes: making the qdisc answers it.
func probeNetem(p plan) (bool, error) {
	needed := false
	for _, l := range p.Links {
		_, emulated := l.split(false)
		needed = needed || emulated
	}
	if !needed {
		return true, nil
	}
	conn, err := netlink.Dial() // the init process has a network namespace of its own
	if err != nil {
		return false, err
	}
	defer conn.Close()
	return !errors.Is(conn.HasNetem(), syscall.ENOENT), nil
}

// makeLink makes the taps of a link and adds it to those to carry.
func (e *emulator) makeLink(l planLink, parts [2]topology.Split, a, b netlink.LinkEnd) error {
	for _, end := range []netlink.LinkEnd{a, b} {
		tap, err := end.NewTap()
		if err != nil {
			// Not %w: a file was refused, not a namespace (see isNamespaceError).
			return fmt.Errorf("the link from %s.%s to %s.%s %s, so linerate emulates it: %v",
				a.Namespace.Name(), a.Interface, b.Namespace.Name(), b.Interface, l.whyEmulated(), err)
		}
		e.taps = append(e.taps, tap)
	}
	e.links = append(e.links, [2]topology.Impairment{parts[0].Emulator, parts[1].Emulator})
	return nil
}

// whyEmulated names what no qdisc of this kernel does.
func (l planLink) whyEmulated() string {
	if _, anyway := l.split(true); anyway {
		return "has congestion marks (ecn)"
	}
	return "has delay or loss, this kernel has no netem (CONFIG_NET_SCH_NETEM, module sch_netem)"
}

// start starts the emulator's process, if there are links for it.
func (e *emulator) start() error {
	if len(e.links) == 0 {
		return nil
	}
	links, err := json.Marshal(e.links)
	if err != nil {
		return err
	}
	cmd := program("lab", "emulate")
	cmd.Stdin, cmd.Stderr = bytes.NewReader(links), os.Stderr
	cmd.ExtraFiles = e.taps
	if err := cmd.Start(); err != nil {
		return fmt.Errorf("starting the link emulator: %w", err)
	}
	go func() { _ = cmd.Wait() }()
	for _, tap := range e.taps {
		tap.Close() // the process's own copies keep the interfaces
	}
	return nil
}
