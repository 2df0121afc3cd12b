package record

import (
	"encoding/json"
	"slices"

	"linerate/internal/model/cause"
	"linerate/internal/model/fact"
	"linerate/internal/model/netstate"
)

// EvaluationSchema is the schema name and version of Evaluation.
const EvaluationSchema = "linerate.doctor/v1"

// Evaluation is the result of a diagnosis, as `linerate doctor --json` prints it
// (linerate.doctor/v1).
type Evaluation struct {
	Schema string `json:"schema"`
	// Answer is the conclusion in one sentence.
	Answer   string    `json:"answer"`
	Hosts    []string  `json:"hosts"`
	OverS    float64   `json:"over_s"`
	Findings []Finding `json:"findings"`
	// Accepted lists findings that the user has accepted, with the reason.
	Accepted []AcceptedFinding `json:"accepted,omitempty"`
	// Evaluated lists the rules whose inputs were available. Unevaluated lists the others.
	Evaluated   []string      `json:"evaluated"`
	Unevaluated []Unevaluated `json:"unevaluated,omitempty"`
	// Judged lists the parts of the hosts' snapshots that the evaluated rules read.
	Judged []string `json:"judged_parts,omitempty"`
	Drops  []Drop   `json:"drops,omitempty"`
	// DropsBy names the source of the drops of each host.
	DropsBy []DropSource     `json:"drops_by"`
	Probes  []netstate.Probe `json:"probes,omitempty"`
	// Lines counts the lines of text that other programs printed, without empty ones. Idle of them
	// have a known format and no meaning for any rule. Lost of them have no known format;
	// NotUnderstood has the first of these with their numbers. All others were used.
	Lines         int      `json:"lines,omitempty"`
	Idle          int      `json:"lines_without_meaning,omitempty"`
	NotUnderstood []string `json:"not_understood,omitempty"`
	Lost          int      `json:"lines_not_understood,omitempty"`
	// Untimed are commands whose output the texts have twice, without how much time is in between.
	Untimed []string `json:"repeated_without_time,omitempty"`
	// Sources are the files that were read, each with what it was taken for. Absent: hosts were read,
	// or one snapshot.
	Sources []Source `json:"sources,omitempty"`
	// Texts counts the lines of each format.
	Texts []TextFormat `json:"formats,omitempty"`
}

// Source is a file that was read.
type Source struct {
	File string `json:"file"`
	// Kind is what it was taken for: a snapshot, a text or an archive.
	Kind string `json:"kind"`
	// Partly is why it was not read to its end. Absent: it was.
	Partly string `json:"partly,omitempty"`
}

// TextFormat counts the lines of one format in the texts that other programs printed.
type TextFormat struct {
	Format string `json:"format"` // "ethtool", "ip route", …
	Used   int    `json:"lines_used"`
	Idle   int    `json:"lines_without_meaning"`
}

// Unjudged returns the rules that could be evaluated on no host, and the parts that they lack or that
// are missing of some interfaces. Both are in the order of the rules, without what a host's system does not have.
func (e *Evaluation) Unjudged() (rules, parts []string) {
	for _, u := range e.Unevaluated {
		if u.Foreign {
			continue
		}
		evaluated := slices.Contains(e.Evaluated, u.Rule)
		if evaluated && u.Interfaces == "" {
			continue
		}
		if !evaluated && !slices.Contains(rules, u.Rule) {
			rules = append(rules, u.Rule)
		}
		if !slices.Contains(parts, u.Part) {
			parts = append(parts, u.Part)
		}
	}
	return rules, parts
}

// Sources of the drops of a host, in DropSource.By.
const (
	ByTracepoint = "kfree_skb"
	ByCounters   = "counters"
)

// DropSource says where the drops of a host come from: the tracepoint, together with counters of
// what the tracepoint does not see, or counters alone.
type DropSource struct {
	Host string `json:"host"`
	By   string `json:"by" is:"words"` // kfree_skb, counters
	Why  string `json:"why,omitempty"` // for counters: why the tracepoint was not used
	// Unspecified and Lost are as in netstate.KernelDrops.
	Unspecified int64 `json:"unspecified,omitempty"`
	Lost        int64 `json:"lost,omitempty"`
}

