package iperf3

import (
	"encoding/json"
	"fmt"
)

// maxResultStreams is the maximum number of streams in results.
const maxResultStreams = 2 * MaxStreams

// Results holds what one side has counted. The client sends its own first, and the server answers with the same
// format.
type Results struct {
	CPUTotal  float64 `json:"cpu_util_total"` // % of one processor
	CPUUser   float64 `json:"cpu_util_user"`
	CPUSystem float64 `json:"cpu_util_system"`
	// SenderRetransmits: -1 if this side sends nothing; 1 if it counts retransmissions.
	SenderRetransmits Int    `json:"sender_has_retransmits"`
	CongestionUsed    string `json:"congestion_used,omitempty"`
	// At most one is set, if the client requested the server's output.
	ServerOutputText string          `json:"server_output_text,omitempty"`
	ServerOutputJSON json.RawMessage `json:"server_output_json,omitempty"`

	Streams []StreamResult `json:"streams"`
}

// StreamResult is one side's result for one stream.
type StreamResult struct {
	ID Int `json:"id"`
	// Bytes sent or received by this side since the omitted time.
	Bytes       Int     `json:"bytes"`
	Retransmits Int     `json:"retransmits"` // -1: not known
	Jitter      float64 `json:"jitter"`      // s
	// Errors counts missing datagrams; Packets is the number sent, or the highest sequence number received.
	// Both count from the beginning; the other two fields have the part in the omitted time.
	Errors         Int     `json:"errors"`
	OmittedErrors  Int     `json:"omitted_errors"`
	Packets        Int     `json:"packets"`
	OmittedPackets Int     `json:"omitted_packets"`
	StartTime      float64 `json:"start_time"` // s
	EndTime        float64 `json:"end_time"`   // s

	// HasOmitted and HasTimes report whether the sender knew those fields. Old versions of iperf3 do not.
	HasOmitted bool `json:"-"`
	HasTimes   bool `json:"-"`
}

// UnmarshalJSON requires the fields that every version sends.
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

// UnmarshalJSON requires the fields that every version sends.
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

// present returns an object's fields, or the names of those missing.
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
