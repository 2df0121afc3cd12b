package export

import (
	"cmp"
	"compress/gzip"
	"encoding/json"
	"io"
	"math"
	"path/filepath"
	"slices"
	"time"

	"linerate/internal/model/flow"
	"linerate/internal/model/metric"
	"linerate/internal/model/record"
	"linerate/internal/science/compare"
)

// mostFlows is how many flows a trial of the result document lists one by one. Those
// of a larger trial are grouped, except in the trials that the report shows.
const mostFlows = 64

// document is a run as people and programs read it: every figure that its report
// shows, without the raw readings from which they follow. Samples, TCP_INFO and
// counters of all trials are in the export (Trials, and the tables).
type document struct {
	*record.Run
	Trials []trialDocument `json:"trials"`
	// Snapshots are in the export (Snapshots).
	Snapshots []snapshotsDocument `json:"snapshots,omitempty"`
}

// snapshotsDocument says which snapshots the run has of a host.
type snapshotsDocument struct {
	Host    string     `json:"host"`
	Before  *time.Time `json:"before_taken,omitempty"`
	After   *time.Time `json:"after_taken,omitempty"`
	Missing string     `json:"missing,omitempty"`
	// Changes are those that others than the run made meanwhile.
	Changes []record.Change `json:"changes,omitempty"`
}

func documentOfSnapshots(run *record.Run) (list []snapshotsDocument) {
	changed := compare.Changed(run)
	for _, s := range run.Snapshots {
		d := snapshotsDocument{Host: s.Host, Missing: s.Missing}
		if s.Before != nil {
			d.Before = &s.Before.Taken
		}
		if s.After != nil {
			d.After = &s.After.Taken
		}
		for _, c := range changed {
			if c.To == s.Host {
				d.Changes = c.Changes
			}
		}
		list = append(list, d)
	}
	return list
}

type trialDocument struct {
	*record.Trial
	// Shown marks the trial that stands for its treatment in the report: its
	// response is nearest to the treatment's mean. It alone has tables and series.
	Shown bool `json:"shown,omitempty"`
	// Responses are its values of those that the run is judged by, in records' units; one
	// is absent where the trial has none.
	Responses map[string]float64 `json:"responses"`
	Flows     []flowDocument     `json:"flows,omitempty"`
	// Groups are the flows of a trial that has more than mostFlows, in place of Flows.
	Groups []flowGroup      `json:"flow_groups,omitempty"`
	Hosts  []hostDocument   `json:"hosts"`
	Tools  []record.ToolRun `json:"tools,omitempty"`
	// Switches have their forwarding tables in the trial that is Shown.
	Switches []record.SwitchReading `json:"switches,omitempty"`
	// ToolGroups are the processes of a trial that has more than mostFlows, in place
	// of Tools.
	ToolGroups []toolGroup `json:"tool_groups,omitempty"`
	// Topology is left out: the run has it, and the treatment's settings change it.
	Topology *struct{} `json:"topology,omitempty"`
}

// flowDocument is a flow without what both ends' kernels said of it.
type flowDocument struct {
	record.Flow
	SenderInfo   *struct{} `json:"sender_info,omitempty"`
	ReceiverInfo *struct{} `json:"receiver_info,omitempty"`
	Bins         *struct{} `json:"bins,omitempty"`
	RTTUs        uint32    `json:"rtt_us,omitempty"`    // at the window's end
	MSSBytes     uint32    `json:"mss_bytes,omitempty"` // as the sender's kernel used it
}

// flowGroup is what flows between two hosts, held back by one thing, did together.
type flowGroup struct {
	From          string  `json:"from"`
	To            string  `json:"to"`
	Protocol      string  `json:"protocol"`
	LimitedBy     string  `json:"limited_by"`
	Flows         int     `json:"flows"`
	Connected     int     `json:"connected"`
	GoodputBps    float64 `json:"goodput_bps"` // of all together
	LeastBps      float64 `json:"least_bps"`
	MedianBps     float64 `json:"median_bps"`
	MostBps       float64 `json:"most_bps"`
	ReceivedBytes int64   `json:"received_bytes"`
	WrittenBytes  int64   `json:"written_bytes"`
	AckedBytes    int64   `json:"acked_bytes"`
	UnsentBytes   int64   `json:"unsent_bytes"`
	RetransBytes  int64   `json:"retrans_bytes"`
}

