package export

import (
	"linerate/internal/model/record"

	"linerate/internal/science/hostload"
)

// cpuRows have every CPU of every machine under a trial; shares are of the window.
func cpuRows(run *record.Run) [][]string {
	rows := [][]string{{"run", "trial", "block", "treatment", "machine", "cpu", "busy", "user", "system", "irq", "softirq", "steal",
		"interrupts_per_s", "net_rx_per_s", "softnet_processed", "softnet_dropped", "softnet_squeezed"}}
	for _, t := range run.Trials {
		for _, m := range hostload.Of(t, t.Over(&run.Topology)) {
			for _, c := range m.CPUs {
				rows = append(rows, append(place(run, t), text(m.Name), integer(c.CPU), number(c.Busy), number(c.User), number(c.System), number(c.IRQ),
					number(c.SoftIRQ), number(c.Steal), number(c.InterruptsPerS), number(c.NetRxPerS), number(c.Processed), number(c.SoftDropped), number(c.Squeezed)))
			}
		}
	}
	return rows
}

func machineRows(run *record.Run) [][]string {
	rows := [][]string{{"run", "trial", "block", "treatment", "machine", "cpus", "busy", "rx_missed_errors", "softnet_dropped", "softnet_squeezed",
		"memory_some_waited", "memory_all_waited", "available_bytes", "tcp_bytes", "segments_sent", "segments_resent", "tcp_memory_pressures"}}
	for _, t := range run.Trials {
		for _, m := range hostload.Of(t, t.Over(&run.Topology)) {
			rows = append(rows, append(place(run, t), text(m.Name), integer(len(m.CPUs)), number(m.Busy), number(m.RxMissed), number(m.SoftDropped), number(m.Squeezed),
				number(m.SomeWaited), number(m.AllWaited), integer(m.AvailableBytes), integer(m.TCPBytes), integer(m.Sent), integer(m.Resent), integer(m.TCPPressures)))
		}
	}
	return rows
}
