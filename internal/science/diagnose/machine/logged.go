package machine

import (
	"regexp"

	"linerate/internal/model/cause"
	"linerate/internal/model/fact"
	"linerate/internal/model/record"

	"linerate/internal/science/diagnose/facts"
	"linerate/internal/science/diagnose/rule"
)

// LogRules are about lines that the kernel has logged.
var LogRules = []rule.Rule{
	{ID: cause.FaultLogged.Code, Host: true, Own: true, Parts: []string{"kernel log"}, Find: loggedFaults},
}

// faultsLogged are patterns of log lines that the kernel writes only if something is wrong. The
// texts are from net/ in the kernel.
var faultsLogged = []struct {
	fault string
	lines *regexp.Regexp
}{
	{cause.TransmitTimedOut, regexp.MustCompile(`(?i)netdev watchdog|transmit queue \d+ timed out`)},
	{cause.ConntrackOverflow, regexp.MustCompile(`nf_conntrack: .*table full`)},
	{cause.NeighbourOverflow, regexp.MustCompile(`(?i)neighbou?r(:.*)? table overflow`)},
	{cause.SYNFlood, regexp.MustCompile(`(?i)possible syn flooding`)},
	{cause.OutOfTCPMemory, regexp.MustCompile(`(?i)tcp: (out of memory|too many orphaned)`)},
	{cause.AddressTaken, regexp.MustCompile(`(?i)duplicate address detected`)},
	{cause.CameUpHalfDuplex, regexp.MustCompile(`(?i)link (is )?up\b.*half.duplex`)},
	{cause.AllocationFailed, regexp.MustCompile(`(?i)page allocation failure`)},
}

// loggedFaults finds such lines in the log since the boot.
func loggedFaults(f facts.Trial) (findings []record.Finding) {
	const most = 3 // lines of each
	for _, h := range f.Hosts {
		if h.State.Log == nil {
			continue
		}
		for _, fault := range faultsLogged {
			finding := facts.Found(cause.FaultLogged, h, record.Possible, cause.Logged{Fault: fault.fault})
			n := 0
			for _, line := range h.State.Log.Lines {
				if !fault.lines.MatchString(line.Text) {
					continue
				}
				if n++; n <= most {
					finding.With(h.Name, fact.Text{Text: line.Text})
				}
			}
			if n > most {
				finding.With(h.Name, fact.LoggedLines{Lines: n})
			}
			if n > 0 && !h.State.FirstNamespace && len(h.Pasted) == 0 {
				finding.With(h.Name, fact.MachineLog{})
			}
			if finding.Boot = true; n > 0 {
				findings = append(findings, *finding)
			}
		}
	}
	return findings
}
