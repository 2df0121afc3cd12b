package present

import (
	"strings"
	"testing"

	"linerate/internal/model/record"
)

// TestReplayRemarks: every kind of remark has words, and exactly one of a change and a warning; and so has each
// kind of end that a file may have.
func TestReplayRemarks(t *testing.T) {
	for _, code := range record.ReplayCodes {
		if (replayChanges[code] == "") == (replayDoubts[code] == "") {
			t.Errorf("%s: %q and %q", code, replayChanges[code], replayDoubts[code])
		}
	}
	if n := len(replayChanges) + len(replayDoubts); n != len(record.ReplayCodes) {
		t.Errorf("%d kinds of remarks have words, and there are %d", n, len(record.ReplayCodes))
	}
	for want, cut := range map[string]record.ReplayCut{
		"in frame 8, which was not sent: at least 1 byte of it is missing": {After: 7, InFrame: true, Missing: 1},
		"behind frame 7: at least 12 bytes are missing":                    {After: 7, Missing: 12},
		"The compressed file ends early, behind frame 7":                   {After: 7},
		"damaged behind frame 7, and only what is before was sent: why":    {After: 7, Damaged: "why"},
	} {
		if got := replayWarnings(&record.Replay{Cut: &cut}); len(got) != 1 || !strings.Contains(got[0], want) {
			t.Errorf("%+v: %q, want %q", cut, got, want)
		}
	}
	r := &record.Replay{Frames: 3, Sent: 3, Received: &record.ReplayReceived{Lost: 3, Other: 1},
		Towards: record.ReplayTowards{MAC: "02:00:00:00:00:01", Frames: 2, IP: "10.0.0.1", Packets: 1}}
	if got := strings.Join(replayWarnings(r), "\n"); !strings.Contains(got,
		"of 3 frames, 2 are for 02:00:00:00:00:01, and 1 is for 10.0.0.1") || !strings.Contains(got, "translation") {
		t.Errorf("nothing arrived: %s", got)
	}
	r.Received.Received = 1
	if got := replayWarnings(r); len(got) != 0 {
		t.Errorf("something arrived: %q", got)
	}
}
