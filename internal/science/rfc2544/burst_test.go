package rfc2544

import (
	"errors"
	"testing"
)

// TestLongestBurst: a device with any buffer, and any first guess, has its longest burst found,
// within the resolution and in few trials.
func TestLongestBurst(t *testing.T) {
	for _, resolution := range []float64{0, 0.01, 0.5} {
		for _, most := range []int64{1, 2, 100, 3_000_000} {
			for _, buffer := range []int64{0, 1, 2, 57, 1000, 999_999, 5_000_000} {
				for _, first := range []int64{0, 1, 60, 3_000_000} {
					tries := 0
					got, err := LongestBurst(most, first, resolution, func(frames int64) (bool, error) {
						if frames < 1 || frames > most {
							t.Fatalf("a burst of %d frames, of at most %d", frames, most)
						}
						tries++
						return frames <= buffer, nil
					})
					want := min(buffer, most)
					if err != nil || got > want || float64(got) < float64(want)/(1+resolution)-1e-9 || tries > 36 {
						t.Errorf("buffer %d, most %d, first %d, resolution %g: %d after %d tries, %v", buffer, most,
							first, resolution, got, tries, err)
					}
				}
			}
		}
	}
	broken := errors.New("broken")
	if _, err := LongestBurst(10, 1, 0, func(int64) (bool, error) { return true, broken }); !errors.Is(err, broken) {
		t.Error(err)
	}
}
