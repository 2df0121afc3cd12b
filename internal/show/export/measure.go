package export

import (
	"encoding/json"
	"fmt"
	"net/netip"
	"time"

	"linerate/internal/model/flow"
	"linerate/internal/model/netstate"
	"linerate/internal/model/record"
	"linerate/internal/model/unit"
	"linerate/internal/science/conclude"
	"linerate/internal/science/hostload"
	"linerate/internal/science/limits"
	"linerate/internal/science/stats"
	"linerate/internal/science/trust"
	"linerate/internal/show/wording"
)

// MeasureSchema is the schema name and version of Measurement.
const MeasureSchema = "linerate.measure/v2"

// Measurement is a measurement as `linerate measure --json` prints it: a view of its run as two
// hosts, with "write" to the server and "read" from it.
type Measurement struct {
	Schema string `json:"schema"`
	// Run is the ID of the run in the notebook, Name the name given by --name, and Page the path of
	// its page. Empty: none.
	Run      string    `json:"run,omitempty"`
	Name     string    `json:"name,omitempty"`
	Page     string    `json:"page,omitempty"`
	Address  string    `json:"address"` // address of the server, as connected to
	Protocol string    `json:"protocol"`
	Started  time.Time `json:"started"`
	// The times of the window are as in record.Trial.
	DurationS float64 `json:"duration_s"`
	WarmupS   float64 `json:"warmup_s"`
	PlannedS  float64 `json:"planned_s,omitempty"`
	Ended     string  `json:"ended,omitempty"`
	Mode      string  `json:"mode,omitempty"`

	// The totals are the sums over the directions.
	GoodputBps    float64      `json:"goodput_bps"`
	LimitBps      float64      `json:"limit_bps"` // 0: unknown
	Limit         record.Limit `json:"limit,omitzero"`
	LimitWhy      string       `json:"limit_why,omitempty"`
	WrittenBytes  int64        `json:"written_bytes"`
	ReceivedBytes int64        `json:"received_bytes"`
	RetransBytes  int64        `json:"retrans_bytes"`
	record.Counts
	// CPUSPerGigabyte is the CPU time of the linerate processes of both ends, in seconds per 10⁹
	// bytes received. CPUUsPerTransaction is that in microseconds per completed transaction.
	CPUSPerGigabyte     float64 `json:"cpu_s_per_gigabyte"`
	CPUUsPerTransaction float64 `json:"cpu_us_per_transaction,omitempty"`

	Directions []Direction `json:"directions"`
	Ends       []End       `json:"ends"`
	// OneMachine reports whether both ends were on the same machine, so that they share its CPUs.
	OneMachine bool `json:"one_machine,omitempty"`
	// Addresses has the totals of each address of an end that has several.
	Addresses []EndAddress `json:"addresses,omitempty"`
	// Flows does not include the latency probe, which is in Latency.
	Flows []record.Flow `json:"flows"`
	// Next says what to do about what held the flows back.
	Next     []string            `json:"next,omitempty"`
	Trust    []record.Check      `json:"trust"`
	Findings []record.Finding    `json:"findings"`
	Latency  *Latency            `json:"latency,omitempty"`
	LossFree *record.LossFree    `json:"loss_free,omitempty"`
	FindMax  *record.FindMax     `json:"find_max,omitempty"`
	Expect   *record.Expectation `json:"expect,omitempty"`
	// Modes are the measurements in each of several modes, one after another. All other fields are
	// those of the first one.
	Modes []*Measurement `json:"modes,omitempty"`
	// Peer is the program at the other end, such as "iperf3 3.12". Empty: linerate. Unknown lists
	// what cannot be known with another program, or if the server was lost.
	Peer           string          `json:"peer,omitempty"`
	Unknown        []string        `json:"unknown,omitempty"`
	PeerCPUPercent float64         `json:"peer_cpu_percent,omitempty"`
	PeerResults    json.RawMessage `json:"peer_results,omitempty"`
}

