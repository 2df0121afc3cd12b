package cli

import (
	"bytes"
	"encoding/csv"
	"encoding/json"
	"io"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"linerate/internal/model/plain"
	"linerate/internal/show/export"
	"linerate/internal/show/showtest"
)

// TestFilter: attributes of package text pass, everything else that acts on a terminal does
// not, wherever a write ends.
func TestFilter(t *testing.T) {
	const hostile = "a\x1b[1mbold\x1b[0m\x1b[2J\x1b]0;title\x07 grün\u009b1m\rover\u202e\r\n\tend\x1b[31"
	const clean = "a\x1b[1mbold\x1b[0m�[2J�]0;title� grün�1m�over�\n\tend"
	for size := 1; size <= len(hostile); size++ {
		var written bytes.Buffer
		f := &filter{to: &written}
		for rest := hostile; rest != ""; {
			n := min(size, len(rest))
			if got, err := io.WriteString(f, rest[:n]); got != n || err != nil {
				t.Fatalf("wrote %d of %d: %v", got, n, err)
			}
			rest = rest[n:]
		}
		if got := written.String(); got != clean {
			t.Errorf("in writes of %d bytes: %q, want %q", size, got, clean)
		}
	}
}

// TestNothingActsOnTheTerminal: text of arguments, study files and runs is shown, and does
// not act.
func TestNothingActsOnTheTerminal(t *testing.T) {
	const evil = "x\x1b[2J\x1b]0;owned\x07\u009b31m\rhidden\u202e"
	dir := t.TempDir()
	study := filepath.Join(dir, "evil.yaml")
	if err := os.WriteFile(study, []byte("study: \"x\\e[2J\\r\"\n"+evil+": 1\nhosts: [\""+
		strings.ReplaceAll(evil, "\x1b", "\\e")+"\"]\n"), 0o600); err != nil {
		t.Fatal(err)
	}
	settings := filepath.Join(dir, "evil.conf")
	if err := os.WriteFile(settings, []byte("net.ipv4."+evil+" = "+evil+"\n"), 0o600); err != nil {
		t.Fatal(err)
	}
	for _, args := range [][]string{
		{"check", study},
		{"run", study},
		{"check", evil},
		{"tune", settings},
		{evil},
		{"--" + evil},
		{"measure", evil},
		{"measure", "127.0.0.1", "--congestion-control", evil},
		{"report", evil},
		{"limits", "goodput", "--rate", evil},
		{"new", "nas", "-o", filepath.Join(dir, evil, "x.yaml")},
		{"serve", "--listen", evil},
		{"recover", evil},
	} {
		var out, errs bytes.Buffer
		if status := Main(args, strings.NewReader(""), &out, &errs); status == ExitOK && args[0] != "tune" {
			t.Errorf("%q: succeeded", args)
		}
		for name, text := range map[string]string{"output": out.String(), "error": errs.String()} {
			if plain.Text(text) != text {
				t.Errorf("%q: %s acts on the terminal: %q", args, name, text)
			}
		}
		if out.Len()+errs.Len() == 0 {
			t.Errorf("%q: says nothing", args)
		}
	}
}

// TestExportsDoNotAct: tables and documents of a run with hostile names are shown by cat as
// they are, and JSON has the names unchanged.
func TestExportsDoNotAct(t *testing.T) {
	run := showtest.Hostile()
	run.Study = "x\x1b[2J\u009b31m\u202e\U000e0001"
	var document bytes.Buffer
	if err := export.Indented(&document, run); err != nil {
		t.Fatal(err)
	}
	if text := document.String(); plain.Text(text) != text {
		t.Error("JSON has characters that act on a terminal")
	}
	var read struct{ Study string }
	if err := json.Unmarshal(document.Bytes(), &read); err != nil || read.Study != run.Study {
		t.Errorf("read again: %q, %v; want %q", read.Study, err, run.Study)
	}
	for _, table := range export.Tables {
		var b bytes.Buffer
		if err := export.CSV(&b, table, run); err != nil {
			t.Fatal(err)
		}
		if text := b.String(); plain.Text(text) != text {
			t.Errorf("table %s has characters that act on a terminal", table.Name)
		}
		if _, err := csv.NewReader(&b).ReadAll(); err != nil {
			t.Errorf("table %s: %v", table.Name, err)
		}
	}
}
