//go:build linux

package measure_test

import (
	"fmt"
	"testing"
	"time"

	"linerate/internal/control/controltest"
	"linerate/internal/control/measure"
	"linerate/internal/kernel/kerneltest"
	"linerate/internal/model/flow"
	"linerate/internal/model/record"
)

// TestMeasureMail: Postfix's smtp-sink is measured by URL, and the rate agrees with that of
// its smtp-source. smtp-sink changes its user, which takes a root that is no namespace's.
func TestMeasureMail(t *testing.T) {
	kerneltest.AsRoot(t, func(t *testing.T) {
		controltest.Wired(t, "100mbit", "client")
		controltest.Started(t, "server", 25, "smtp-sink", "-u", "root", "10.0.0.1:25", "100")
		m := measured(t, "client", measure.Options{URL: "smtp://10.0.0.1", Addresses: []string{"10.0.0.1:25"},
			Duration: 2 * time.Second, Flows: flow.Spec{Protocol: flow.SMTP, Request: 100_000, Connections: 4}})
		if m.Transactions == nil || m.Transactions.Application.Outcomes["250"] < m.Transactions.Done*9/10 ||
			m.Transactions.Done == 0 {
			t.Fatalf("%+v", m.Transactions)
		}
		if phases := m.Transactions.Application.Phases; len(phases) == 0 ||
			phases[len(phases)-1].Phase != record.PhaseLastByte.String() {
			t.Errorf("%+v", phases)
		}
		const mails = 400
		controltest.Agree(t, "SMTP by linerate and smtp-source", m.RatePerS, func() float64 {
			return mails / controltest.Figure(t, `real\s+([0-9.]+)`, kerneltest.Do(t, "timeout", "30", "bash", "-c",
				fmt.Sprintf("TIMEFORMAT='real %%R'; time %s -s 4 -m %d -l 100000 10.0.0.1:25",
					kerneltest.Program(t, "smtp-source"), mails)+" 2>&1"))
		}, 0.3) // whose time begins with its start
	})
}
