package flow

import (
	"slices"
	"strings"
	"testing"
)

// TestParseFrames: what sizes may be given, and what is refused.
func TestParseFrames(t *testing.T) {
	for text, want := range map[string][]FrameSize{
		"64": {{64, 1}}, "9018": {{9018, 1}}, "64:3,1518": {{64, 3}, {1518, 1}}, IMIX: {{64, 7}, {594, 4}, {1518, 1}},
	} {
		if got, err := ParseFrames(text); err != nil || !slices.Equal(got, want) {
			t.Errorf("%s: %v, %v, want %v", text, got, err, want)
		}
	}
	for _, text := range []string{"", "63", "9019", "-64", "64,", "64:0", "64:-1", "64:1001", "64:600,65:600", "x",
		"64:x", "IMIX", strings.Repeat("64,", 16) + "64", strings.Repeat("9", 1<<16)} {
		if got, err := ParseFrames(text); err == nil || len(err.Error()) > 300 {
			t.Errorf("%.20s: %v, %v", text, got, err)
		}
	}
}

// TestFramePayloads: a round has each size as often as its weight says, spread over it,
// and the payload is what the headers of the family leave.
func TestFramePayloads(t *testing.T) {
	s := Spec{Protocol: UDP, Frame: IMIX}
	if got, want := s.FramePayloads(false), []int{18, 548, 18, 18, 548, 18, 1472, 18, 548, 18, 548, 18}; !slices.Equal(
		sorted(got), sorted(want)) || slices.Equal(got, sorted(got)) {
		t.Errorf("payloads %v, want %v, spread", got, want)
	}
	if got, want := s.DatagramBytes(false), 316; got != want { // 3790/12
		t.Errorf("%d bytes in the mean, want %d", got, want)
	}
	if got := (Spec{Frame: "1518"}).DatagramBytes(true); got != 1452 {
		t.Errorf("over IPv6 %d bytes, want 1452", got)
	}
	if got := (Spec{Datagram: 100}).FramePayloads(false); got != nil {
		t.Errorf("without frames: %v", got)
	}
}

func sorted(list []int) []int { list = slices.Clone(list); slices.Sort(list); return list }

// TestPacing: the pace of datagrams and a cap of their rate, of which the less holds.
func TestPacing(t *testing.T) {
	s := Spec{Protocol: UDP, Frame: "64", Pace: 1000}
	if got, want := float64(s.Pacing(false)), 1000*18*8.; got != want {
		t.Errorf("%v bit/s, want %v", got, want)
	}
	s.RateCap = 1000
	if got := s.Pacing(false); got != 1000 || s.Cap() != 1000 {
		t.Errorf("with a lower cap %v, %v", got, s.Cap())
	}
	for key, s := range map[string]Spec{
		"pace": {Protocol: UDP, Pace: 1}, "frame": {Protocol: UDP, Frame: "64", Datagram: 18},
		"tuples": {Protocol: UDP, Tuples: 2},
	} {
		if Find(key).Conflict(&s) == "" {
			t.Errorf("%s: %+v is accepted", key, s)
		}
	}
}