// Direction is a part of a trial with its name, write or read.
type Direction struct {
	Direction string `json:"direction"`
	record.Part
	// These fields are left out: names of hosts and treatments add nothing.
	From      *struct{} `json:"from,omitempty"`
	To        *struct{} `json:"to,omitempty"`
	Treatment *struct{} `json:"treatment,omitempty"`
	Levels    *struct{} `json:"levels,omitempty"`
}

// Latency is the result of a probe, with its flow under load.
type Latency struct {
	*record.Latency
	Probe *record.Flow `json:"probe,omitempty"`
}

// EndAddress sums all flows of one address: goodput, and transactions per second. Interface is the
// one through which this host's packets to the other end leave, or on which the server has the
// address. Empty: unknown.
type EndAddress struct {
	Host      string  `json:"host"`
	Address   string  `json:"address"`
	Interface string  `json:"interface,omitempty"`
	SpeedBps  float64 `json:"speed_bps,omitempty"`
	Flows     int     `json:"flows"`
	WriteBps  float64 `json:"write_bps"`
	ReadBps   float64 `json:"read_bps"`
	RatePerS  float64 `json:"rate_per_s,omitempty"`
}

// EndInterface is an interface that flows used, with its negotiated speed.
type EndInterface struct {
	Interface string  `json:"interface"`
	SpeedBps  float64 `json:"speed_bps,omitempty"`
	// RxBps and TxBps are what the interface counted in the window.
	RxBps float64 `json:"rx_bps"`
	TxBps float64 `json:"tx_bps"`
}

// End describes one of the two machines.
type End struct {
	netstate.HostEnvironment
	Version   string `json:"version"` // of linerate
	Interface string `json:"interface,omitempty"`
	// SpeedBps is the negotiated speed of the interface. 0: unknown.
	SpeedBps float64 `json:"speed_bps,omitempty"`
	// Interfaces lists all interfaces if the flows used several.
	Interfaces []EndInterface `json:"interfaces,omitempty"`
	// CPUSeconds is the CPU time of the linerate process in the window, including that for Others.
	// BusyCPUS is that of the whole machine.
	CPUSeconds      float64              `json:"cpu_s"`
	BusyCPUS        float64              `json:"busy_cpu_s"`
	CPUSPerGigabyte float64              `json:"cpu_s_per_gigabyte"`
	CPUBusy         float64              `json:"cpu_busy"`
	AllowedCPUs     []int                `json:"allowed_cpus,omitempty"` // as in HostReading
	GeneratorCPU    float64              `json:"generator_cpu"`
	Others          *netstate.OtherFlows `json:"others,omitempty"`
	// CPUUsPerTransaction and BytesPerConnection, the process's own memory for each connection that
	// was open at the end of the window, are set if there were transactions.
	CPUUsPerTransaction float64 `json:"cpu_us_per_transaction,omitempty"`
	BytesPerConnection  int64   `json:"bytes_per_connection,omitempty"`
}

// EachMode returns the measurement of each mode, or the only one.
func (m *Measurement) EachMode() []*Measurement {
	if len(m.Modes) > 0 {
		return m.Modes
	}
	return []*Measurement{m}
}

// NothingArrived reports whether a direction has connected flows of which none received data in the
// window.
func (m *Measurement) NothingArrived() bool {
	t := record.Trial{Flows: m.Flows}
	for _, d := range m.Directions {
		t.Parts = append(t.Parts, d.Part)
	}
	return t.NothingArrived()
}

// Silent returns how many of its flows were opened and carried nothing in the window.
func (m *Measurement) Silent() (n, of int) {
	return len(trust.Empty(record.Trial{Flows: m.Flows, WindowS: m.DurationS})), len(m.Flows)
}

