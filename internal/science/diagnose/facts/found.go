package facts

import (
	"reflect"

	"linerate/internal/model/cause"
	"linerate/internal/model/fact"
	"linerate/internal/model/record"
)

// Found returns a new finding of a cause on a host, without evidence.
func Found[A any](c cause.Of[A], h *Host, confidence string, args A) *record.Finding {
	return FoundAt(c, h.Name, confidence, args)
}

// FoundAt is Found for a host that was not read itself, such as the machine of a lab.
func FoundAt[A any](c cause.Of[A], host, confidence string, args A) *record.Finding {
	f := &record.Finding{ID: c.Code, Host: host, Confidence: confidence}
	if !reflect.ValueOf(args).IsZero() {
		f.Args = args
	}
	return f
}

// FoundOn is Found for a finding about an interface, which depends on the interface and its link.
func FoundOn[A any](c cause.Of[A], p Port, confidence string, args A) *record.Finding {
	f := Found(c, p.Host, confidence, args)
	f.About.Interface = p.Interface.Interface
	return f.At(append(p.Host.Devices(p.Interface.Interface), record.Touch{OnLink: p.Interface.Interface})...)
}

// Counter returns the growth of a counter of the host as evidence. Rules that use the same counter
// return equal facts.
func (h *Host) Counter(name string, n int64) fact.Counter {
	c := fact.Counter{Name: name, Grew: uint64(n), Boot: h.Boot, Printed: h.Names[name]}
	if !h.Boot {
		c.OverS = h.OverS
	}
	return c
}

// Called returns what the host's system calls counters: on Linux by their names; elsewhere those that it has.
func (h *Host) Called(names []string) (called []string) {
	if h.System == "" {
		return names
	}
	for _, name := range names {
		if printed := h.Names[name]; printed != "" {
			called = append(called, printed)
		}
	}
	return called
}

// Time returns the time between the host's readings or since its boot, as part of a fact.
func (h *Host) Time() fact.Time { return h.TimeOver(h.OverS) }

// TimeOver is Time for readings that were so many seconds apart.
func (h *Host) TimeOver(seconds float64) fact.Time {
	if h.Boot {
		return fact.Time{Boot: true}
	}
	return fact.Time{OverS: seconds}
}

// Silence returns for how long a flow received nothing, as evidence.
func Silence(flow record.Flow, o record.Outage) fact.Silence {
	return fact.Silence{Flow: flow.ID, From: flow.From, To: flow.To, LostS: o.LostS, LostAtMostS: o.LostAtMostS,
		Resumed: o.Resumed}
}