// AcceptedFinding is a finding that the user has accepted until a date.
type AcceptedFinding struct {
	Finding
	Until   string `json:"until"` // a date
	Because string `json:"because"`
}

// UnmarshalJSON decodes the embedded finding and the fields beside it. Without it,
// Finding.UnmarshalJSON would be promoted and the other fields ignored.
func (a *AcceptedFinding) UnmarshalJSON(data []byte) error {
	type beside struct {
		Until   string `json:"until"`
		Because string `json:"because"`
	}
	var read beside
	if err := json.Unmarshal(data, &read); err != nil {
		return err
	}
	a.Until, a.Because = read.Until, read.Because
	return json.Unmarshal(data, &a.Finding)
}

// Unevaluated is a rule that could not be evaluated on a host.
type Unevaluated struct {
	Rule string `json:"rule"`
	Host string `json:"host"`
	Part string `json:"part"` // the missing part of the host's snapshot
	Why  string `json:"why"`
	// Interfaces are those of which the part is missing; of others it is there, and the rule was
	// evaluated. Absent: the whole part is missing.
	Interfaces string `json:"interfaces,omitempty"` // "eth0, eth1"
	// NotPasted reports whether the snapshot was read from pasted text that lacks the part.
	NotPasted bool `json:"not_pasted,omitempty"`
	// System is the host's operating system if it is not Linux (netstate.HostEnvironment.System), and Foreign
	// reports whether nothing that it prints has the part.
	System  string `json:"system,omitempty"`
	Foreign bool   `json:"linux_only,omitempty"`
}

// Drop counts packets that were not delivered: the value of a counter, or the drops for which the
// kernel gives the same reason.
type Drop struct {
	Host    string `json:"host" is:"host"`
	Where   string `json:"where" is:"words"`   // an interface, a protocol or a qdisc
	Counter string `json:"counter" is:"words"` // name of the counter, or the reason
	// Packets is the count between the readings or, with one reading (Boot), since boot.
	Packets int64  `json:"packets"`
	Boot    bool   `json:"since_boot,omitempty"`
	Verdict string `json:"verdict" is:"words"` // Harmful, Harmless, Unknown
	Why     string `json:"why" is:"text"`
	// Cause is the cause of the finding about these packets, which puts Why into words. Apart says
	// how many of them may have another cause.
	Cause cause.Code  `json:"cause,omitempty" is:"words"`
	Apart *fact.Apart `json:"apart,omitempty"`
	// Kind says what dropped the packets (DropRing, …). Absent: Counter or Cause says it. Named
	// belongs to Kind: the peer that the packets may come from, an interface, or an nftables rule.
	Kind  string `json:"kind,omitempty" is:"words"`
	Named string `json:"named,omitempty" is:"words"`
	// By and the following fields up to MoreRules describe drops for which the kernel gives a
	// reason.
	By        string `json:"by,omitempty" is:"words"` // kfree_skb; absent for a counter
	Direction string `json:"direction,omitempty" is:"words"`
	Protocol  string `json:"protocol,omitempty" is:"words"`
	Place     string `json:"place,omitempty" is:"words"`
	MoreRules int    `json:"more_rules,omitempty"` // of the firewall, besides that in Place
	// Again reports whether other Drops, with a reason, count the packets of this counter too.
	Again bool `json:"again,omitempty"`
}

// Kinds of Drop.
const (
	DropRing          = "ring-full"      // the NIC's receive ring
	DropDamaged       = "damaged"        // or too long
	DropRefused       = "tunnel-refused" // at its receiving end
	DropOtherAddress  = "other-address"  // the MAC address is not this host's
	DropStandby       = "standby"        // received by a standby member
	DropUnhandled     = "unhandled"      // too long, of no known protocol or VLAN, or without room
	DropUnsent        = "unsent"
	DropFilter        = "tc-filter"
	DropQueue         = "queue-full"
	DropShaped        = "shaped" // by a shaper's queue, so that TCP keeps to the rate
	DropRule          = "firewall-rule"
	DropBacklog       = "backlog-full"   // a CPU's queue of received packets
	DropSharedBacklog = "backlog-shared" // the same, perhaps of other network namespaces
	DropReversePath   = "reverse-path"   // the strict filter
)

// Verdicts on packets that were not delivered.
const (
	Harmful  = "harmful"
	Harmless = "harmless"
	Unknown  = "unknown"
)
