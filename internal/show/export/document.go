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
	"linerate/internal/model/netstate"
	"linerate/internal/model/record"
	"linerate/internal/science/compare"
	"linerate/internal/show/wording"
)

// mostFlows is the maximum number of flows of a trial that the result document lists individually.
// The flows of a larger trial are grouped, except in the trials that the report shows.
const mostFlows = 64

// document is a run for people and programs: every figure that its report shows, without the raw
// readings from which they are computed. Samples, TCP_INFO and counters of all trials are in the
// export (Trials, and the tables).
type document struct {
	*record.Run
	Trials []trialDocument `json:"trials"`
	// Snapshots only says which there are; Snapshots, the function, exports them.
	Snapshots []snapshotsDocument `json:"snapshots,omitempty"`
}

// snapshotsDocument says which snapshots the run has of a host.
type snapshotsDocument struct {
	Host    string     `json:"host"`
	Before  *time.Time `json:"before_taken,omitempty"`
	After   *time.Time `json:"after_taken,omitempty"`
	Missing string     `json:"missing,omitempty"`
	// Changes are those that were not made by the run.
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
	// Shown marks the trial that represents its treatment in the report: its response is closest to
	// the mean of the treatment. Only this trial has tables and series.
	Shown bool `json:"shown,omitempty"`
	// Responses are the trial's values of the run's responses, in the units of records. One is
	// absent if the trial has no value.
	Responses map[string]float64 `json:"responses"`
	Flows     []flowDocument     `json:"flows,omitempty"`
	// Groups replaces Flows in a trial with more than mostFlows.
	Groups []flowGroup      `json:"flow_groups,omitempty"`
	Hosts  []hostDocument   `json:"hosts"`
	Tools  []record.ToolRun `json:"tools,omitempty"`
	// Switches have their forwarding tables only in the trial that is Shown.
	Switches []record.SwitchReading `json:"switches,omitempty"`
	// ToolGroups replaces Tools in a trial with more than mostFlows processes.
	ToolGroups []toolGroup `json:"tool_groups,omitempty"`
	// Topology is left out: the run has it, and the settings of the treatment change it.
	Topology *struct{} `json:"topology,omitempty"`
}

// flowDocument is a flow without the TCP_INFO of both ends.
type flowDocument struct {
	record.Flow
	SenderInfo   *struct{} `json:"sender_info,omitempty"`
	ReceiverInfo *struct{} `json:"receiver_info,omitempty"`
	Bins         *struct{} `json:"bins,omitempty"`
	RTTUs        uint32    `json:"rtt_us,omitempty"`    // at the end of the window
	MSSBytes     uint32    `json:"mss_bytes,omitempty"` // that the sender's kernel used
}

// flowGroup summarises the flows between two hosts that have the same limit.
type flowGroup struct {
	From          string  `json:"from"`
	To            string  `json:"to"`
	Protocol      string  `json:"protocol"`
	LimitedBy     string  `json:"limited_by"`
	Flows         int     `json:"flows"`
	Connected     int     `json:"connected"`
	GoodputBps    float64 `json:"goodput_bps"` // sum of all
	LeastBps      float64 `json:"least_bps"`
	MedianBps     float64 `json:"median_bps"`
	MostBps       float64 `json:"most_bps"`
	ReceivedBytes int64   `json:"received_bytes"`
	WrittenBytes  int64   `json:"written_bytes"`
	AckedBytes    int64   `json:"acked_bytes"`
	UnsentBytes   int64   `json:"unsent_bytes"`
	RetransBytes  int64   `json:"retrans_bytes"`
}

// toolGroup summarises the processes of one program between two hosts. Rates are sums over the
// processes that reported one.
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
	// Example is the first process that failed, or the first one if none did.
	Example record.ToolRun `json:"example"`
}

type hostDocument struct {
	Host         string  `json:"host"`
	CPUBusy      float64 `json:"cpu_busy"`
	GeneratorCPU float64 `json:"generator_cpu"`
	ProcessCPUS  float64 `json:"process_cpu_s,omitempty"`
	// Interfaces has the loads in the window, and Counters the kernel's SNMP and netstat counters
	// that grew in it.
	Interfaces []interfaceLoad      `json:"interfaces,omitempty"`
	Counters   map[string]int64     `json:"counters,omitempty"`
	Others     *netstate.OtherFlows `json:"others,omitempty"`
	Missing    []string             `json:"missing,omitempty"`
	Log        *netstate.KernelLog  `json:"kernel_log,omitempty"`
	// Snapshot and Series are only set in a trial that is shown.
	Snapshot *netstate.Snapshot `json:"snapshot,omitempty"`
	Series   []InterfaceSeries  `json:"series,omitempty"`
}

type interfaceLoad struct {
	Interface string  `json:"interface"`
	RxBps     float64 `json:"rx_bps"`
	TxBps     float64 `json:"tx_bps"`
	RxPackets float64 `json:"rx_packets"`
	TxPackets float64 `json:"tx_packets"`
	Dropped   uint64  `json:"dropped,omitempty"` // in either direction
	Errors    uint64  `json:"errors,omitempty"`
}

// InterfaceSeries is an interface's load between consecutive samples.
type InterfaceSeries struct {
	Interface string    `json:"interface"`
	AtS       []float64 `json:"at_s"` // since the beginning of the window, in the middle between the two samples
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
			flow := flowDocument{Flow: wording.Flow(f)}
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
	var rates [][]float64 // of the flows in each group
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

func loads(h netstate.HostReading) []interfaceLoad {
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

// since returns the growth of a counter, or 0 if it decreased, as after a driver was reloaded.
func since(begin, end uint64) uint64 {
	if end < begin {
		return 0
	}
	return end - begin
}

func grown(h netstate.HostReading) map[string]int64 {
	list := map[string]int64{}
	for name := range h.End.SNMP {
		if n := h.SNMPDelta(name); n > 0 {
			list[name] = n
		}
	}
	return list
}

// Series returns the load of each interface of a host over the window.
func Series(h netstate.HostReading) []InterfaceSeries {
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

// edged returns the samples of a window with the readings at its edges. A sample close to an edge
// is left out because the rate between the two would be noise.
func edged(h netstate.HostReading) []netstate.Sample {
	list := h.Series
	begin := netstate.Sample{AtNs: h.Begin.BeganNs, Interfaces: h.Begin.Interfaces}
	end := netstate.Sample{AtNs: h.End.BeganNs, Interfaces: h.End.Interfaces}
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
	return slices.Concat([]netstate.Sample{begin}, list, []netstate.Sample{end})
}

// JSON writes the result document (linerate.run/v2): every figure that the report shows. Trials
// writes the samples.
func JSON(w io.Writer, run *record.Run) error {
	return Indented(w, documentOf(run))
}

// Snapshots writes the run's snapshots of hosts to a directory, as HOST-before.json and
// HOST-after.json, with the names that hosts have in the snapshots. It returns their number.
func Snapshots(dir string, run *record.Run) (n int, err error) {
	for _, s := range run.Snapshots {
		for i, one := range []*netstate.HostSnapshot{s.Before, s.After} {
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

// Trials writes every trial as recorded, including samples, TCP_INFO and counters: gzip-compressed,
// one JSON document (record.Trial) per line.
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
