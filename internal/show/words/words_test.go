package words

import (
	"slices"
	"strings"
	"testing"
)

func TestNaturalOrder(t *testing.T) {
	names := []string{"eth10", "eth2", "eth1", "swp1", "eth1.100", "eth02", "enp3s0f1", "enp3s0f0"}
	slices.SortFunc(names, Natural)
	if got := strings.Join(names, " "); got != "enp3s0f0 enp3s0f1 eth1 eth1.100 eth2 eth02 eth10 swp1" {
		t.Error(got)
	}
}
