package hostconfig

import (
	"cmp"
	"fmt"
	"strconv"

	"linerate/internal/model/setting"
	units "linerate/internal/model/unit"
)

// qdiscSpelling has the words and keys of tc(8) and systemd.network(5) for a kind of qdisc. Each of
// setting.QdiscKinds has one.
type qdiscSpelling struct {
	words   map[string]string // tc's words that differ from the keys of settings
	always  []string          // words that tc requires
	section string            // of networkd; empty if it does not support the kind
	keys    map[string]string // networkd's keys
}

var qdiscSpellings = map[string]qdiscSpelling{
	"pfifo": {section: "PFIFO", keys: map[string]string{"limit": "PacketLimit"}},
	"bfifo": {section: "BFIFO", keys: map[string]string{"limit": "LimitBytes"}},
	"tbf": {section: "TokenBucketFilter", keys: map[string]string{"rate": "Rate", "burst": "BurstBytes",
		"limit": "LimitBytes"}},
	"fq":       {section: "FairQueueing", keys: map[string]string{"limit": "PacketLimit"}},
	"codel":    {section: "ControlledDelay", keys: codelKeys},
	"fq_codel": {section: "FairQueueingControlledDelay", keys: codelKeys},
	"cake": {words: map[string]string{"rate": "bandwidth"}, section: "CAKE",
		keys: map[string]string{"rate": "Bandwidth"}},
	"sfq": {section: "StochasticFairnessQueueing", keys: map[string]string{"perturb": "PerturbPeriodSec"}},
	"red": {always: []string{"avpkt", "1000"}},
	"ets": {section: "EnhancedTransmissionSelection", keys: map[string]string{"bands": "Bands",
		"strict": "StrictBands", "quanta": "QuantumBytes"}},
}

var codelKeys = map[string]string{"limit": "PacketLimit", "target": "TargetSec", "interval": "IntervalSec",
	"ecn": "ECN"}

// qdiscLine returns the tc(8) command for a qdisc.
func qdiscLine(q setting.Qdisc) line {
	spelling := qdiscSpellings[q.Kind]
	l := append(line{"tc", "qdisc", "replace", "dev", q.Interface, "root", q.Kind}, spelling.always...)
	for _, o := range q.Options() {
		switch v := o.Value.(type) {
		case bool:
			if v {
				l = append(l, "ecn")
			} else if q.Kind != "red" { // which has no word for the default
				l = append(l, "noecn")
			}
		case []units.Bytes:
			l = append(l, o.Key)
			for _, n := range v {
				l = append(l, strconv.FormatInt(int64(n), 10))
			}
		default:
			l = append(l, cmp.Or(spelling.words[o.Key], o.Key), qdiscNumber(o, "bit"))
		}
	}
	if q.Kind == "tbf" && q.Limit == 0 { // tc requires one, and so does the kernel
		l.pair("latency", "100ms")
	}
	return l
}

// qdiscNumber formats the value of an option. Bit is the suffix of rates.
func qdiscNumber(o setting.QdiscOption, bit string) string {
	switch v := o.Value.(type) {
	case units.BitRate:
		return fmt.Sprintf("%.0f%s", float64(v), bit)
	case units.Ratio:
		return fmt.Sprintf("%g", float64(v))
	case units.Duration:
		if o.Key == "perturb" { // tc(8) accepts no unit here
			return fmt.Sprintf("%.0f", v.Seconds())
		}
		return fmt.Sprintf("%dus", v/1e3)
	}
	return fmt.Sprintf("%.0f", o.Number())
}

// qdisc adds the section of a qdisc. It returns false if networkd lacks the kind or a key for an
// option.
func (n *networkd) qdisc(on string, q setting.Qdisc) bool {
	spelling := qdiscSpellings[q.Kind]
	pairs := []string{"Parent", "root"}
	for _, o := range q.Options() {
		key, ok := spelling.keys[o.Key]
		if !ok {
			return false
		}
		value := ""
		switch v := o.Value.(type) {
		case bool:
			value = map[bool]string{true: "yes", false: "no"}[v]
		case []units.Bytes:
			for i, quantum := range v {
				if i > 0 {
					value += " "
				}
				value += strconv.FormatInt(int64(quantum), 10)
			}
		default:
			value = qdiscNumber(o, "")
		}
		pairs = append(pairs, key, value)
	}
	if q.Kind == "tbf" && q.Limit == 0 {
		pairs = append(pairs, "LatencySec", "100ms")
	}
	return spelling.section != "" && n.section(on, spelling.section, pairs...)
}
