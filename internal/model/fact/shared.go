package fact

// Facts that rules of several families use.
type (
	// Counter is a counter of the kernel that grew.
	Counter struct {
		Interface string  `json:"interface,omitempty"` // of which it is; empty: of the host
		Name      string  `json:"name"`                // "TcpExt.ListenOverflows", "rx_dropped"
		Grew      uint64  `json:"grew"`
		OverS     float64 `json:"over_s,omitempty"` // 0: over the window of a trial
		Boot      bool    `json:"since_boot,omitempty"`
		Packets   uint64  `json:"packets,omitempty"` // that were counted beside it; 0: not known
	}
	// Time is that in which something was counted.
	Time struct {
		OverS float64 `json:"over_s,omitempty"` // 0: the window of a trial
		Boot  bool    `json:"since_boot,omitempty"`
	}
	// Parameter is the value of a kernel parameter.
	Parameter struct {
		Key   string `json:"key"`
		Value string `json:"value"`
	}
	// Text is a line that another program wrote, such as the kernel's log.
	Text struct {
		Text string `json:"text"`
	}
)

var (
	_ = is[Counter]("counter")
	_ = is[Parameter]("parameter")
	_ = is[Text]("text")
)

// Names returns the interface.
func (c Counter) Names() []string { return []string{c.Interface} }

// Names returns the key.
func (p Parameter) Names() []string { return []string{p.Key} }