// toolGroup sums up the processes of one program between two hosts. Rates are sums
// over the processes that gave one.
type toolGroup struct {
	Tool          string  `json:"tool"`
	Client        string  `json:"client"`
	Server        string  `json:"server"`
	Processes     int     `json:"processes"`
	Failed        int     `json:"failed,omitempty"`
	ReportedBps   float64 `json:"reported_bps"`
	PredictedBps  float64 `json:"predicted_bps,omitempty"`
	GoodputBps    float64 `json:"goodput_bps"`
	SenderBytes   int64   `json:"sender_bytes,omitempty"`
	ReceiverBytes int64   `json:"receiver_bytes,omitempty"`
	WrittenBytes  int64   `json:"written_bytes,omitempty"`
	// Example is the first process that failed, else the first one.
	Example record.ToolRun `json:"example"`
}

type hostDocument struct {
	Host         string  `json:"host"`
	CPUBusy      float64 `json:"cpu_busy"`
	GeneratorCPU float64 `json:"generator_cpu"`
	ProcessCPUS  float64 `json:"process_cpu_s,omitempty"`
	// Interfaces are the loads in the window, Counters the kernel's SNMP and netstat
	// counters that grew in it.
	Interfaces []interfaceLoad    `json:"interfaces,omitempty"`
	Counters   map[string]int64   `json:"counters,omitempty"`
	Others     *record.OtherFlows `json:"others,omitempty"`
	Missing    []string           `json:"missing,omitempty"`
	Log        *record.KernelLog  `json:"kernel_log,omitempty"`
	// Only in a trial that is shown.
	Snapshot *record.Snapshot  `json:"snapshot,omitempty"`
	Series   []InterfaceSeries `json:"series,omitempty"`
}

type interfaceLoad struct {
	Interface string  `json:"interface"`
	RxBps     float64 `json:"rx_bps"`
	TxBps     float64 `json:"tx_bps"`
	RxPackets float64 `json:"rx_packets"`
	TxPackets float64 `json:"tx_packets"`
	Dropped   uint64  `json:"dropped,omitempty"` // either direction
	Errors    uint64  `json:"errors,omitempty"`
}

// InterfaceSeries is an interface's load between one sample and the next.
type InterfaceSeries struct {
	Interface string    `json:"interface"`
	AtS       []float64 `json:"at_s"` // since the window began, the middle of the two
	RxBps     []float64 `json:"rx_bps"`
	TxBps     []float64 `json:"tx_bps"`
}

func documentOf(run *record.Run) document {
	shown := map[int]bool{}
	for i := range run.Treatments {
		if t := metric.Typical(run, &run.Treatments[i]); t != nil {
			shown[t.Order] = true
		}
	}
	d := document{Run: run, Trials: make([]trialDocument, 0, len(run.Trials)), Snapshots: documentOfSnapshots(run)}
	for i := range run.Trials {
		t := &run.Trials[i]
		trial := documentOfTrial(t, shown[t.Order])
		for _, r := range metric.Of(run) {
			if value, ok := r.Value(t); ok {
				trial.Responses[r.Name] = value
			}
		}
		d.Trials = append(d.Trials, trial)
	}
	return d
}

