package setting

import (
	"cmp"
	"fmt"
	"math"
	"slices"
	"strings"
	"time"

	"linerate/internal/model/source"
	"linerate/internal/model/unit"
)

// Qdisc is the queueing discipline of an interface. Zero values are the kernel's defaults; for red
// they are those of tc-red(8).
type Qdisc struct {
	Interface string       `yaml:"interface,required" json:"interface,omitempty" doc:"the interface to change"`
	Kind      string       `yaml:"kind,required" json:"kind"`
	Limit     int          `yaml:"limit" json:"limit,omitempty"`
	Rate      unit.BitRate `yaml:"rate" json:"rate,omitempty"`
	Burst     unit.Bytes   `yaml:"burst" json:"burst,omitempty"`

	Target   unit.Duration `yaml:"target,unit" json:"target,omitempty"`
	Interval unit.Duration `yaml:"interval,unit" json:"interval,omitempty"`
	ECN      *bool         `yaml:"ecn" json:"ecn,omitempty"`

	Min         unit.Bytes `yaml:"min" json:"min,omitempty"`
	Max         unit.Bytes `yaml:"max" json:"max,omitempty"`
	Probability unit.Ratio `yaml:"probability" json:"probability,omitempty"`

	Perturb unit.Duration `yaml:"perturb,unit,zero" json:"perturb,omitempty"`

	Bands  int          `yaml:"bands" json:"bands,omitempty"`
	Strict int          `yaml:"strict,zero" json:"strict,omitempty"`
	Quanta []unit.Bytes `yaml:"quanta" json:"quanta,omitempty"`
}

// QdiscKind describes a kind of queueing discipline that a setting can create.
type QdiscKind struct {
	Name  string   // the kernel's name of the kind
	Limit string   // unit of its limit; empty: it has no limit
	Takes []string // options that it accepts in addition to limit
	Needs []string // options that it requires
	// Unrestorable says why an existing qdisc of this kind cannot be restored exactly. Empty: it can
	// be restored, because the kernel accepts the options that it reports.
	Unrestorable string
}

// QdiscKinds lists the supported kinds. Their spelling for tc(8) and systemd.network(5) is in
// package hostconfig, their attributes in package netlink.
var QdiscKinds = []QdiscKind{
	{Name: "pfifo", Limit: "packets"},
	{Name: "bfifo", Limit: "bytes"},
	{Name: "tbf", Limit: "bytes", Takes: []string{"rate", "burst"}, Needs: []string{"rate", "burst"}},
	{Name: "fq", Limit: "packets"},
	{Name: "codel", Limit: "packets", Takes: []string{"target", "interval", "ecn"}},
	{Name: "fq_codel", Limit: "packets", Takes: []string{"target", "interval", "ecn"}},
	{Name: "cake", Takes: []string{"rate"}},
	{Name: "sfq", Limit: "packets", Takes: []string{"perturb"}},
	{Name: "red", Limit: "bytes", Takes: []string{"min", "max", "probability", "ecn"}, Needs: []string{"limit"},
		Unrestorable: "the kernel does not report its table for idle times"},
	{Name: "ets", Takes: []string{"bands", "strict", "quanta"}, Needs: []string{"bands"}},
}

// qdiscOptions documents the options except limit.
var qdiscOptions = map[string]string{
	"rate":     "the rate",
	"burst":    "the bucket",
	"target":   "the delay in the queue that is left to flows; 5ms when absent",
	"interval": "how long the delay may be longer before packets are dropped or marked; 100ms when absent",
	"ecn": "mark packets instead of dropping them, if their sender supports it (RFC 3168); when absent " +
		"fq_codel does, codel and red do not",
	"min":         "mean queue from which on packets are dropped or marked; a third of max when absent",
	"max":         "mean queue at which the probability is reached; a quarter of the limit when absent",
	"probability": "share of packets that are dropped or marked at max; 2% when absent",
	"perturb":     "time after which flows are hashed anew, in whole seconds; 0s or absent: never",
	"bands":       "number of bands; all packets are in the last, unless filters choose another",
	"strict":      "number of the first bands that precede the others; 0 or absent: none",
	"quanta":      "bytes that each of the other bands sends in its turn; one frame when absent",
}

// FindQdiscKind returns the kind with the given name. It returns false if there is none.
func FindQdiscKind(name string) (QdiscKind, bool) {
	i := slices.IndexFunc(QdiscKinds, func(k QdiscKind) bool { return k.Name == name })
	if i < 0 {
		return QdiscKind{}, false
	}
	return QdiscKinds[i], true
}

// QdiscKindNames returns the names of the kinds for which holds is true, or of all kinds if it is
// nil.
func QdiscKindNames(holds func(QdiscKind) bool) (names []string) {
	for _, k := range QdiscKinds {
		if holds == nil || holds(k) {
			names = append(names, k.Name)
		}
	}
	return names
}

// Describe documents the keys for package source from the table of kinds.
func (Qdisc) Describe(key string) (doc string, enum []string) {
	names := func(holds func(QdiscKind) bool) string { return strings.Join(QdiscKindNames(holds), ", ") }
	switch key {
	case "kind":
		return "the kernel's name of the discipline", QdiscKindNames(nil)
	case "limit":
		return fmt.Sprintf("queue length: packets for %s; bytes for %s",
			names(func(k QdiscKind) bool { return k.Limit == "packets" }), names(func(k QdiscKind) bool {
				return k.Limit == "bytes"
			})), nil
	}
	if text, ok := qdiscOptions[key]; ok {
		return names(func(k QdiscKind) bool { return slices.Contains(k.Takes, key) }) + ": " + text, nil
	}
	return "", nil
}

