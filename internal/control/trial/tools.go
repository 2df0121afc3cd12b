package trial

import (
	"cmp"
	"context"
	"slices"
	"strings"
	"time"

	"linerate/internal/bus"
	"linerate/internal/model/message"
	"linerate/internal/model/record"
	"linerate/internal/model/tool"
)

// How long programs are given to end. A client continues after the trial for up to a second, if it
// counts its time in whole ones, and then until everything written has arrived: with a full send
// buffer, for as long again as the trial.
const (
	clientsGrace = 15 * time.Second
	serversGrace = 2 * time.Second
)

// Programs is the output of the foreign programs of a trial, by process. The zero value: none ran.
type Programs struct{ clients, servers map[string]message.Printed }

// Programs collects the output of the programs after the window. It asks the clients first,
// because the servers end when their clients do. Clients may take as long as took, and at least
// clientsGrace, to end.
func (g Group) Programs(ctx context.Context, flows []*Flow, took time.Duration) (Programs, error) {
	clients, servers := map[string]message.ToolsRequest{}, map[string]message.ToolsRequest{}
	for _, f := range flows {
		if f.Process != "" {
			clients[f.Opener] = message.ToolsRequest{TimeoutNs: int64(max(clientsGrace, took))}
			servers[f.Acceptor] = message.ToolsRequest{Servers: true, TimeoutNs: int64(serversGrace)}
		}
	}
	printed := func(requests map[string]message.ToolsRequest) (map[string]message.Printed, error) {
		by := map[string]message.Printed{}
		replies, err := bus.Ask(ctx, g.Bus, message.Tools, requests)
		for _, list := range replies {
			for _, one := range list {
				by[one.Process] = one
			}
		}
		return by, err
	}
	var p Programs
	var err error
	if p.clients, err = printed(clients); err == nil {
		p.servers, err = printed(servers)
	}
	return p, err
}

// fill completes the record of a flow that a program made. The program connects while the trial is
// in progress, so an error of the connection is an error of the flow, which is then not alive.
func (p Programs) fill(rec *record.Flow, f *Flow, e ends, sender message.WindowReply) {
	wrong := ""
	made, _ := tool.Find(f.Tool)
	if rec.Transactions == nil {
		answered(rec, f, e)
	}
	if made != nil && made.All && e.r1.Info == nil { // several connections: what TCP_INFO has of one
		rec.ArrivedBytes = e.r1.ReceivedBytes + e.r1.UnreadBytes - e.r0.ReceivedBytes - e.r0.UnreadBytes
		rec.OutOfOrderBytes = e.s0.OutOfOrderBytes
		rec.HeldBytes = max(e.s0.OutOfOrderBytes, e.s1.OutOfOrderBytes)
		together(f.ID, sender).fill(rec)
	}
	if opener, acceptor := f.sides(e.s1, e.r1); f.foreign() && made != nil && !made.All &&
		opener.Local != acceptor.Remote {
		wrong = "the two hosts report different connections of the program"
	}
	if rec.Alive && (!e.s0.Alive || !e.r0.Alive) {
		rec.Alive, wrong = false, "its connection was not open yet when the window began"
	}
	if rec.Error == "" && wrong != "" {
		rec.Alive, rec.Error = false, wrong
	}
	for _, l := range p.clients[f.Process].Lives {
		if own := l.LastNs - l.FirstNs; l.ID == f.ID && own > 0 {
			rec.SenderAverageBps = float64(l.WrittenBytes) * 8e9 / float64(own)
		}
	}
}

// answered fills in the transactions of a flow whose client is another program, by the count of
// linerate's server: those that it has answered.
func answered(rec *record.Flow, f *Flow, e ends) {
	_, before := f.sides(e.s0, e.r0)
	_, after := f.sides(e.s1, e.r1)
	if before.Transactions == nil || after.Transactions == nil {
		return
	}
	n := after.Transactions.Done - before.Transactions.Done
	rec.Transactions = &record.Transactions{
		Done: n, Answered: n, Connections: after.Transactions.Connections,
		Opened: after.Transactions.Opened - before.Transactions.Opened,
	}
	if span := after.AtNs - before.AtNs; span > 0 {
		rec.TransactionsPerS = float64(n) * 1e9 / float64(span)
	}
}

