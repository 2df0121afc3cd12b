package settingfile

import (
	"fmt"
	"os"
	"path/filepath"
	"runtime"
	"slices"
	"strings"
	"testing"

	"linerate/internal/model/shellscript"
)

// TestHostile reads texts that are made to be hard to read, under the names of all formats, and files within
// files within files.
func TestHostile(t *testing.T) {
	const size = 2 << 10
	texts := []string{strings.Repeat("[variables]\n", 2)}
	for _, unit := range []string{"{{ ", "{% if a %}\n", "{{ a }}\n", "```\n", "``` sh\nsysctl -w a.b=c\n", "[", "{", "(", "\"",
		"'", "\\\n", "\\", "--B\n", "a: {{ b }}\n", "  - ", "<<E\n", "${a}", "[a]\n", "$(", "`", "/*", "''", "sysctl {",
		"resource \"a\" \"b\" {\n", "iface a\n", "RUN+=\"", "a=1 ", "net.ipv4.tcp_sack = 1 ", "x@y:~# ", "&a ", "*a\n",
		"boot.kernel.sysctl = {", "up ethtool -K eth0 gro off\n", "ExecStart=/bin/sh -c 'sysctl -w a.b=c'\n",
		"[Service]\nExecStart=", "sysctl.a.b=c ", "FROM a\nRUN sysctl -w a.b=c\n", "net.core.rmem_max: [1]\n", "\r", "a\x00",
		"Content-Type: multipart/mixed; boundary=B\n\n--B\n\n", "\ue0001\ue001 = 1\n"} {
		texts = append(texts, strings.Repeat(unit, size/len(unit)))
	}
	var doubled strings.Builder
	doubled.WriteString("[variables]\nv0=aaaaaaaaaa\n")
	for i := range 100 {
		fmt.Fprintf(&doubled, "v%d=${v%d}${v%d}\n", i+1, i, i)
	}
	doubled.WriteString("[sysctl]\nnet.core.rmem_max=${v100}\n")
	deep := "net.core.rmem_max=1"
	for range 3 * deepestFile {
		deep = "#cloud-config\nwrite_files:\n- path: /x.yaml\n  content: |\n    " + strings.ReplaceAll(deep, "\n", "\n    ")
	}
	texts = append(texts, doubled.String(), deep)
	names := []string{"-", "x.conf", "x.sh", "x.yaml", "x.nix", "x.pp", "x.tf", "x.md", "x.rules", "x.service", "x.container",
		"x.link", "x.network", "interfaces", "ifcfg-x", "x.json", "x.toml", "x.sls", "tuned.conf", "x.nmconnection", "grub",
		"Dockerfile", "x.rsc", "loader.conf", "/etc/sysctl.d/x"}
	for _, text := range texts {
		for _, name := range names {
			f := Read(name, []byte(text), "")
			for _, l := range f.Lines {
				if len(l.Value) > 4*longestValue {
					t.Fatalf("%s: a value of %d bytes", name, len(l.Value))
				}
			}
		}
	}
	// Many scripts together take no more than one.
	script := "for i in {1..4000}; do : " + strings.Repeat("'' ", 200) + "; done\n"
	for name, text := range map[string]string{
		"x.md":         strings.Repeat("```sh\n"+script+"```\n", 300),
		"x.yaml":       "#cloud-config\nruncmd:\n" + strings.Repeat("- |\n  "+script, 300),
		"written.yaml": "#cloud-config\nwrite_files:\n" + strings.Repeat("- path: /x.sh\n  content: |\n    "+script, 300),
	} {
		var before, after runtime.MemStats
		runtime.ReadMemStats(&before)
		Read(name, []byte(text), "")
		runtime.ReadMemStats(&after)
		if all := (after.TotalAlloc - before.TotalAlloc) >> 20; all > 512 {
			t.Errorf("%s: %d MiB were allocated", name, all)
		}
	}
	f := Read("x.yaml", []byte(deep), "")
	if len(f.Lines) > 0 || f.Unread() == 0 {
		t.Errorf("files within files: %+v", f)
	}
}

// FuzzFormats has each reader read texts of any other format: lines are those of the text.
func FuzzFormats(f *testing.F) {
	for _, name := range samples(f) {
		text, err := os.ReadFile(name)
		if err != nil {
			f.Fatal(err)
		}
		of := Read(filepath.Base(name), text, "").Format
		f.Add(uint8(slices.IndexFunc(formats, func(f *format) bool { return f.name == of })), string(text))
	}
	f.Fuzz(func(t *testing.T, which uint8, text string) {
		of := formats[int(which)%len(formats)]
		file := File{Name: "x", Format: of.name, scripts: new(shellscript.Budget)}
		if of.read == nil {
			file.documents(text)
		} else {
			of.read(&file, text)
		}
		rows := strings.Count(text, "\n") + strings.Count(text, "\r") + 1
		for _, l := range file.Lines {
			if l.Line < 1 || l.Line > rows || l.Key == "" || l.Value == "" {
				t.Fatalf("%s: %+v of %d lines", of.name, l, rows)
			}
		}
		for _, a := range file.Apart {
			if a.Line < 1 || a.Line > rows || a.Why == "" || len(a.Text) > longest+len("…") {
				t.Fatalf("%s: %+v of %d lines", of.name, a, rows)
			}
		}
	})
}
