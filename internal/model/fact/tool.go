package fact

// Facts about the figures that another program reports.
type (
	// Reported is the rate that a program reports.
	Reported struct {
		Method string  `json:"method"` // how the rate follows from the program's output
		Bps    float64 `json:"bps"`
	}
	// ReadRate is the rate at which the receivers of the same connections read, in one window for all.
	ReadRate struct {
		Bps float64 `json:"bps"`
	}
	// PathLimit is the highest rate that the path can carry.
	PathLimit struct {
		Bps float64 `json:"bps"`
	}
	// Unsent is the number of bytes in send buffers at the window's end, and that number as a rate over
	// the time of writing.
	Unsent struct {
		Bytes int64   `json:"bytes"`
		Bps   float64 `json:"bps"`
	}
	// ExpectedSurplus is by how much a report should be too high, and by how much it is (SurplusBps).
	ExpectedSurplus struct {
		Bps        float64 `json:"bps"`
		SurplusBps float64 `json:"surplus_bps"`
	}
	// ClientsEnded is when the first and the last client of a program ended, in seconds from the
	// trial's start.
	ClientsEnded struct {
		Clients int     `json:"clients"`
		FirstS  float64 `json:"first_s"`
		LastS   float64 `json:"last_s"`
	}
)

var _ = are(Reported{}, ReadRate{}, PathLimit{}, Unsent{}, ExpectedSurplus{}, ClientsEnded{})
