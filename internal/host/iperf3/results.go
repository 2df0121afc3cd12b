package iperf3

import (
	"encoding/json"
	"fmt"
)

// maxResultStreams is how many streams results may have.
const maxResultStreams = 2 * MaxStreams

// Results are what either side has counted, in the same form: the client sends
// its own first, and the server answers.
type Results struct {
	CPUTotal  float64 `json:"cpu_util_total"` // % of one processor
	CPUUser   float64 `json:"cpu_util_user"`
	CPUSystem float64 `json:"cpu_util_system"`
	// SenderRetransmits: -1, this side sends nothing; 1, it knows what was sent
	// again.
	SenderRetransmits Int    `json:"sender_has_retransmits"`
	CongestionUsed    string `json:"congestion_used,omitempty"`
	// One of these when the client asked for the server's output.
	ServerOutputText string          `json:"server_output_text,omitempty"`
	ServerOutputJSON json.RawMessage `json:"server_output_json,omitempty"`

	Streams []StreamResult `json:"streams"`
}

// StreamResult is one side's of one stream.
type StreamResult struct {
	ID Int `json:"id"`
	// Bytes sent or received since the omitted time was over, at this side.
	Bytes       Int     `json:"bytes"`
	Retransmits Int     `json:"retransmits"` // -1: not known
	Jitter      float64 `json:"jitter"`      // s
	// Errors are datagrams missing, Packets those sent, or the highest sequence
	// number seen; both since the beginning. What came of them while time was
	// omitted is in the other two.
	Errors         Int     `json:"errors"`
	OmittedErrors  Int     `json:"omitted_errors"`
	Packets        Int     `json:"packets"`
	OmittedPackets Int     `json:"omitted_packets"`
	StartTime      float64 `json:"start_time"` // s
	EndTime        float64 `json:"end_time"`   // s

	// HasOmitted and HasTimes: the side that sent this knew of those fields.
	// Old versions of iperf3 do not.
	HasOmitted bool `json:"-"`
	HasTimes   bool `json:"-"`
}

// UnmarshalJSON reads results, and insists on what every version sends.
func (r *Results) UnmarshalJSON(text []byte) error {
	type plain Results
	mandatory := []string{"cpu_util_total", "cpu_util_user", "cpu_util_system", "sender_has_retransmits", "streams"}
	if _, err := present(text, mandatory...); err != nil {
		return fmt.Errorf("results: %w", err)
	}
	if err := decode(text, (*plain)(r)); err != nil {
		return err
	}
	if len(r.Streams) > maxResultStreams {
		return fmt.Errorf("results of %d streams: expected at most %d", len(r.Streams), maxResultStreams)
	}
	return nil
}

// UnmarshalJSON reads a stream's results, and insists on what every version sends.
func (s *StreamResult) UnmarshalJSON(text []byte) error {
	type plain StreamResult
	fields, err := present(text, "id", "bytes", "retransmits", "jitter", "errors", "packets")
	if err != nil {
		return fmt.Errorf("results of a stream: %w", err)
	}
	*s = StreamResult{}
	has := func(name string) bool { return len(fields[name]) > 0 }
	s.HasOmitted = has("omitted_errors") && has("omitted_packets")
	s.HasTimes = has("start_time") && has("end_time")
	return decode(text, (*plain)(s))
}

// present are an object's fields, or the names of those that are missing.
func present(text []byte, names ...string) (map[string]json.RawMessage, error) {
	var fields map[string]json.RawMessage
	if err := decode(text, &fields); err != nil {
		return nil, err
	}
	for _, name := range names {
		if _, ok := fields[name]; !ok {
			return nil, fmt.Errorf("no field %q", name)
		}
	}
	return fields, nil
}

// Find returns the result of the stream with this id, or nil.
func (r *Results) Find(id int) *StreamResult {
	for i := range r.Streams {
		if r.Streams[i].ID == Int(id) {
			return &r.Streams[i]
		}
	}
	return nil
}