// tools returns what a trial's programs report, beside what their flows carried. With sender set,
// the sender's own figure is preferred.
func (r Readings) tools(flows []*Flow, counted []record.Flow, p Programs, sender bool) (list []record.ToolRun) {
	for i, f := range flows {
		if f.Process == "" || slices.ContainsFunc(list, func(t record.ToolRun) bool { return t.ID == f.Process }) {
			continue
		}
		client, server := p.clients[f.Process], p.servers[f.Process]
		run := record.ToolRun{
			ID: f.Process, Tool: f.Tool.String(), Client: f.Opener, Server: f.Acceptor,
			Command: client.Command, ServerCommand: server.Command, NotConfined: cmp.Or(client.NotConfined,
				server.NotConfined),
			Output: last(client.Text), Errors: last(client.Errors), ServerOutput: last(server.Text),
			ServerErrors: last(server.Errors),
		}
		for _, same := range counted[i:] {
			if same.Process == f.Process {
				run.GoodputBps += same.GoodputBps
			}
		}
		if client.StartNs > 0 {
			run.LateS = float64(client.StartNs-r.Clocks[f.Opener].OffsetNs-r.StartNs) / 1e9
		}
		if client.EndNs > 0 {
			run.TookS = float64(client.EndNs-client.StartNs) / 1e9
		}
		program, known := tool.Find(f.Tool)
		if !known {
			continue
		}
		read(&run, program, f, client, server, sender)
		outlive(&run, program, client.Lives)
		list = append(list, run)
	}
	return list
}

// read parses the figure that people take from the client's output: the receiver's if the client
// prints it, unless sender is set.
func read(run *record.ToolRun, program *tool.Tool, f *Flow, client, server message.Printed, sender bool) {
	switch {
	case client.Command == nil:
		run.Error = program.Name + " was not started"
		return
	case client.EndNs == 0:
		run.Error = program.Name + " did not end in time, and was killed"
	}
	report, err := program.Parse(client.Text, server.Text, !f.OpenerSends)
	run.Report = report
	if err != nil {
		if run.Error == "" {
			run.Error = err.Error()
			if said := strings.TrimSpace(client.Errors); said != "" {
				run.Error += "; it printed: " + said[max(0, len(said)-maxSaid):]
			}
		}
		return
	}
	if report.ReceiverBps > 0 {
		run.ReportedBps, run.CountedBy = report.ReceiverBps, record.CountedByReceiver
	}
	if report.SenderBps > 0 && (sender || report.FromServer || report.ReceiverBps == 0) {
		run.ReportedBps, run.CountedBy = report.SenderBps, record.CountedBySender
	}
}

// outlive fills in when a client's connections ended, and the figure that it must print if it
// counts at the sender. The streams of a client share its time.
func outlive(run *record.ToolRun, program *tool.Tool, lives []message.Life) {
	if len(lives) == 0 {
		return
	}
	first, last, end := lives[0].FirstNs, lives[0].LastNs, lives[0].EndNs
	for _, l := range lives {
		run.WrittenBytes += l.WrittenBytes
		first, last, end = min(first, l.FirstNs), max(last, l.LastNs), max(end, l.EndNs)
	}
	run.WritingS, run.OwnS = float64(last-first)/1e9, max(0, float64(end-first)/1e9)
	took := run.WritingS
	if program.Waits {
		took = run.OwnS
	}
	if took > 0 {
		run.PredictedBps = float64(run.WrittenBytes) * 8 / took
	}
}

// maxSaid is how many bytes of a program's standard error an error shows.
const maxSaid = 200

// last returns the part of an output that is kept, its end.
func last(text string) string { return text[max(0, len(text)-message.MaxPrinted):] }
