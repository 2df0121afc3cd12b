package fact

// Facts that several families of rules use.
type (
	// Counter is a counter of the kernel that grew.
	Counter struct {
		Interface string  `json:"interface,omitempty"` // empty: a counter of the host
		Name      string  `json:"name"`                // "TcpExt.ListenOverflows", "rx_dropped"
		Printed   string  `json:"printed,omitempty"`   // what a system other than Linux calls it
		Grew      uint64  `json:"grew"`
		OverS     float64 `json:"over_s,omitempty"`     // seconds between the readings; 0: the window of a trial
		Boot      bool    `json:"since_boot,omitempty"` // it counts since the boot
		Packets   uint64  `json:"packets,omitempty"`    // packets counted in the same time; 0: not known
	}
	// LateCollisions are collisions of an interface that came after the time in which half-duplex ends see them.
	LateCollisions struct {
		Interface string `json:"interface"`
		Frames    uint64 `json:"frames"`
	}
	// Time is how long something was counted.
	Time struct {
		OverS float64 `json:"over_s,omitempty"`     // seconds; 0: the window of a trial
		Boot  bool    `json:"since_boot,omitempty"` // since the boot
	}
	// Interval is the interval of a text to which the other facts belong: the worst of several.
	Interval struct {
		Day   string `json:"day,omitempty"` // as it was printed, like From and To
		From  string `json:"from"`
		To    string `json:"to"`
		Among int    `json:"among"`
	}
	// Parameter is the value of a kernel parameter.
	Parameter struct {
		Key   string `json:"key"`
		Value string `json:"value"`
	}
	// Text is a line that another program wrote, such as a line of the kernel log.
	Text struct {
		Text string `json:"text"`
	}
)

var _ = are(Counter{}, LateCollisions{}, Interval{}, Parameter{}, Text{})

// Names returns the interface.
func (c Counter) Names() []string { return []string{c.Interface} }

// Names returns the interface.
func (c LateCollisions) Names() []string { return []string{c.Interface} }

// Names returns the key.
func (p Parameter) Names() []string { return []string{p.Key} }
