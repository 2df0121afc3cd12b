package settingfile

import (
	"flag"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"linerate/internal/model/opsystem"
)

var update = flag.Bool("update", false, "write what is expected of files anew")

// shownFile is what was read of a file.
func shownFile(f File) string {
	var b strings.Builder
	fmt.Fprintf(&b, "%s for %s", FormatName(f.Format), opsystem.Name(f.System))
	if f.Blank {
		b.WriteString(", blank")
	}
	if f.Nothing() {
		b.WriteString(", nothing was read")
	}
	b.WriteByte('\n')
	for _, d := range f.Documents {
		fmt.Fprintf(&b, "document of line %d: %s, %d settings\n", d.Line, FormatName(d.Format), d.Settings)
	}
	for _, l := range f.Lines {
		fmt.Fprintf(&b, "%d %s", l.Line, l.Setting())
		for _, part := range []struct{ name, text string }{{"bound", l.Bound}, {"within", l.Within}, {"when", l.When},
			{"slip", l.Slip}, {"fix", l.Fix}} {
			if part.text != "" {
				fmt.Fprintf(&b, " | %s %s", part.name, part.text)
			}
		}
		if l.Optional {
			b.WriteString(" | optional")
		}
		if l.Container {
			b.WriteString(" | container")
		}
		b.WriteByte('\n')
	}
	for _, a := range f.Apart {
		fmt.Fprintf(&b, "%d %s: %s | %s", a.Line, []string{"note", "odd", "wrong", "unread"}[a.Kind], a.Text, a.Why)
		if len(a.Instead) > 0 {
			fmt.Fprintf(&b, " | instead %s", strings.Join(a.Instead, "; "))
		}
		if a.Maybe != "" {
			fmt.Fprintf(&b, " | maybe %s", a.Maybe)
		}
		b.WriteByte('\n')
	}
	return b.String()
}

// samples are the files of each format, and of the cases that users have reported.
func samples(t testing.TB) (list []string) {
	for _, pattern := range []string{"testdata/formats/*", "testdata/cases/*/*"} {
		names, err := filepath.Glob(pattern)
		if err != nil {
			t.Fatal(err)
		}
		for _, name := range names {
			if !strings.HasSuffix(name, ".golden") && filepath.Base(name) != "expected.txt" {
				list = append(list, name)
			}
		}
	}
	return list
}

// TestFormats compares what is read of each sample with the file beside it that ends in .golden. There
// is a sample of every format.
func TestFormats(t *testing.T) {
	seen := map[string]bool{tomlFile: true} // of a TOML file that is no other one nothing is read
	for _, name := range samples(t) {
		text, err := os.ReadFile(name)
		if err != nil {
			t.Fatal(err)
		}
		f := Read(filepath.Base(name), text, "")
		seen[f.Format] = true
		got := shownFile(f)
		if *update {
			if err := os.WriteFile(name+".golden", []byte(got), 0o644); err != nil {
				t.Fatal(err)
			}
		}
		want, err := os.ReadFile(name + ".golden")
		if err != nil || got != string(want) {
			t.Errorf("%s: %v\ngot\n%s\nwant\n%s", name, err, got, want)
		}
	}
	for _, f := range formats {
		if !seen[f.name] {
			t.Errorf("no sample is of format %s", f.name)
		}
		if f.label == "" || f.by == "" || f.yields == "" || strings.Contains(f.by+f.yields, "|\n") {
			t.Errorf("%s is not described: %+v", f.name, f)
		}
	}
}