func documentOfTrial(t *record.Trial, shown bool) trialDocument {
	d := trialDocument{Trial: t, Shown: shown, Responses: map[string]float64{}}
	if len(t.Flows) > mostFlows {
		d.Groups = groups(t.Flows)
	} else {
		for _, f := range t.Flows {
			flow := flowDocument{Flow: f}
			if f.SenderInfo != nil {
				flow.RTTUs, flow.MSSBytes = f.SenderInfo.RTTUs, f.SenderInfo.SndMSS
			}
			d.Flows = append(d.Flows, flow)
		}
	}
	if len(t.Tools) > mostFlows {
		d.ToolGroups = toolGroups(t.Tools)
	} else {
		d.Tools = t.Tools
	}
	for _, h := range t.Hosts {
		host := hostDocument{
			Host: h.Host, CPUBusy: h.CPUBusy, GeneratorCPU: h.GeneratorCPU, ProcessCPUS: h.ProcessCPUS,
			Interfaces: loads(h), Counters: grown(h), Others: h.Others, Missing: h.End.Missing, Log: h.Log,
		}
		if shown {
			host.Snapshot, host.Series = &h.Snapshot, Series(h)
		}
		d.Hosts = append(d.Hosts, host)
	}
	for _, s := range t.Switches {
		if !shown {
			s.FDB = nil
		}
		d.Switches = append(d.Switches, s)
	}
	return d
}

func groups(flows []record.Flow) []flowGroup {
	var list []flowGroup
	var rates [][]float64 // of the flows of each group
	for _, f := range flows {
		protocol := flow.Of(f.Protocol).Name
		i := slices.IndexFunc(list, func(g flowGroup) bool {
			return g.From == f.From && g.To == f.To && g.Protocol == protocol && g.LimitedBy == f.LimitedBy
		})
		if i < 0 {
			i = len(list)
			list, rates = append(list, flowGroup{From: f.From, To: f.To, Protocol: protocol, LimitedBy: f.LimitedBy}),
				append(rates, nil)
		}
		g := &list[i]
		g.Flows++
		if f.Connected {
			g.Connected++
		}
		rates[i] = append(rates[i], f.GoodputBps)
		g.GoodputBps += f.GoodputBps
		g.ReceivedBytes += f.ReceivedBytes
		g.WrittenBytes += f.WrittenBytes
		g.AckedBytes += f.AckedBytes
		g.UnsentBytes += f.UnsentBytes
		g.RetransBytes += f.RetransBytes
	}
	for i, r := range rates {
		slices.Sort(r)
		list[i].LeastBps, list[i].MedianBps, list[i].MostBps = r[0], r[len(r)/2], r[len(r)-1]
	}
	return list
}

func toolGroups(runs []record.ToolRun) []toolGroup {
	var list []toolGroup
	for _, r := range runs {
		i := slices.IndexFunc(list, func(g toolGroup) bool {
			return g.Tool == r.Tool && g.Client == r.Client &&
				g.Server == r.Server
		})
		if i < 0 {
			i = len(list)
			list = append(list, toolGroup{Tool: r.Tool, Client: r.Client, Server: r.Server, Example: r})
		}
		g := &list[i]
		g.Processes++
		if r.Error != "" {
			if g.Failed == 0 {
				g.Example = r
			}
			g.Failed++
		}
		g.ReportedBps += r.ReportedBps
		g.PredictedBps += r.PredictedBps
		g.GoodputBps += r.GoodputBps
		g.SenderBytes += r.SenderBytes
		g.ReceiverBytes += r.ReceiverBytes
		g.WrittenBytes += r.WrittenBytes
	}
	return list
}

func loads(h record.HostReading) []interfaceLoad {
	var list []interfaceLoad
	for _, d := range h.Deltas() {
		l := interfaceLoad{Interface: d.Interface, RxBps: math.Round(d.RxBps()), TxBps: math.Round(d.TxBps()),
			RxPackets: d.RxPackets, TxPackets: d.TxPackets}
		begin, _ := counters(h.Begin.Interfaces, d.Interface)
		end, _ := counters(h.End.Interfaces, d.Interface)
		l.Dropped = since(begin.RxDropped, end.RxDropped) + since(begin.TxDropped, end.TxDropped)
		l.Errors = since(begin.RxErrors, end.RxErrors) + since(begin.TxErrors, end.TxErrors)
		list = append(list, l)
	}
	return list
}

