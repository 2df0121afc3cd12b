package inventory

import (
	"encoding/json"
	"flag"
	"os"
	"path/filepath"
	"strings"
	"testing"
)

var update = flag.Bool("update", false, "write what is read of testdata, and the table of docs/hosts.md")

// described has one line for each host.
func described(inv *Inventory) string {
	var b strings.Builder
	for _, h := range inv.Hosts {
		b.WriteString(h.Name + ": " + strings.Join(h.Via, " "))
		h.Name, h.Via = "", nil
		text, _ := json.Marshal(h)
		b.WriteString(" {" + strings.TrimPrefix(string(text), `{"name":"","via":null`) + "\n")
	}
	for _, text := range inv.LeftOut {
		b.WriteString("# " + text + "\n")
	}
	return b.String()
}

// TestRead: files of every kind, and what is said of wrong ones, are as written in testdata.
func TestRead(t *testing.T) {
	files, err := filepath.Glob("testdata/*")
	if err != nil || len(files) == 0 {
		t.Fatal(files, err)
	}
	for _, file := range files {
		if strings.HasSuffix(file, ".golden") || filepath.Base(file) == "fuzz" {
			continue
		}
		text, err := os.ReadFile(file)
		if err != nil {
			t.Fatal(err)
		}
		said := ""
		if inv, err := Read(filepath.Base(file), text); err != nil {
			said = err.Error() + "\n"
		} else {
			said = string(inv.Kind) + "\n" + described(inv)
		}
		golden := file + ".golden"
		if *update {
			if err := os.WriteFile(golden, []byte(said), 0o644); err != nil {
				t.Fatal(err)
			}
		}
		want, _ := os.ReadFile(golden)
		if said != string(want) {
			t.Errorf("%s: got\n%s\nwant\n%s", file, said, want)
		}
	}
}