// Measure returns the view of a measurement. Page is the path of its page. Empty: none was written.
func Measure(run *record.Run, page string) *Measurement {
	var modes []*Measurement
	judged, findings := 0, wording.Findings(run.Findings, false)
	for i := range run.Trials {
		t := &run.Trials[i]
		one := Window(run, t)
		one.Address = run.Address
		if one.Findings = findings; len(run.Trials) > 1 {
			_, found := conclude.Trial(*t)
			one.Findings, judged = wording.Findings(found, false), judged+len(found)
		}
		for _, c := range wording.Checks(run.Trust) {
			if c.Trial == t.Order {
				c.Trial = 1
				one.Trust = append(one.Trust, c)
			}
		}
		modes = append(modes, one)
	}
	m := *modes[0]
	if len(modes) > 1 {
		m.Modes = modes
		m.Findings = append(m.Findings[:len(m.Findings):len(m.Findings)],
			findings[min(judged, len(findings)):]...)
	}
	m.Run, m.Name, m.Page, m.Expect = run.ID, run.Name, page, run.Expect
	return &m
}

// Window returns the view of one trial of a measurement, without conclusions.
func Window(run *record.Run, t *record.Trial) *Measurement {
	m := &Measurement{
		Schema: MeasureSchema, Protocol: flow.Of("").Name, Started: t.Started, DurationS: t.WindowS, WarmupS: t.WarmupS,
		PlannedS: t.PlannedS, Ended: t.Ended, Mode: t.Mode, GoodputBps: t.GoodputBps, LimitBps: t.LimitBps,
		Limit: t.Limit, LimitWhy: wording.Limit(t.Limit, t.LimitWhy), LossFree: t.LossFree,
		FindMax:    wording.FindMax(t.FindMax),
		Unknown:    unknown(run, t),
		OneMachine: len(t.Hosts) == 2 && hostload.Same(t.Hosts[0], t.Hosts[1]),
	}
	if t.Bufferbloat != nil {
		m.Latency = &Latency{Latency: t.Bufferbloat}
	}
	for _, f := range wording.Flows(t.Flows) {
		if !f.Probe {
			m.Flows = append(m.Flows, f)
		} else if m.Latency != nil {
			f.Probe = false // its place already says so
			m.Latency.Probe = &f
		}
	}
	m.Next = wording.NextOf(run, t)
	if len(m.Flows) > 0 {
		m.Protocol = flow.Of(m.Flows[0].Protocol).Name
	}
	for _, p := range t.Parts {
		p.LimitWhy = wording.Limit(p.Limit, p.LimitWhy)
		m.Directions = append(m.Directions, Direction{Direction: p.Name(), Part: p})
		m.WrittenBytes += p.WrittenBytes
		m.ReceivedBytes += p.ReceivedBytes
		m.RetransBytes += p.RetransBytes
	}
	m.Counts, _ = stats.Counts(m.Flows, m.DurationS) // an unreadable stored distribution is left out
	if p := t.Peer; p != nil {
		m.Peer, m.PeerCPUPercent, m.PeerResults = p.Program, p.CPUPercent, p.Results
	}
	all := limits.EndsOf(m.Flows, t.Hosts)
	for _, h := range t.Hosts {
		e := end(run, t, h, limits.UsedOn(all, h.Host), m)
		m.CPUSPerGigabyte += e.CPUSPerGigabyte
		m.CPUUsPerTransaction += e.CPUUsPerTransaction
		m.Ends = append(m.Ends, e)
	}
	m.Addresses = byAddress(m.Flows, all)
	return m
}

// end describes one machine and the CPU time that the measurement took there.
func end(run *record.Run, t *record.Trial, h netstate.HostReading, ports []netstate.InterfaceSnapshot,
	m *Measurement) End {
	e := End{
		CPUSeconds: h.ProcessCPUS, CPUBusy: h.CPUBusy, GeneratorCPU: h.GeneratorCPU, AllowedCPUs: h.AllowedCPUs,
		Others: h.Others, BytesPerConnection: h.ConnectionBytes,
	}
	for i, p := range ports {
		if i == 0 {
			e.Interface, e.SpeedBps = p.Interface, p.SpeedBps
		}
		if len(ports) > 1 {
			counted := EndInterface{Interface: p.Interface, SpeedBps: p.SpeedBps}
			for _, d := range h.Deltas() {
				if d.Interface == p.Interface {
					counted.RxBps, counted.TxBps = d.RxBps(), d.TxBps()
				}
			}
			e.Interfaces = append(e.Interfaces, counted)
		}
	}
	e.Host = h.Host
	for _, known := range run.Environment.Hosts {
		if known.Host == h.Host {
			e.HostEnvironment, e.Version = known, known.Version
		}
	}
	if h.ProcessCPUS > 0 { // earlier versions did not store it for two directions
		e.BusyCPUS = h.CPUBusy * t.WindowS * float64(e.CPUs)
	}
	if m.ReceivedBytes > 0 {
		e.CPUSPerGigabyte = e.CPUSeconds * 1e9 / float64(m.ReceivedBytes)
	}
	if m.Transactions != nil && m.Transactions.Done > 0 {
		e.CPUUsPerTransaction = e.CPUSeconds * 1e6 / float64(m.Transactions.Done)
	}
	return e
}

