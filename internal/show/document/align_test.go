package document

import (
	"slices"
	"testing"
)

func TestAlignDecimals(t *testing.T) {
	got := alignDecimals([]string{"119.50", "240", "", "4.1×", "<0.1"}, "_", ".")
	want := []string{"119.50", "240.__", "", "__4.1×_", "_<0.1_"}
	if !slices.Equal(got, want) {
		t.Errorf("got %q, expected %q", got, want)
	}
}
