package machine

import (
	"slices"

	"linerate/internal/model/cause"
	"linerate/internal/model/fact"
	"linerate/internal/model/netstate"
	"linerate/internal/model/record"

	"linerate/internal/science/diagnose/facts"
	"linerate/internal/science/diagnose/rule"
)

// LogRules are about lines that the kernel has logged.
var LogRules = []rule.Rule{
	{ID: cause.FaultLogged.Code, Host: true, Own: true, Parts: []string{"kernel log"}, Find: loggedFaults},
}

// loggedFaults finds the messages of netstate.Messages that mean a fault in the log since the boot.
func loggedFaults(f facts.Trial) (findings []record.Finding) {
	const most = 3 // lines of each
	for _, h := range f.Hosts {
		if h.State.Log == nil {
			continue
		}
		logged := faultsIn(h.State.Log.Lines)
		for i := range netstate.Messages {
			m := &netstate.Messages[i]
			lines := logged[m]
			if len(lines) == 0 {
				continue
			}
			finding := facts.Found(cause.FaultLogged, h, m.Sure, cause.Logged{Fault: m.Code})
			var shown []string
			for _, line := range lines {
				if len(shown) < most && !slices.Contains(shown, line) {
					shown = append(shown, line)
					finding.With(h.Name, fact.Text{Text: line})
				}
			}
			if len(lines) > len(shown) {
				finding.With(h.Name, fact.LoggedLines{Lines: len(lines)})
			}
			if !h.State.FirstNamespace && len(h.Pasted) == 0 {
				finding.With(h.Name, fact.MachineLog{})
			}
			finding.Boot = true
			findings = append(findings, *finding)
		}
	}
	return findings
}

// faultsIn returns the texts of the lines that mean a fault, by their message. Of a message that means
// one only if it is repeated, these are the lines about subjects with so many lines.
func faultsIn(lines []netstate.LogLine) map[*netstate.Message][]string {
	type about struct {
		m       *netstate.Message
		subject string
	}
	of, count := make([]about, len(lines)), map[about]int{}
	for i, line := range lines {
		m := netstate.MessageOf(line.Text)
		if m == nil || m.Sure == "" {
			continue
		}
		of[i].m = m
		if m.Least > 0 {
			of[i].subject = m.Subject(line.Text)
		}
		count[of[i]]++
	}
	faults := map[*netstate.Message][]string{}
	for i, a := range of {
		if a.m != nil && count[a] >= a.m.Least {
			faults[a.m] = append(faults[a.m], lines[i].Text)
		}
	}
	return faults
}
