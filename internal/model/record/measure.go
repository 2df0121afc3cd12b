package record

import "time"

// MeasureSchema is the schema name and version of a Measure.
const MeasureSchema = "linerate.measure/v1"

// The two nodes of a measurement.
const (
	NodeClient = "client" // where `linerate measure` runs
	NodeServer = "server" // where `linerate serve` runs
)

// Measure is the result document of `linerate measure`: one trial between two
// machines.
type Measure struct {
	Schema   string    `json:"schema"`
	Address  string    `json:"address"` // the server's, as connected to
	Protocol string    `json:"protocol"`
	Started  time.Time `json:"started"`
	// DurationS is the length of the common window, after WarmupS.
	DurationS float64 `json:"duration_s"`
	WarmupS   float64 `json:"warmup_s"`

	// GoodputBps is the sum over all flows of what the receivers read in the
	// common window; the other totals are of that window, too.
	GoodputBps    float64 `json:"goodput_bps"`
	LimitBps      float64 `json:"limit_bps"` // 0: not known
	LimitWhy      string  `json:"limit_why,omitempty"`
	WrittenBytes  int64   `json:"written_bytes"`
	ReceivedBytes int64   `json:"received_bytes"`
	RetransBytes  int64   `json:"retrans_bytes"`
	// CPUSPerGigabyte is the processor time of both ends' linerate processes, in
	// seconds per 10⁹ bytes received.
	CPUSPerGigabyte float64 `json:"cpu_s_per_gigabyte"`

	Directions []MeasureDirection `json:"directions"`
	Ends       []MeasureEnd       `json:"ends"`
	Flows      []Flow             `json:"flows"`
	Trust      []Check            `json:"trust"`
	Expect     *Expectation       `json:"expect,omitempty"`
}

// MeasureDirection is all flows of one direction: write goes from the client to
// the server, read comes back.
type MeasureDirection struct {
	Direction     string            `json:"direction"`
	Flows         int               `json:"flows"`
	GoodputBps    float64           `json:"goodput_bps"`
	LimitBps      float64           `json:"limit_bps"`
	LimitWhy      string            `json:"limit_why,omitempty"`
	WrittenBytes  int64             `json:"written_bytes"`
	ReceivedBytes int64             `json:"received_bytes"`
	RetransBytes  int64             `json:"retrans_bytes"`
	Intervals     []MeasureInterval `json:"intervals"`
}

// MeasureInterval is a part of the window, in seconds from its beginning.
type MeasureInterval struct {
	FromS      float64 `json:"from_s"`
	ToS        float64 `json:"to_s"`
	GoodputBps float64 `json:"goodput_bps"`
}

// MeasureEnd is one of the two machines.
type MeasureEnd struct {
	HostEnvironment
	Version string `json:"version"` // of linerate
	Port    string `json:"port,omitempty"`
	// SpeedBps is what the port's hardware has negotiated; 0: not known.
	SpeedBps float64 `json:"speed_bps,omitempty"`
	// CPUS is the processor time of the linerate process in the window, with
	// what it did for Others; BusyCPUS that of the whole machine.
	CPUS            float64     `json:"cpu_s"`
	BusyCPUS        float64     `json:"busy_cpu_s"`
	CPUSPerGigabyte float64     `json:"cpu_s_per_gigabyte"`
	CPUBusy         float64     `json:"cpu_busy"`
	GeneratorCPU    float64     `json:"generator_cpu"`
	Others          *OtherFlows `json:"others,omitempty"`
}

// Expectation is a gate that a measurement was held to, in each direction.
type Expectation struct {
	Gate string `json:"gate"` // ">= 900mbit"
	Met  bool   `json:"met"`
}