// TestRecognised: a name that programs give a meaning decides, and otherwise the content, also of
// standard input.
func TestRecognised(t *testing.T) {
	const machine = "machine:\n  sysctls:\n    net.core.rmem_max: 1\n"
	for _, test := range []struct{ name, text, format string }{
		{"/etc/sysctl.d/10-x.conf", "[main]\n", sysctlConf},
		{"/etc/sysctl.conf", "#!/bin/sh\n", sysctlConf},
		{"x.conf", "[main]\n[sysctl]\n", tunedProfile},
		{"-", machine, "talos"},
		{"notes.txt", machine, "talos"},
		{"x.conf", "net.ipv4.tcp_sack: 1\n", sysctlConf},
		{"-", "net.ipv4.tcp_sack: 1\n", yamlFile},
		{"-", "hello: world\n", plainText},
		{"x.conf", "hello = world\n", plainText},
		{"x.conf", "sysctl -w net.core.rmem_max=1\n", sysctlConf},
		{"-", "sysctl -w net.core.rmem_max=1\n", scriptFile},
		{"-", "$ sysctl net.core.rmem_max\nnet.core.rmem_max = 1\n", scriptFile},
		{"-", "sysctl -w net.core.rmem_max=1\nnet.core.wmem_max = 1\n", sysctlConf},
		{"x.conf", "[connection]\nid=x\n", "nmconnection"},
		{"x.conf", "[Service]\nExecStart=/bin/true\n", unitFile},
		{"x.conf", "[version]\n[sysctl]\n", iniFile},
		{"-", "# Tuning\n```\nsysctl -p\n```\n", markdownFile},
		{"x.sh", "cat <<E\n```\nE\n", scriptFile},
		{"-", "{% if a %}\nnet.core.rmem_max: {{ b }}\n{% endif %}\n", yamlFile},
		{"x.yaml", "apiVersion: v1alpha1\nkind: LinkConfig\n", "talos"},
		{"x.yaml", "hello: world\n", yamlFile},
		{"-", "{\"net.core.rmem_max\": 1}\n", jsonFile},
		{"-", "#!/usr/bin/env bash\nsysctl -p\n", scriptFile},
		{"rc.local", "#!/bin/sh -e\n", scriptFile},
		{"tune", "#!/usr/bin/python3\nprint(1)\n", "python"},
		{"x.yaml", "network:\n  version: 2\n", "netplan"},
		{"x.yaml", "networks:\n  a: {}\nservices:\n  b: {}\n", "compose"},
		{"x.yaml", "network: hello\n", yamlFile},
		{"config.toml", "[settings.kernel.sysctl]\n", "bottlerocket"},
		{"config.toml", "[a]\nb = 1\n", tomlFile},
		{"-", "{ boot = 1; }\nboot.kernel.sysctl = {};\n", "nix"},
		{"-", "sysctl { 'net.core.rmem_max': value => 1 }\n", "puppet"},
		{"sysctl.conf.j2", "a.b = {{ x }}\n", sysctlConf},
		{"-", "#cloud-config\npackages: [x]\nusers: []\n", "cloud-init"},
	} {
		if f := Read(test.name, []byte(test.text), ""); f.Format != test.format {
			t.Errorf("%s %q is read as %s, want %s", test.name, test.text, f.Format, test.format)
		}
	}
}

// TestNothing: a file of which nothing was read says so, and one with comments alone is blank.
func TestNothing(t *testing.T) {
	manifest := "apiVersion: apps/v1\nkind: Deployment\nmetadata: {name: web}\nspec:\n  containers:\n" +
		strings.Repeat("  - name: web\n    image: nginx\n", 200)
	for _, test := range []struct {
		name, text string
		nothing    bool
	}{
		{"x.yaml", manifest, true},
		{"x.yaml", manifest + "---\n" + manifest, true},
		{"x.yaml", manifest + "---\nnet.core.rmem_max: 1\n", false},
		{"x.json", "{}", true},
		{"x.json", "{", true},
		{"x.yaml", "", false}, // blank
		{"x.conf", "# nothing\n", false},
		{"x.conf", "nonsense\n", true},
		{"x.conf", "net.core.rmem_max 1\n", false},
		{"x.sh", "#!/bin/sh\nmake install\n", true},
		{"x.sh", "#!/bin/sh\nls\n", true},
		{"x.sh", "#!/bin/sh\nfoo\nsysctl net.core.rmem_max=1\n", false},
		{"tuned.conf", "[main]\ninclude=x\n", true},
		{"interfaces", "auto eth0\niface eth0 inet dhcp\n", true},
		{"loader.conf", "if_ix_load=\"YES\"\n", false}, // blank
		{"x.nix", "{ }: { }", true},
		{"app.properties", "server.port=8080\nfoo=bar\n", true},
		{"x.conf", "lxc.net.0.type = veth\n", true},
		{"Dockerfile", "FROM x\nRUN sysctl -w net.core.rmem_max=1\n", true},
		{"tune.bat", "netsh int tcp show global\n", true},
	} {
		f := Read(test.name, []byte(test.text), "")
		if f.Nothing() != test.nothing {
			t.Errorf("%s %.40q: %+v", test.name, test.text, f)
		}
	}
}

// TestDocs: docs/tune-lint.md has a row for each format.
func TestDocs(t *testing.T) {
	const page, begin, end = "../../../docs/tune-lint.md", "<!-- formats -->\n", "<!-- /formats -->"
	text, err := os.ReadFile(page)
	if err != nil {
		t.Fatal(err)
	}
	before, rest, found := strings.Cut(string(text), begin)
	_, after, closed := strings.Cut(rest, end)
	if !found || !closed {
		t.Fatalf("%s has no place for the table", page)
	}
	table := "| format | recognised by | read |\n|---|---|---|\n"
	for _, f := range Formats() {
		manual := ""
		if f.Manual != "" {
			manual = " (" + f.Manual + ")"
		}
		table += fmt.Sprintf("| %s%s | %s | %s |\n", f.Label, manual, strings.ReplaceAll(f.By, "|", `\|`),
			strings.ReplaceAll(f.Yields, "|", `\|`))
	}
	want := before + begin + "\n" + table + end + after
	if *update {
		if err := os.WriteFile(page, []byte(want), 0o644); err != nil {
			t.Fatal(err)
		}
		return
	}
	if want != string(text) {
		t.Errorf("%s has not the formats that there are: go test -run TestDocs -update", page)
	}
}
