//go:build !portable

package ethtool

import (
	"strings"
	"unsafe"

	"golang.org/x/sys/unix"

	"linerate/internal/model/lists"
	"linerate/internal/model/netstate"
)

// fecParam is struct ethtool_fecparam (linux/ethtool.h).
type fecParam struct{ cmd, active, configured, reserved uint32 }

// fecNames are the bits from ETHTOOL_FEC_NONE on, as ethtool(8) names them.
var fecNames = [...]string{"none", "auto", "off", "rs", "baser", "llrs"}

func fecText(bits uint32) string {
	var names []string
	for i, name := range fecNames {
		if bits&(1<<i) != 0 {
			names = append(names, name)
		}
	}
	return strings.Join(names, " ")
}

// fec reads forward error correction; nil: the interface has none.
func (h *Handle) fec(name string) *netstate.FEC {
	p := fecParam{cmd: unix.ETHTOOL_GFECPARAM}
	if h.call(name, unsafe.Pointer(&p)) != nil || p.active|p.configured == 0 {
		return nil
	}
	return &netstate.FEC{Active: fecText(p.active), Configured: fecText(p.configured)}
}

// spreading reads how packets are spread over queues; nil: not reported.
func (h *Handle) spreading(name string) *netstate.RSS {
	var rss netstate.RSS
	rss.Table, _ = h.rss(name, "table")
	for kind := range flowTypes {
		if fields, err := h.rss(name, kind); err == nil {
			lists.Put(&rss.Fields, kind, fields)
		}
	}
	if rss.Table == "" && rss.Fields == nil {
		return nil
	}
	return &rss
}

// Module reads the pluggable module of an interface over a bus, which takes some 100 ms; nil if there is none
// or its driver cannot read it.
func (h *Handle) Module(name string) *netstate.Module {
	memory, err := h.memory(name)
	if err != nil {
		return nil
	}
	return parseModule(memory)
}
