//go:build !portable

package netlink

import (
	"encoding/hex"
	"fmt"
	"math"

	"linerate/internal/model/setting"
	"linerate/internal/model/unit"
)

// qdiscAttributes has the names of options for kinds that encode them as attributes
// (linux/pkt_sched.h), from attribute 1 on. Empty: the option is in setting.Qdisc, or has no
// meaning to users.
var qdiscAttributes = map[string][]string{
	"fq": {"", "flow_limit", "quantum", "initial_quantum", "pacing", "default_rate", "maxrate_bytes", "buckets_log",
		"refill_delay_us", "orphan_mask",
		"low_rate_threshold_bytes", "ce_threshold_us", "timer_slack_ns", "horizon_us", "horizon_drop", "priomap",
		"weights", "offload_horizon_us"},
	"codel": {"", "", "", "", "ce_threshold_us"},
	"fq_codel": {"", "", "", "", "flows", "quantum", "ce_threshold_us", "drop_batch", "memory_limit",
		"ce_threshold_selector", "ce_threshold_mask"},
	"cake": {"", "", "diffserv", "atm", "flow_mode", "overhead", "rtt_us", "target_us", "autorate_ingress",
		"memory_limit", "nat", "", "wash", "mpu",
		"ingress", "ack_filter", "split_gso", "fwmark"},
	"pie": {"target_us", "limit", "tupdate_us", "alpha", "beta", "ecn", "bytemode", "dq_rate_estimator"},
	"htb": {"", "", "", "", "direct_qlen"},
}

// OptionTexts returns the options of a qdisc by name: those of setting.Qdisc in its notation,
// others as numbers of the kernel. It returns none for unknown kinds.
func (q Qdisc) OptionTexts() map[string]string {
	texts := map[string]string{}
	spec := q.Spec().Qdisc
	if q.Kind == "netem" {
		spec = q.netemTexts(texts)
	}
	for _, o := range spec.Options() {
		texts[o.Key] = fmt.Sprint(o.Value)
	}
	u32 := func(name string, at int) {
		if len(q.Options) >= at+4 {
			texts[name] = fmt.Sprint(native.Uint32(q.Options[at:]))
		}
	}
	switch q.Kind {
	case "prio": // struct tc_prio_qopt
		if u32("bands", 0); len(q.Options) >= 20 {
			texts["priomap"] = fmt.Sprint(q.Options[4:20])
		}
	case "sfq": // struct tc_sfq_qopt
		u32("quantum", 0)
		u32("divisor", 12)
		u32("flows", 16)
	}
	names := qdiscAttributes[q.Kind]
	for a := range attributes(q.Options) {
		switch {
		case q.Kind == "htb" && a.kind == htbGlobal && len(a.data) >= 12:
			texts["r2q"], texts["default"] = fmt.Sprint(native.Uint32(a.data[4:])),
				fmt.Sprintf("%x", native.Uint32(a.data[8:]))
		case a.kind >= 1 && int(a.kind) <= len(names) && names[a.kind-1] != "":
			texts[names[a.kind-1]] = a.text()
		}
	}
	return texts
}

// text formats a number as such, and other values in hexadecimal.
func (a attribute) text() string {
	switch len(a.data) {
	case 0:
		return "on"
	case 1:
		return fmt.Sprint(a.data[0])
	case 4:
		return fmt.Sprint(a.uint32())
	case 8:
		return fmt.Sprint(a.uint64())
	}
	return hex.EncodeToString(a.data)
}

// netemTexts parses struct tc_netem_qopt and the attributes after it.
func (q Qdisc) netemTexts(texts map[string]string) (limit setting.Qdisc) {
	if len(q.Options) < netemParameters {
		return limit
	}
	word := func(at int) uint32 { return native.Uint32(q.Options[at:]) }
	share := func(name string, v uint32) {
		if v > 0 {
			texts[name] = unit.Ratio(math.Round(float64(v)/math.MaxUint32*1e6) / 1e6).String()
		}
	}
	limit.Limit, limit.Rate = int(word(4)), netemShape(q.Options).Rate
	share("loss", word(8))
	share("duplicate", word(16))
	if gap := word(12); gap > 0 {
		texts["gap"] = fmt.Sprint(gap)
	}
	for a := range attributes(q.Options[netemParameters:]) {
		switch {
		case a.kind == netemReorder && len(a.data) >= 4:
			share("reorder", native.Uint32(a.data))
		case a.kind == netemCorrupt && len(a.data) >= 4:
			share("corrupt", native.Uint32(a.data))
		case a.kind == netemLatency64 && a.uint64() > 0:
			texts["delay"] = unit.Duration(a.uint64()).String()
		case a.kind == netemJitter64 && a.uint64() > 0:
			texts["jitter"] = unit.Duration(a.uint64()).String()
		}
	}
	return limit
}