// byAddress returns the totals of each address of an end that has several.
func byAddress(flows []record.Flow, all []limits.Ends) (list []EndAddress) {
	for _, node := range []string{record.NodeClient, record.NodeServer} {
		place := map[netip.Addr]int{}
		var own []EndAddress
		for i, f := range flows {
			at, nic := f.SourceAddr(), all[i][node]
			if f.From != node {
				at = f.DestinationAddr()
			}
			at = at.WithZone("")
			j, known := place[at]
			if !known {
				j = len(own)
				place[at] = j
				own = append(own, EndAddress{Host: node, Address: at.String(), Interface: nic.Interface,
					SpeedBps: nic.SpeedBps})
			}
			a := &own[j]
			a.Flows++
			a.RatePerS += f.TransactionsPerS
			if f.From == record.NodeClient {
				a.WriteBps += f.GoodputBps
			} else {
				a.ReadBps += f.GoodputBps
			}
		}
		if len(own) > 1 {
			list = append(list, own...)
		}
	}
	return list
}

// unknown lists what cannot be known if the other end is another program or was lost.
func unknown(run *record.Run, t *record.Trial) (list []string) {
	const interfaces = "the server's interfaces, other traffic on them, and its processors in the window"
	const buffers = "the bytes in the server's send buffers, and what held its sending back"
	switch {
	case t.Ended != "":
		list = append(list, fmt.Sprintf(
			"what followed: the figures end with the latest sample before the loss, %s after the window's beginning",
			unit.FormatSeconds(t.WindowS)))
		for _, p := range t.Parts {
			switch {
			case p.Transactions != nil:
				list = append(list, "which requests the server had and did not answer")
			case p.To == record.NodeServer:
				list = append(list,
					"what the server's program had read: acknowledged bytes may have waited in its kernel")
			default:
				list = append(list, buffers)
			}
		}
		return append(list, interfaces)
	case t.Peer == nil:
		return nil
	case run.Design.Options["peer"] != "iperf3":
		return []string{"what the server counted, its interfaces and processors in the window",
			"where the time of an answer's first byte went: the path, or the server"}
	}
	list = []string{
		"a common window: iperf3 counts over its own time, which begins and ends at other instants than this " +
			"host's, as does its omitted time"}
	for _, p := range t.Parts {
		write, c := p.To == record.NodeServer, p.Peer
		if write && c != nil && c.Datagrams != nil && c.Datagrams.Lost > 0 {
			list = append(list,
				"where datagrams were lost: on the path, or in the server's receive buffer (there: nstat -az "+
					"UdpRcvbufErrors; -w enlarges it)")
		}
		switch {
		case !record.CountedHere(p.Counted):
			list = append(list, "what arrived in the window: only the server has counted that, over its own time")
		case write:
			list = append(list,
				"what the server's program had read in the window: acknowledged bytes may wait in its kernel")
		default:
			list = append(list, buffers)
		}
	}
	list = append(list, interfaces+": iperf3 reports its own share of a processor, over its own time")
	if t.Peer.Program == "iperf3" {
		list = append(list, "the server's version: only a server started with -J reports it")
	}
	return append(list, "whether the server applied the options: it confirms none")
}