// QdiscOption is an option that a Qdisc sets. Value has the type of the field; for ecn it is a bool.
type QdiscOption struct {
	Key   string
	Value any
}

// Options lists the options that are set.
func (q Qdisc) Options() (list []QdiscOption) {
	for _, o := range []QdiscOption{
		{"rate", q.Rate}, {"burst", q.Burst}, {"limit", q.Limit}, {"min", q.Min}, {"max", q.Max},
		{"probability", q.Probability},
		{"target", q.Target}, {"interval", q.Interval}, {"perturb", q.Perturb}, {"bands", q.Bands},
		{"strict", q.Strict},
	} {
		if o.Number() != 0 {
			list = append(list, o)
		}
	}
	if len(q.Quanta) > 0 {
		list = append(list, QdiscOption{"quanta", q.Quanta})
	}
	if q.ECN != nil {
		list = append(list, QdiscOption{"ecn", *q.ECN})
	}
	return list
}

// Number returns Value as a number. NaN: it is not numeric.
func (o QdiscOption) Number() float64 {
	switch v := o.Value.(type) {
	case int:
		return float64(v)
	case unit.BitRate:
		return float64(v)
	case unit.Bytes:
		return float64(v)
	case unit.Duration:
		return float64(v)
	case unit.Ratio:
		return float64(v)
	}
	return math.NaN()
}

// String formats the qdisc similarly to tc(8): "eth0 to fq_codel limit 1000 target 5ms".
func (q Qdisc) String() string {
	text := q.Kind
	if q.Interface != "" {
		text = q.Interface + " to " + q.Kind
	}
	for _, o := range q.Options() {
		text += fmt.Sprintf(" %s %v", o.Key, o.Value)
	}
	return text
}

// maxBands is TCQ_ETS_MAX_BANDS; the kernel's other numbers have 32 bits.
const maxBands = 16

// Check returns what is wrong and the key of the wrong value. The key is empty if it concerns the
// setting as a whole.
func (q Qdisc) Check() (key, why string) {
	kind, ok := FindQdiscKind(q.Kind)
	if !ok {
		return "kind", fmt.Sprintf("kind %q: expected %s", q.Kind, source.Or(QdiscKindNames(nil)))
	}
	given := map[string]bool{}
	for _, o := range q.Options() {
		given[o.Key] = true
		switch number := o.Number(); {
		case o.Key == "limit" && kind.Limit == "" || o.Key != "limit" && !slices.Contains(kind.Takes, o.Key):
			have := QdiscKindNames(func(k QdiscKind) bool {
				return o.Key == "limit" && k.Limit != "" ||
					slices.Contains(k.Takes, o.Key)
			})
			return o.Key, fmt.Sprintf("%s has no %s; expected it with %s", q.Kind, o.Key, source.Or(have))
		case o.Key == "rate" && number < 8:
			return o.Key, fmt.Sprintf("rate %s: expected at least 8 bit/s", q.Rate)
		case o.Key == "target" || o.Key == "interval":
			if number < 1e3 || number > math.MaxUint32*1e3 {
				return o.Key, fmt.Sprintf("%s %v: expected at least 1us, at most %s", o.Key, o.Value,
					time.Duration(math.MaxUint32)*time.Microsecond)
			}
		case o.Key == "perturb" && (number < 1e9 || math.Mod(number, 1e9) != 0 || number > math.MaxInt32/1e3*1e9):
			return o.Key, fmt.Sprintf("perturb %v: expected whole seconds", o.Value)
		case o.Key == "probability" && (number <= 0 || number >= 1):
			return o.Key, fmt.Sprintf("probability %v: expected less than 100%%", o.Value)
		case o.Key == "bands" && (number < 1 || number > maxBands):
			return o.Key, fmt.Sprintf("bands %v: expected 1 to %d", o.Value, maxBands)
		case o.Key != "rate" && o.Key != "probability" && o.Key != "perturb" && (number < 1 || number > math.MaxUint32):
			return o.Key, fmt.Sprintf("%s %v: expected 1 to %d", o.Key, o.Value, uint32(math.MaxUint32))
		}
	}
	if slices.ContainsFunc(kind.Needs, func(key string) bool { return !given[key] }) {
		return "", fmt.Sprintf("%s needs a %s", q.Kind, strings.Join(kind.Needs, " and a "))
	}
	for _, quantum := range q.Quanta {
		if quantum < 1 || quantum > math.MaxUint32 {
			return "quanta", fmt.Sprintf("quanta %v: expected 1 to %d bytes each", q.Quanta, uint32(math.MaxUint32))
		}
	}
	if q.Strict+len(q.Quanta) > q.Bands {
		return "bands", fmt.Sprintf("bands %d: expected at least %d, for %d strict ones and %d quanta", q.Bands,
			q.Strict+len(q.Quanta), q.Strict, len(q.Quanta))
	}
	if low, high := q.Thresholds(); q.Kind == "red" && (low >= high || int(high) > q.Limit) {
		return "max", fmt.Sprintf(
			"min %s, max %s, limit %d: expected min less than max, and max no more than the limit", low, high, q.Limit)
	}
	return "", ""
}

// Thresholds returns min and max of red, with the defaults of tc-red(8).
func (q Qdisc) Thresholds() (low, high unit.Bytes) {
	high = cmp.Or(q.Max, unit.Bytes(q.Limit/4))
	return cmp.Or(q.Min, high/3), high
}
