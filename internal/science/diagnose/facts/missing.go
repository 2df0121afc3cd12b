package facts

import (
	"cmp"
	"errors"
	"fmt"
	"slices"
	"strings"

	"linerate/internal/model/netstate"
	"linerate/internal/model/record"
	"linerate/internal/model/unit"
)

// ErrNotPasted is returned for a part of a snapshot that a pasted text does not have.
var ErrNotPasted = errors.New("not in the pasted text")

// Missing returns the reason why a part of the host's snapshot was not read; nil: it was. A part
// that was read incompletely counts as read.
func (h *Host) Missing(part string) error {
	s := h.State
	if part == EveryRoute {
		if n := h.Reading.Snapshot.RoutesOmitted; n > 0 {
			return fmt.Errorf("%s left out of the snapshot", unit.Plural(n, "route"))
		}
		part = "routes"
	}
	if len(h.Pasted) > 0 {
		if h.reads(part) {
			return nil
		}
		if Base(part) == DriverCounters {
			return cmp.Or(h.countersUnread(), ErrNotPasted)
		}
		return ErrNotPasted
	}
	part = Base(part)
	if finer, is := finerParts[part]; is {
		part = finer.of
	}
	switch part {
	case "", "interfaces", "interface counters", "neighbours", "routes", "qdiscs":
		return nil
	case "cpu":
		if len(h.Reading.Begin.CPU) > 0 || h.Boot {
			return nil
		}
		if h.OverS == 0 {
			return errors.New("there is one reading only")
		}
		return orNotRead(h.Reading.End.Missing, "cpu")
	case DriverCounters:
		if err := h.Missing("nics"); err != nil {
			return err
		}
		return h.countersUnknown()
	case "probe":
		if len(s.Probes) > 0 {
			return nil
		}
		return errors.New("no peer was probed")
	case "snmp":
		if len(h.Reading.End.SNMP) > 0 {
			return nil
		}
		return orNotRead(h.Reading.End.Missing, "snmp")
	case "softnet":
		if len(h.Reading.End.Softnet) > 0 {
			return nil
		}
		return orNotRead(h.Reading.End.Missing, "softnet")
	}
	i := slices.IndexFunc(s.Parts, func(p netstate.StatePart) bool { return p.Part == part })
	if i < 0 {
		return errors.New("not in the snapshot")
	}
	read := map[string]bool{record.ByTracepoint: s.KernelDrops != nil, "nics": len(s.NICs) > 0,
		"parameters": len(s.Parameters) > 0, "sockets": s.TCP != nil}
	if why := s.Parts[i].Missing; why != "" && !read[part] {
		return errors.New(why)
	}
	return nil
}

func orNotRead(missing []string, part string) error {
	for _, line := range missing {
		if why, is := strings.CutPrefix(line, part+": "); is {
			return errors.New(why)
		}
	}
	return errors.New("not read")
}
