package cli

import (
	"fmt"
	"slices"
	"strings"
	"time"

	"linerate/internal/control/measure"
	"linerate/internal/host/iperf3"
	"linerate/internal/model/flow"
	"linerate/internal/model/metric"
	"linerate/internal/model/source"
	"linerate/internal/model/unit"
	"linerate/internal/science/expect"
)

// searchWarmup is the default warm-up of a search's trials. It is short, because datagrams have no
// slow start.
const searchWarmup = 200 * time.Millisecond

// Defaults of a search for the highest rate that meets an objective. They are coarser, because
// latency is noisier than loss.
const (
	maxResolution = unit.Ratio(0.05)
	maxRepeats    = 3
)

// searching evaluates the flags of a search for the highest rate without loss, or for the highest
// rate that meets an objective.
func (f *measureFlags) searching(o *measure.Options) (problems []error) {
	problem := func(format string, args ...any) { problems = append(problems, fmt.Errorf(format, args...)) }
	objective := f.given("find-max")
	for _, flag := range []string{"loss", "resolution", "repeats"} {
		switch {
		case !f.given(flag) || f.lossFree:
		case flag == "loss":
			problem("--loss is for a search: expected --loss-free as well")
		case !objective:
			problem("--%s is for a search: expected --loss-free or --find-max as well", flag)
		}
	}
	switch {
	case objective:
		return append(problems, f.objective(o)...)
	case !f.lossFree:
		return problems
	}
	if o.Flows.Protocol != flow.UDP {
		problem("--loss-free is for udp, and --protocol is %s", o.Flows.Protocol)
	}
	if o.Flows.Direction == flow.Both {
		problem("--loss-free and --direction both: expected one direction at a time")
	}
	if o.Latency {
		problem("--loss-free and --latency: expected one of them")
	}
	f.search.Check(func(name, format string, args ...any) { problem("--"+format, args...) })
	if !f.given("warmup") {
		o.Warmup = searchWarmup
	}
	o.LossFree = &f.search
	return problems
}

// objective evaluates the flags of a search for the highest rate that meets an objective.
func (f *measureFlags) objective(o *measure.Options) (problems []error) {
	problem := func(format string, args ...any) { problems = append(problems, fmt.Errorf(format, args...)) }
	if f.protocolKnown() && !f.transacts() {
		problem("--find-max is for %s, and --protocol is %s, which makes no requests",
			source.Or(metric.Transactions.Protocols), o.Flows.Protocol)
		return problems
	}
	if f.given("pace") {
		problem("--find-max and --pace: the rate is what is searched; expected one of them")
	}
	if f.lossFree {
		problem("--find-max and --loss-free: expected one of them")
	}
	if !f.given("resolution") {
		f.search.Resolution = maxResolution
	}
	if !f.given("repeats") {
		f.search.Repeats = maxRepeats
	}
	f.search.Check(func(name, format string, args ...any) { problem("--"+format, args...) })
	objective, err := expect.Parse(f.findMax, metric.Setup{Protocol: o.Flows.Protocol})
	switch {
	case err != nil && f.protocolKnown():
		problem("--find-max: %w", err)
	case len(objective) == 0:
		problem("--find-max: expected conditions, such as 'latency_p99 <= 20ms'")
	case slices.Contains(objective.Metrics(), metric.Transactions.Name):
		problem(
			"--find-max %q: the rate is what is searched; expected conditions on other metrics, such as "+
				"'latency_p99 <= 20ms'", f.findMax)
	}
	o.FindMax = &measure.FindMax{Objective: objective, Resolution: f.search.Resolution, Repeats: f.search.Repeats}
	return problems
}

// iperf3Unsuited lists flags that have no meaning for an iperf3 server, and why.
var iperf3Unsuited = []struct{ flag, why string }{
	{"latency", "an iperf3 server answers no requests"},
	{"find-max", "an iperf3 server answers no requests"},
	{"loss-free", "an iperf3 server reports losses only when a test is over"},
	{"source-port", "the ports of its connections cannot be chosen"},
	{"bind-no-port", "the ports of its connections cannot be chosen"},
	{"token", "an iperf3 server knows users: --iperf3-user"},
	{"read-cap", "an iperf3 server reads as fast as it can"},
	{"write-cap", "--rate-cap is what iperf3 knows"},
	{"send-buffer", "iperf3 has one size for all buffers: --window"},
	{"receive-buffer", "iperf3 has one size for all buffers: --window"},
}

// problems returns what is wrong with the flags for an iperf3 server.
func (f iperf3Flags) problems(m *measureFlags, o measure.Options) (problems []error) {
	problem := func(format string, args ...any) { problems = append(problems, fmt.Errorf(format, args...)) }
	if !f.on {
		for _, flag := range []string{"iperf3-user", "iperf3-password", "iperf3-key", "iperf3-pkcs1"} {
			if m.given(flag) {
				problem("--%s is for an iperf3 server: expected --iperf3 with it", flag)
			}
		}
		return problems
	}
	if p := o.Flows.Protocol; m.transacts() {
		problem("--protocol %s: iperf3 has only tcp and udp; a linerate serve there can do it", p)
	}
	for _, u := range iperf3Unsuited {
		if m.given(u.flag) {
			problem("--%s with --iperf3: %s", u.flag, u.why)
		}
	}
	if len(o.Addresses) > 1 || len(o.Sources) > 1 {
		problem("--iperf3: expected one address, and one --source at most: a test of iperf3's has one of each")
	}
	if o.Flows.Streams > iperf3.MaxStreams {
		problem("--streams %d: iperf3 takes at most %d in each direction", o.Flows.Streams, iperf3.MaxStreams)
	}
	if d := o.Duration; d > iperf3.MaxTimeS*time.Second {
		problem("--duration %v: iperf3 takes at most %v", unit.Duration(d), unit.Duration(iperf3.MaxTimeS*time.Second))
	}
	if d := m.asked.Warmup; d > iperf3.MaxOmitS*time.Second {
		problem("--warmup %v: iperf3 omits at most %v", unit.Duration(d), unit.Duration(iperf3.MaxOmitS*time.Second))
	}
	if o.Flows.Window > iperf3.MaxWindow {
		problem("--window %v: iperf3 takes at most %d bytes", o.Flows.Window, iperf3.MaxWindow)
	}
	switch {
	case f.user == "" && (m.given("iperf3-password") || m.given("iperf3-key") || f.pkcs1):
		problem("--iperf3-password, --iperf3-key and --iperf3-pkcs1 go with --iperf3-user")
	case m.given("iperf3-user") && (f.user == "" || strings.ContainsAny(f.user, " \t\n")):
		problem("--iperf3-user %q: expected a name without blanks", f.user)
	case f.user != "" && f.key == "":
		problem("--iperf3-user: expected --iperf3-key with it, the server's public key")
	}
	return problems
}
