package cli

import (
	"errors"
	"fmt"
	"time"

	"linerate/internal/control/measure"
	"linerate/internal/model/flow"
)

// searchWarmup is the warm-up of a search's trials unless another is asked for:
// datagrams have no slow start.
const searchWarmup = 200 * time.Millisecond

// searching reads what is said of a search for the highest rate without loss.
func (f *measureFlags) searching(o *measure.Options) (problems []error) {
	if !f.lossFree {
		for _, flag := range []string{"loss", "resolution", "repeats"} {
			if f.given(flag) {
				problems = append(problems, fmt.Errorf("--%s is for a search: expected --loss-free as well", flag))
			}
		}
		return problems
	}
	if f.flows.Protocol != flow.UDP {
		problems = append(problems, fmt.Errorf("--loss-free is for udp, and --protocol is %s", f.flows.Protocol))
	}
	if f.flows.Direction == flow.Both {
		problems = append(problems, errors.New("--loss-free and --direction both: expected one direction at a time"))
	}
	if f.latency {
		problems = append(problems, errors.New("--loss-free and --latency: expected one of them"))
	}
	f.search.Check(func(name, format string, args ...any) {
		problems = append(problems, fmt.Errorf("--"+format, args...))
	})
	if !f.given("warmup") {
		o.Warmup = searchWarmup
	}
	return problems
}
