// Package study describes experiments: a topology, a workload, the factors to vary and the design.
// It derives the plan of trials from them.
package study

import (
	"net/netip"

	"linerate/internal/model/attacks"
	"linerate/internal/model/flow"
	"linerate/internal/model/metric"
	"linerate/internal/model/setting"
	"linerate/internal/model/topology"
	"linerate/internal/model/unit"
)

// Study is the content of a study file.
type Study struct {
	Name     string `yaml:"study,required" json:"study" doc:"the study's name: lower-case letters, digits and dashes"`
	Question string `yaml:"question" json:"question" doc:"what the study finds out, in a sentence"`
	Unit     string `yaml:"unit" json:"unit,omitempty" doc:"how goodput is shown: bit/s (default) or MB/s" enum:"bit/s,MB/s"`
	// Responses are the metrics that treatments are judged by. The answer and the verdicts are
	// about the first one.
	Responses []string `yaml:"response,several" json:"response,omitempty" doc:"metric, or list of metrics, by which treatments are compared: the answer is about the first, the others are shown beside it; absent: goodput; with probe also latency_p50 and latency_p99; with loss_free that rate; without tcp and udp flows transactions and latency_p99"`
	// Published are the names of published tables. The command line finds them.
	Published []string          `yaml:"published,several" json:"published,omitempty" doc:"published results to show beside the run's figures: names of built-in tables, or paths of CSV files relative to this file"`
	Topology  topology.Topology `yaml:"topology,required" json:"topology" doc:"hosts, switches and links"`
	Workload  Workload          `yaml:"workload,required" json:"workload" doc:"the flows of a trial and their timing"`
	Factors   []Factor          `yaml:"factors" json:"factors,omitempty" doc:"what is varied, by name; every combination of levels is a treatment"`
	Design    Design            `yaml:"design" json:"design" doc:"how often, in which order, until when"`
	// File is the text that the study was read from.
	File string `yaml:"-" json:"-"`
	// PairsOfHosts: its flows name pairs, which are compared with each other.
	PairsOfHosts bool `yaml:"-" json:"-"`
}

// Describe returns the accepted values of a key whose values are in a registry.
func (Study) Describe(key string) (doc string, enum []string) {
	if key == "response" {
		enum = metric.ResponseNames()
	}
	return "", enum
}

// Workload has the flows of a trial and their timing.
type Workload struct {
	Flows    []Flow        `yaml:"flows,required" json:"flows" doc:"which host sends to which"`
	Duration unit.Duration `yaml:"duration" json:"duration" doc:"the common window in which goodput is counted; 2s when absent"`
	Warmup   unit.Duration `yaml:"warmup" json:"warmup" doc:"time between the flows' start and the window; 500ms when absent"`
	Interval unit.Duration `yaml:"interval" json:"interval" doc:"time between two samples inside the window; 100ms when absent"`
	// ConnectTimeout limits the time to open all connections.
	ConnectTimeout unit.Duration `yaml:"connect_timeout" json:"connect_timeout" doc:"how long a connection may take to open; 3s when absent"`
	// AgeNeighbours names hosts whose neighbour entries are removed after the connections are open
	// and ARP's lock time of one second has passed.
	AgeNeighbours []string `yaml:"age_neighbours" json:"age_neighbours,omitempty" doc:"hosts whose neighbour entries age out between connecting and sending, as they do on an idle server"`
	// Events happen during the window.
	Events []Event `yaml:"events" json:"events,omitempty" doc:"settings applied at an instant of the window, and reverted after the trial"`
	// Attacks are executed by hosts of a lab during the window.
	Attacks []attacks.Spec `yaml:"attacks" json:"attacks,omitempty" doc:"what hosts of the lab do to others from the warm-up to the end of the window; only where linerate makes every host and switch"`
	// Accounting selects what is counted. With "sender", the sum of the senders' own averages is a
	// result beside goodput, like that of a tool that counts at the sender, and is compared with
	// the limit.
	Accounting string `yaml:"accounting" json:"accounting,omitempty" doc:"receiver (default); sender: also report the sum of the senders' averages, as tools that count at the sender do" enum:"receiver,sender"`
	// LossFree makes every trial a search.
	LossFree *LossFree `yaml:"loss_free" json:"loss_free,omitempty" doc:"search the highest rate without loss of datagrams instead of sending at one rate; the udp flows share the rate equally; {} takes the defaults below"`
	// Probe adds a latency probe. It counts only in responses that are latencies.
	Probe bool `yaml:"probe" json:"probe,omitempty" doc:"true: measure latency under load, by requests of one byte on the path of the first flow: 1,200 in the window, but at least 100 and at most 1,000 a second, and at most 1 % of the slowest link"`
	// Spec has the default transport options of every flow.
	flow.Spec `yaml:",inline"`
}

// AccountSender is the value of Accounting for what senders count.
const AccountSender = "sender"

// Flow describes connections from one host to another. The host From opens them. In files it may name pairs of hosts,
// which Parse replaces by a Flow for each.
type Flow struct {
	From        string     `yaml:"from,required" json:"from" doc:"the host that opens the connections"`
	To          string     `yaml:"to,required" json:"to" doc:"the host that accepts them"`
	Pairs       string     `yaml:"pairs" json:"-" doc:"instead of from and to: the pattern of [pairs](study-files.md#pairs-of-hosts)" enum:"all,shifts,pairs,ring,halves,triage"`
	Among       string     `yaml:"among" json:"-" doc:"the hosts of pairs; absent: all"`
	Rounds      bool       `yaml:"rounds" json:"-" doc:"true: the pairs are tried in rounds, which are levels of the condition round, instead of all at once"`
	Source      netip.Addr `yaml:"source" json:"source,omitzero" doc:"address to connect from; absent: the kernel chooses"`
	Destination netip.Addr `yaml:"destination" json:"destination,omitzero" doc:"address to connect to; absent: the first address of to"`
	flow.Spec   `yaml:",inline"`
}

