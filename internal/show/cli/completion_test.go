package cli

import (
	"io"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"linerate/internal/control/notebook"
	"linerate/internal/control/notebook/sqlite"
	"linerate/internal/science/sciencetest"
	"linerate/studies"
)

// TestCompletion: what a shell is offered, and nothing on stderr where there is nothing.
func TestCompletion(t *testing.T) {
	dir := t.TempDir()
	t.Chdir(dir)
	t.Setenv(notebook.Variable, filepath.Join(dir, "notebook.db"))
	offered := func(words ...string) string {
		t.Helper()
		var out, errs strings.Builder
		if status := Main(append([]string{"__completeNoDesc"}, words...), strings.NewReader(""), &out,
			&errs); status != ExitOK || strings.Contains(errs.String(), "rror") {
			t.Errorf("%q: status %d, %s", words, status, errs.String())
		}
		return "\n" + out.String()
	}
	if got := offered("report", ""); strings.TrimSpace(got) != ":4" {
		t.Errorf("without a notebook: %q", got)
	}
	if got := offered("lab", "exec", "--lab", "none", ""); strings.TrimSpace(got) != ":0" {
		t.Errorf("without a lab: %q", got)
	}
	if got := offered("report", "latest", ""); strings.TrimSpace(got) != ":4" {
		t.Errorf("after the only run: %q", got)
	}
	if got := offered("tune", "x.conf", "--on", "missing.yaml", "--host", ""); strings.TrimSpace(got) != ":4" {
		t.Errorf("of no study: %q", got)
	}
	store, err := sqlite.Open(t.Context(), filepath.Join(dir, "notebook.db"))
	if err != nil {
		t.Fatal(err)
	}
	kept := sciencetest.Run(7, 1)
	kept.ID, kept.Name = notebook.ProposeID(kept.Study, 7), `Karl's "old" cable: port $3`
	if err := store.Begin(t.Context(), kept); err != nil {
		t.Fatal(err)
	}
	if err := store.SaveTrial(t.Context(), kept.ID, kept.Trials[0]); err != nil { // latest is one with a trial
		t.Fatal(err)
	}
	if err := store.Close(); err != nil {
		t.Fatal(err)
	}
	text, err := studies.Files.ReadFile("arp-flux.yaml")
	if err == nil {
		err = os.WriteFile("mine.yaml", text, 0o600)
	}
	if err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile("hosts.yaml", []byte("hosts: {nas: {rack: r1}, web1: }\ngroups: {web: {hosts: web1}}\n"),
		0o600); err != nil {
		t.Fatal(err)
	}
	for line, want := range map[string]string{
		"doctor|--inventory|hosts.yaml|--host|n":    "\nnas\n",
		"top|--inventory|hosts.yaml|--select|":      "\nweb\nrack=\nnas\nweb1\n",
		"hosts|--inventory|missing.yaml|--select|w": "\n:",
		"report|":                       "\narp-flux-7\n",
		"report|Karl's \"o":             "\nKarl's \"old\" cable: port $3\n",
		"runs|rm|latest|Ka":             "\nKarl's \"old\" cable: port $3\n",
		"fix|arp":                       "\narp-flux-7\n",
		"compare|latest|":               "\narp-flux-7\n",
		"run|--resume|":                 "\nlatest\n",
		"run|arp":                       "\narp-flux\n",
		"tune|lin":                      "\nlinux-10g\n",
		"tune|x.conf|--on|arp":          "\narp-flux\n",
		"tune|--on|mine.yaml|--host|s":  "\nserver\n",
		"run|mine.yaml|--only|static":   "\nstatic ARP entries\n",
		"run|mine.yaml|--part|":         "\nall\n",
		"run|mine.yaml|--set|workload.": "\nworkload.duration=\n",
		"tune|--search|net.ipv4.tcp_r":  "\nnet.ipv4.tcp_rmem.max=\n",
		"measure|nas|--protocol|ud":     "\nudp-rr\n",
		"measure|nas|--direction|":      "\nboth\n",
		"serve|--alias|":                "\nlo=\n",
		"export|latest|--table|tr":      "\ntrials\n",
	} {
		if got := offered(strings.Split(line, "|")...); !strings.Contains(got, want) {
			t.Errorf("%s: %q, want %q", line, got, want)
		}
	}
	for line, want := range map[string]string{
		"run --resume":                      "--resume needs a run: arp-flux-7 (interrupted), latest or",
		"run --wait --resume --quiet":       "--resume needs a run before --quiet: arp-flux-7 (interrupted), latest or",
		"tune x.conf --run":                 "--run needs a run: latest, arp-flux-7 (interrupted) or",
		"tune x.conf --on mine.yaml --host": "--host needs hosts: server, client1 or client2",
	} {
		var errs strings.Builder
		if status := Main(strings.Fields(line), strings.NewReader(""), io.Discard, &errs); status != ExitUsage ||
			!strings.Contains(errs.String(), want) {
			t.Errorf("%s: status %d, %q, want %q", line, status, errs.String(), want)
		}
	}
}
