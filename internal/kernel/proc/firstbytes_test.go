package proc

import (
	"os/exec"
	"testing"
)

// TestFirstBytes: of what a process prints, so many bytes and one more are kept.
func TestFirstBytes(t *testing.T) {
	for _, most := range []int{0, 10, 1 << 20} {
		b := &FirstBytes{Most: most}
		cmd := exec.Command("head", "-c", "300000", "/dev/zero")
		cmd.Stdout = b
		if err := cmd.Run(); err != nil {
			t.Fatal(err)
		}
		if want := min(most+1, 300000); b.Len() != want || len(b.Bytes()) != want {
			t.Errorf("%d bytes of at most %d are kept, want %d", b.Len(), most, want)
		}
	}
}