// Values of Factor.Role.
const (
	roleCompare   = "compare"   // levels are compared with the baseline level
	roleCondition = "condition" // levels are shown side by side, not compared
)

// Factor is a variable with its levels. The first level is the baseline unless Baseline names
// another one.
type Factor struct {
	Name     string  `yaml:",key" json:"name"`
	Role     string  `yaml:"role" json:"role,omitempty" doc:"compare (default): levels are compared with the baseline; condition: levels are shown side by side" enum:"compare,condition"`
	Baseline string  `yaml:"baseline" json:"baseline,omitempty" doc:"name of the baseline level; absent: the first"`
	Levels   []Level `yaml:"levels,required" json:"levels" doc:"the factor's values, by name"`
	Ablate   string  `yaml:"ablate" json:"ablate,omitempty" doc:"a level whose settings are tested one by one: each alone ('only …'), and the level without each ('without …')"`
	// Untried lists settings of a list that no level makes.
	Untried []Untried `yaml:"untried" json:"untried,omitempty" doc:"settings of a list that no level has, by name: the answer says that they were not tried"`
	// Amended lists settings that the levels changed or added, compared with the original list.
	Amended []Amended `yaml:"amended" json:"amended,omitempty" doc:"settings of a list that levels have otherwise than the list, or beside it, by name: the answer says so"`
}

// Untried is a setting of a list that no level makes.
type Untried struct {
	Key   string `yaml:",key" json:"key"`
	Value string `yaml:"value" json:"value,omitempty" doc:"its value in the list"`
	Why   string `yaml:"why,required" json:"why" doc:"why it is not tried"`
}

// Amended is a setting of the levels that differs from the original list or is missing there.
type Amended struct {
	Key string `yaml:",key" json:"key"`
	Was string `yaml:"was" json:"was,omitempty" doc:"what the list has instead; absent: nothing, the setting was added"`
	Why string `yaml:"why" json:"why,omitempty" doc:"why it was added; absent: it was corrected"`
}

// Level is a set of settings and workload values.
type Level struct {
	Name     string            `yaml:",key" json:"name"`
	About    string            `yaml:"about" json:"about,omitempty" doc:"what this level stands for, in a sentence"`
	Against  string            `yaml:"against" json:"against,omitempty" doc:"the level that this one is compared with; absent: the baseline"`
	Settings []setting.Setting `yaml:"settings" json:"settings,omitempty" doc:"changes made before each trial and reverted after it"`
	Workload *Override         `yaml:"workload" json:"workload,omitempty" doc:"workload values that differ at this level"`
	// Unreachable allows flows that cannot connect or carry nothing; that is then a result.
	Unreachable bool `yaml:"unreachable" json:"unreachable,omitempty" doc:"true: flows that fail to connect or carry nothing at this level are expected and count as zero"`
	// Part is a setting of the level that the factor ablates: the only one that this level makes
	// or, if it is compared with that level, the only one that it lacks. Empty: the level is from
	// the file.
	Part string `yaml:"-" json:"part,omitempty"`
}

// Override is what a level changes in the workload. Options apply to all flows. Flows, if given,
// replaces the flows of the workload.
type Override struct {
	Flows         []Flow         `yaml:"flows" json:"flows,omitempty" doc:"replaces the workload's flows"`
	Duration      unit.Duration  `yaml:"duration" json:"duration,omitempty" doc:"replaces the workload's duration"`
	Warmup        unit.Duration  `yaml:"warmup" json:"warmup,omitempty" doc:"replaces the workload's warm-up"`
	AgeNeighbours []string       `yaml:"age_neighbours" json:"age_neighbours,omitempty" doc:"replaces the workload's age_neighbours"`
	Events        []Event        `yaml:"events" json:"events,omitempty" doc:"replaces the workload's events"`
	Attacks       []attacks.Spec `yaml:"attacks" json:"attacks,omitempty" doc:"replaces the workload's attacks; [] makes none"`
	flow.Spec     `yaml:",inline"`
}

// Design describes the arrangement of trials. Every treatment is tried once per block, in an order
// shuffled with the seed.
type Design struct {
	Replicates int           `yaml:"replicates" json:"replicates" doc:"blocks: how often each treatment is tried; absent: 4 where one comparison is made, 6 for up to 4 comparisons, 8 for more"`
	Until      unit.Ratio    `yaml:"until" json:"until,omitempty" doc:"keep adding blocks until every effect's interval is this narrow (half-width), such as 2%; there are at least 8 blocks"`
	Budget     unit.Duration `yaml:"budget" json:"budget,omitempty" doc:"start no block that would end after this time; one of the first four, which verdicts take, may exceed it by 5 %"`
	Seed       uint64        `yaml:"seed" json:"seed,omitempty" doc:"order of the trials; absent: drawn and printed"`
	Parts      []Part        `yaml:"parts" json:"parts,omitempty" doc:"which combinations of levels are tried, by name; absent: every one"`
	Margin     unit.Ratio    `yaml:"margin" json:"margin,omitempty" doc:"differences smaller than this do not matter in practice; 2% when absent"`
}
