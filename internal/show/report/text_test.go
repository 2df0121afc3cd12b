package report

import (
	"bytes"
	"testing"
)

func TestLook(t *testing.T) {
	for _, w := range []int{80, 120} {
		var b bytes.Buffer
		if err := Text(&b, arpFlux(), TextOptions{Width: w, Page: "runs/arp-flux-7/report.html"}); err != nil {
			t.Fatal(err)
		}
		t.Log("\n" + b.String())
	}
}
