package proc

import (
	"testing"
	"time"
)

func TestCPUTime(t *testing.T) {
	before, user, system := TotalCPUTime(), time.Duration(0), time.Duration(0)
	for end := time.Now().Add(10 * time.Second); TotalCPUTime() == before ||
		user+system == 0; user, system = CPUTime() {
		if time.Now().After(end) {
			t.Fatal("the process has used no processor time in ten seconds of work")
		}
	}
	if MaxOpenFiles() <= 0 {
		t.Error("the process may have no descriptors")
	}
}
