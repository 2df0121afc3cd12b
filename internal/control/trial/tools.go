package trial

import (
	"context"
	"maps"
	"slices"
	"strings"
	"sync"
	"time"

	"linerate/internal/model/message"
	"linerate/internal/model/record"
	"linerate/internal/model/tool"
)

// How long programs are given to end. A client goes on beyond the trial by up to a
// second, where its time is in whole ones, and then until what it has written has
// arrived: as long again as the trial for one whose send buffer is full.
const (
	clientsGrace = 15 * time.Second
	serversGrace = 2 * time.Second
)

// Programs is what the programs of a trial printed, by process; zero: none ran.
type Programs struct{ clients, servers map[string]message.Printed }

// Programs collects it once the window is over: from the clients first, because a
// server ends when it is asked.
func (g Group) Programs(ctx context.Context, flows []*Flow, took time.Duration) (Programs, error) {
	p := Programs{map[string]message.Printed{}, map[string]message.Printed{}}
	ask := func(servers bool, grace time.Duration, host func(*Flow) string, into map[string]message.Printed) error {
		hosts := map[string]bool{}
		for _, f := range flows {
			if f.Process != "" {
				hosts[host(f)] = true
			}
		}
		var mu sync.Mutex
		return EachNode(slices.Sorted(maps.Keys(hosts)), func(host string) error {
			var list []message.Printed
			request := message.ToolsRequest{Servers: servers, TimeoutNs: int64(grace)}
			if err := g.Bus.Call(ctx, host, "tools", request, &list); err != nil {
				return err
			}
			mu.Lock()
			defer mu.Unlock()
			for _, one := range list {
				into[one.Process] = one
			}
			return nil
		})
	}
	err := ask(false, max(clientsGrace, took), func(f *Flow) string { return f.Opener }, p.clients)
	if err == nil {
		err = ask(true, serversGrace, func(f *Flow) string { return f.Acceptor }, p.servers)
	}
	return p, err
}

// enter adds to a flow's record what is known of it because a program made it. The
// program connects while the trial is under way: what is wrong with the connection is
// the flow's error, and it is not alive then.
func (p Programs) enter(rec *record.Flow, f *Flow, e ends) {
	wrong := ""
	if opener, acceptor := f.sides(e.s1, e.r1); f.foreign() && opener.Local != acceptor.Remote {
		wrong = "the two hosts report different connections of the program"
	}
	if rec.Alive && (!e.s0.Alive || !e.r0.Alive) {
		rec.Alive, wrong = false, "its connection was not there yet when the window began"
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

// tools are what a trial's programs report, beside what their flows carried. Sender
// prefers the sender's own count.
func (r Readings) tools(flows []*Flow, counted []record.Flow, p Programs, sender bool) (list []record.ToolRun) {
	for i, f := range flows {
		if f.Process == "" || slices.ContainsFunc(list, func(t record.ToolRun) bool { return t.ID == f.Process }) {
			continue
		}
		client, server := p.clients[f.Process], p.servers[f.Process]
		run := record.ToolRun{
			ID: f.Process, Tool: f.Tool, Client: f.Opener, Server: f.Acceptor,
			Command: client.Command, ServerCommand: server.Command,
			Output: last(client.Text), Errors: last(client.Errors), ServerOutput: last(server.Text), ServerErrors: last(server.Errors),
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
		read(&run, client, server, sender)
		outlive(&run, client.Lives)
		list = append(list, run)
	}
	return list
}

// read finds the figure that people read off the client: the receiver's, where the
// client shows it, unless the sender's is asked for.
func read(run *record.ToolRun, client, server message.Printed, sender bool) {
	program, known := tool.Find(run.Tool)
	switch {
	case !known:
		return
	case client.Command == nil:
		run.Error = program.Name + " was not started"
		return
	case client.EndNs == 0:
		run.Error = program.Name + " did not end in time, and was killed"
	}
	report, err := program.Parse(client.Text, server.Text)
	run.Report = report
	if err != nil {
		if run.Error == "" {
			run.Error = err.Error()
			if said := strings.TrimSpace(client.Errors); said != "" {
				run.Error += "; it says: " + said[max(0, len(said)-maxSaid):]
			}
		}
		return
	}
	run.ReportedBps, run.CountedBy = report.ReceiverBps, record.CountedByReceiver
	if report.SenderBps > 0 && (sender || report.FromServer || report.ReceiverBps == 0) {
		run.ReportedBps, run.CountedBy = report.SenderBps, record.CountedBySender
	}
}

// outlive enters what became of a client's connections, and what it must say by
// that if it counts at the sender. The streams of one client share its time.
func outlive(run *record.ToolRun, lives []message.Life) {
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
	if program, known := tool.Find(run.Tool); known && program.Waits {
		took = run.OwnS
	}
	if took > 0 {
		run.PredictedBps = float64(run.WrittenBytes) * 8 / took
	}
}

// maxSaid is how much of a program's complaint is shown in an error.
const maxSaid = 200

// last is the part of an output that is kept.
func last(text string) string { return text[max(0, len(text)-message.MaxPrinted):] }
