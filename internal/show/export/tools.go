package export

import (
	"strings"

	"linerate/internal/model/record"
)

// toolRows are what other programs said, one row for each process, with the whole
// of what is kept of their words.
func toolRows(run *record.Run) [][]string {
	rows := [][]string{{"run", "trial", "block", "treatment", "process", "tool", "client", "server", "reported_bps", "counted_by",
		"sender_bps", "receiver_bps", "sender_bytes", "receiver_bytes", "seconds", "transactions_per_s", "latency_us",
		"goodput_bps", "predicted_bps", "written_bytes", "writing_s", "own_s", "late_s", "took_s", "error", "command", "output", "errors", "server_command", "server_output", "server_errors"}}
	for _, t := range run.Trials {
		for _, p := range t.Tools {
			rows = append(rows, append(place(run, t), p.ID, p.Tool, p.Client, p.Server, number(p.ReportedBps), p.CountedBy,
				number(p.SenderBps), number(p.ReceiverBps), integer(p.SenderBytes), integer(p.ReceiverBytes), number(p.Seconds),
				number(p.TransactionsPerS), number(p.LatencyUs), number(p.GoodputBps),
				number(p.PredictedBps), integer(p.WrittenBytes), number(p.WritingS), number(p.OwnS), number(p.LateS), number(p.TookS), text(p.Error),
				text(strings.Join(p.Command, " ")), text(p.Output), text(p.Errors),
				text(strings.Join(p.ServerCommand, " ")), text(p.ServerOutput), text(p.ServerErrors)))
		}
	}
	return rows
}
