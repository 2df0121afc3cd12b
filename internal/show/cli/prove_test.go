package cli

import (
	"io"
	"path/filepath"
	"strings"
	"testing"

	"linerate/internal/control/notebook"
	"linerate/internal/control/notebook/sqlite"
	"linerate/internal/model/record"
	"linerate/internal/model/setting"
	"linerate/internal/science/sciencetest"
)

// TestProveEarlier: a finding that the latest run lacks is looked for in earlier ones.
func TestProveEarlier(t *testing.T) {
	path := filepath.Join(t.TempDir(), "n.db")
	t.Setenv("LINERATE_NOTEBOOK", path)
	store, err := sqlite.Open(t.Context(), path)
	if err != nil {
		t.Fatal(err)
	}
	for seed, findings := range [][]record.Finding{
		{{ID: "arp-flux", Settings: []setting.Setting{
			{Host: "nas", Sysctl: []setting.Sysctl{{Key: "net.ipv4.conf.all.arp_ignore", Value: "1"}}}}}},
		{{ID: "sack-off"}}, nil,
	} {
		run := sciencetest.Run(uint64(seed)+1, 1)
		run.ID = notebook.ProposeID(run.Study, run.Seed)
		if err = store.Begin(t.Context(), run); err == nil {
			err = store.SaveTrial(t.Context(), run.ID, run.Trials[0])
		}
		run.Findings, run.Status = findings, notebook.Complete
		if err == nil {
			err = store.Finish(t.Context(), run)
		}
		if err != nil {
			t.Fatal(err)
		}
	}
	if err := store.Close(); err != nil {
		t.Fatal(err)
	}
	first := notebook.ProposeID(sciencetest.Run(1, 1).Study, 1)
	for finding, want := range map[string]string{"arp-flux": first, "sack-off": "", "mtu-differs": ""} {
		if got := earlierWith(t.Context(), finding); got != want {
			t.Errorf("%s: %q, want %q", finding, got, want)
		}
	}
	var errs strings.Builder
	status := Main([]string{"prove", "sack-off"}, strings.NewReader(""), io.Discard, &errs)
	if status != ExitDoubt || strings.Contains(errs.String(), "The latest run that has it") {
		t.Errorf("status %d, %q", status, errs.String())
	}
	errs.Reset()
	if status := Main([]string{"prove", "arp-flux"}, strings.NewReader(""), io.Discard, &errs); status != ExitDoubt ||
		!strings.Contains(strings.Join(strings.Fields(errs.String()), " "), "The latest run that has it is "+first+
			": linerate prove arp-flux --run "+first) {
		t.Errorf("status %d, %q", status, errs.String())
	}
}
