package present

import (
	"fmt"
	"strings"

	"linerate/internal/model/record"
	"linerate/internal/show/export"
	"linerate/internal/show/number"
	"linerate/internal/show/words"
)

// cpusBusy formats the load of all of a machine's CPUs in parentheses, with its causes. Empty: it
// was not read.
func cpusBusy(m *export.Measurement, e export.End) string {
	if e.CPUBusy == 0 {
		return ""
	}
	// The kernel charges some interrupts to the program that they interrupt.
	linerate, others := busyWith(m, e)
	text := fmt.Sprintf("all of its %s %s %% busy", words.Count(e.CPUs, "CPU"),
		number.Significant(100*max(e.CPUBusy, linerate+others), 2))
	if e.BusyCPUS > 0 {
		text += fmt.Sprintf(": linerate %s %%, other programs and interrupts %s %%",
			number.Significant(100*linerate, 2), number.Significant(100*others, 2))
	}
	if e.AllowedCPUs != nil {
		text += fmt.Sprintf("; linerate may use %d of them", len(e.AllowedCPUs))
	}
	return " (" + text + ")"
}

// busyWith returns the shares of all of a machine's CPUs that linerate used (both ends if they are
// on one machine) and that other work used. 0: they were not read. linerate's time is counted in
// nanoseconds, and that of all CPUs in ticks, which miss short work (proc_stat(5)), so the former
// can be larger.
func busyWith(m *export.Measurement, e export.End) (linerate, others float64) {
	if e.BusyCPUS <= 0 {
		return 0, 0
	}
	own := e.CPUSeconds
	if m.OneMachine {
		own = 0
		for _, end := range m.Ends {
			own += end.CPUSeconds
		}
	}
	return e.CPUBusy * own / e.BusyCPUS, e.CPUBusy * max(0, e.BusyCPUS-own) / e.BusyCPUS
}

// measuredWait says how the requesting threads waited for responses, unless they slept.
func measuredWait(m *export.Measurement) (texts []string) {
	if m.Transactions == nil {
		return nil
	}
	switch m.Transactions.Wait {
	case record.WaitSpin:
		texts = append(texts, "spin: a CPU was free, so a thread read again and again before it would have slept; "+
			"latency has no time of waking it (with it: --poll=false), the CPU time has that of spinning")
	case record.WaitPoll:
		texts = append(texts, "poll: threads did not sleep; the CPU time has that of polling")
	}
	return texts
}

func measureCPU(m *export.Measurement) string {
	perUnit := func(seconds, us float64) string {
		if m.Transactions != nil {
			return number.Significant(us, 2) + " µs"
		}
		return number.Significant(seconds, 2) + " s"
	}
	of := "per gigabyte: "
	if m.Transactions != nil {
		of = "per transaction: "
	}
	var texts []string
	for _, e := range m.Ends {
		text := e.Host + " " + perUnit(e.CPUSPerGigabyte, e.CPUUsPerTransaction)
		if !m.OneMachine {
			text += cpusBusy(m, e)
		}
		texts = append(texts, text)
	}
	text := of + strings.Join(texts, ", ")
	if len(m.Ends) > 1 {
		text += "; together " + perUnit(m.CPUSPerGigabyte, m.CPUUsPerTransaction)
	}
	if m.OneMachine {
		text += ", on one machine" + cpusBusy(m, m.Ends[0])
	}
	if len(m.Ends) == 1 && m.PeerCPUPercent > 0 {
		text += fmt.Sprintf("; the server reports %s %% of a CPU, over its own time",
			number.Significant(m.PeerCPUPercent, 2))
	}
	return text
}
