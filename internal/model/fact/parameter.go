package fact

// Facts about kernel parameters.
type (
	// Window is how many bytes a connection can have in flight at most, as a range.
	Window struct {
		LowBytes  float64 `json:"low_bytes"`
		HighBytes float64 `json:"high_bytes"`
	}
	// FlowSteering is the two parameters of receive flow steering (RFS), of which only one is set.
	FlowSteering struct {
		Entries   int64  `json:"rps_sock_flow_entries"`
		Interface string `json:"interface,omitempty"` // with a queue that has rps_flow_cnt; empty: no queue has it
		Queue     string `json:"queue,omitempty"`
		Flows     int64  `json:"rps_flow_cnt,omitempty"`
	}
	// PortRange is the range of local ports for outgoing connections, net.ipv4.ip_local_port_range.
	PortRange struct {
		First int64 `json:"first"`
		Last  int64 `json:"last"`
	}
	// ParameterLine is a line of a file of sysctl.d(5) and the different value in the kernel.
	ParameterLine struct {
		File   string `json:"file"`
		Line   int    `json:"line"`
		Key    string `json:"key"`
		Value  string `json:"value"`
		Kernel string `json:"kernel"`
	}
	// ParameterLines are two lines that set a parameter to different values.
	ParameterLines struct {
		Key   string `json:"key"`
		First Line   `json:"first"`
		Then  Line   `json:"then"`
	}
	// Line is a line of a file that sets a value.
	Line struct {
		File  string `json:"file"`
		Line  int    `json:"line"`
		Value string `json:"value"`
	}
)

var _ = are(Window{}, FlowSteering{}, PortRange{}, ParameterLine{}, ParameterLines{})

// Names returns the parameter and the interface.
func (f FlowSteering) Names() []string {
	return []string{"net.core.rps_sock_flow_entries", f.Interface}
}

// Names returns net.ipv4.ip_local_port_range.
func (PortRange) Names() []string { return []string{"net.ipv4.ip_local_port_range"} }

// Names returns the key of the parameter.
func (l ParameterLine) Names() []string { return []string{l.Key} }

// Names returns the key of the parameter.
func (l ParameterLines) Names() []string { return []string{l.Key} }