// since is how much a counter grew; one that ran backwards, as after a driver was
// loaded again, counts as nothing.
func since(begin, end uint64) uint64 {
	if end < begin {
		return 0
	}
	return end - begin
}

func grown(h record.HostReading) map[string]int64 {
	list := map[string]int64{}
	for name := range h.End.SNMP {
		if n := h.SNMPDelta(name); n > 0 {
			list[name] = n
		}
	}
	return list
}

// Series is the load of each interface of a host over the window.
func Series(h record.HostReading) []InterfaceSeries {
	var list []InterfaceSeries
	if len(h.Series) == 0 {
		return nil
	}
	readings := edged(h)
	began := cmp.Or(h.Begin.BeganNs, readings[0].AtNs)
	if began > h.Series[0].AtNs {
		began = readings[0].AtNs
	}
	for _, first := range readings[0].Interfaces {
		s := InterfaceSeries{Interface: first.Interface}
		last := first
		last.AtNs = cmp.Or(last.AtNs, readings[0].AtNs)
		for _, sample := range readings[1:] {
			now, ok := counters(sample.Interfaces, first.Interface)
			if !ok {
				continue
			}
			now.AtNs = cmp.Or(now.AtNs, sample.AtNs)
			if span := float64(now.AtNs-last.AtNs) / 1e9; span > 0 {
				s.AtS = append(s.AtS, float64((now.AtNs+last.AtNs)/2-began)/1e9)
				s.RxBps = append(s.RxBps, math.Round(8*float64(since(last.RxBytes, now.RxBytes))/span))
				s.TxBps = append(s.TxBps, math.Round(8*float64(since(last.TxBytes, now.TxBytes))/span))
			}
			last = now
		}
		list = append(list, s)
	}
	return list
}

// edged are the samples of a window with the readings at its edges. A sample that is close to an
// edge is left out: the rate between the two would be noise.
func edged(h record.HostReading) []record.Sample {
	list := h.Series
	begin := record.Sample{AtNs: h.Begin.BeganNs, Interfaces: h.Begin.Interfaces}
	end := record.Sample{AtNs: h.End.BeganNs, Interfaces: h.End.Interfaces}
	if begin.AtNs == 0 || end.AtNs <= begin.AtNs || len(begin.Interfaces) == 0 || len(end.Interfaces) == 0 {
		return list
	}
	apart := (end.AtNs - begin.AtNs) / int64(len(list)+1) / 2
	for len(list) > 0 && list[0].AtNs < begin.AtNs+apart {
		list = list[1:]
	}
	for len(list) > 0 && list[len(list)-1].AtNs > end.AtNs-apart {
		list = list[:len(list)-1]
	}
	return slices.Concat([]record.Sample{begin}, list, []record.Sample{end})
}

// JSON writes the result document (linerate.run/v2): every figure that the report
// shows. What was sampled in the trials is left to Trials.
func JSON(w io.Writer, run *record.Run) error {
	return Indented(w, documentOf(run))
}

// Snapshots writes the run's snapshots of hosts into a directory, HOST-before.json and
// HOST-after.json, by the names that hosts have in them. It returns how many there are.
func Snapshots(dir string, run *record.Run) (n int, err error) {
	for _, s := range run.Snapshots {
		for i, one := range []*record.HostSnapshot{s.Before, s.After} {
			if one == nil {
				continue
			}
			name := filepath.Join(dir, filepath.Base(one.Reading.Host)+"-"+[]string{"before", "after"}[i]+".json")
			if err := WriteFile(name, func(w io.Writer) error { return Indented(w, one) }); err != nil {
				return n, err
			}
			n++
		}
	}
	return n, nil
}

// Trials writes every trial as it was recorded, samples, TCP_INFO and counters
// included: gzip, one JSON document (record.Trial) a line.
func Trials(w io.Writer, run *record.Run) error {
	z := gzip.NewWriter(w)
	e := json.NewEncoder(z)
	e.SetEscapeHTML(false)
	for i := range run.Trials {
		if err := e.Encode(&run.Trials[i]); err != nil {
			return err
		}
	}
	return z.Close()
}
