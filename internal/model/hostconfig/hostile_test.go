package hostconfig

import (
	"net/netip"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/goccy/go-yaml"

	"linerate/internal/model/opsystem"
	"linerate/internal/model/setting"
	"linerate/internal/model/settingfile"
)

// hostile are names and values that mean something to a shell, to YAML or to a parser of
// lines.
var hostile = []string{
	"eth0\nreboot", "eth0\r[Link]", "$(touch pwned)", "`touch pwned`", "a;touch pwned", "a'b", `a"b`, `a\`, "a #b",
	"a: b", "- a", "{a: 1}", "*a", "&a",
	"!a", "%i", "a|b", "a&b", "~", "null", "\x1b[31m", "é", "\u2028", "", "-rf", "--help", "..", "a/b", "a,b", "a=b",
	"[a]", "fe80::1%$(touch pwned)", "a\x00b", "\xff",
}

// named are settings of every kind that have a text wherever one can stand.
func named(text string) []setting.Setting {
	addr := netip.MustParseAddr("10.1.0.7")
	return []setting.Setting{
		{Sysctl: []setting.Sysctl{{Key: "net." + text, Value: "1"}}},
		{Sysctl: []setting.Sysctl{{Key: "net.ipv4.tcp_rmem", Value: text}}},
		{Neighbour: &setting.Neighbour{Interface: text, Address: addr, LLAddr: "02:00:00:02:00:07"}},
		{Neighbour: &setting.Neighbour{Interface: "eth0", Address: addr, LLAddr: text}},
		{Neighbour: &setting.Neighbour{Interface: "eth0", Address: netip.MustParseAddr("fe80::1").WithZone(text),
			LLAddr: "02:00:00:02:00:07"}},
		{Address: &setting.Address{Interface: text, Address: netip.MustParsePrefix("10.2.0.20/24")}},
		{Route: &setting.Route{To: text, Interface: "eth0"}},
		{Route: &setting.Route{To: "default", Via: text}},
		{Route: &setting.Route{To: "default", Interface: text}},
		{Route: &setting.Route{To: "default", Nexthops: []setting.Nexthop{{Via: text, Interface: text},
			{Interface: "eth1"}}}},
		{Nexthop: &setting.NexthopObject{ID: 1, Via: "inet6 " + text, Interface: text}},
		{Rule: &setting.Rule{From: text, To: text, Table: 7}},
		{Link: &setting.Link{Interface: text, MTU: 1400}},
		{NFT: &setting.NFT{Hook: text, Type: text, Policy: text}},
		{NFT: &setting.NFT{Hook: "input", Rules: []string{text}}},
		{Link: &setting.Link{Interface: "eth0", MAC: text}},
		{Qdisc: &setting.Qdisc{Interface: text, Kind: text}},
	}
}

// FuzzHostile: whatever names and values are, no format gets a line, a key or a word more
// than with plain ones.
func FuzzHostile(f *testing.F) {
	for _, text := range hostile {
		f.Add(text)
	}
	f.Fuzz(func(t *testing.T, text string) {
		for _, s := range named(text) {
			h := nas(s)
			for _, command := range Commands(h.Settings) {
				if rest := unquoted(command); strings.ContainsAny(rest, "\n\r;&|$`<>(){}*?[]#~!\"\\") {
					t.Errorf("%q: unquoted are %q", command, rest)
				}
			}
			for _, format := range Formats {
				for _, file := range format.Config(h, []string{text, "two\nlines"}).Files {
					checkFile(t, file, text)
				}
			}
		}
	})
}

// unquoted is what a shell reads of a line outside of quotes.
func unquoted(line string) string {
	rest := ""
	for i, part := range strings.Split(strings.ReplaceAll(line, `'\''`, ""), "'") {
		if i%2 == 0 {
			rest += part
		}
	}
	return rest
}

func checkFile(t *testing.T, file File, text string) {
	t.Helper()
	if !filepath.IsLocal(file.Path) || strings.ContainsAny(file.Path, "\n$`;' ") {
		t.Errorf("%q: path %q", text, file.Path)
	}
	switch {
	case file.Path == unitPath || file.Path == scriptPath: // commands: TestShellReadsWords
		return
	case file.Path == nmcliPath: // as the shell quotes them
	case file.Path == sysctlPath:
		read := settingfile.Read("x", []byte(file.Text), opsystem.Linux)
		if len(read.Lines) != 1 || len(read.Apart) > 0 {
			t.Errorf("%q: the file has %d parameters:\n%s", text, len(read.Lines), file.Text)
		}
	case strings.HasSuffix(file.Path, ".yaml"):
		var made struct {
			Network struct {
				Version   int
				Ethernets map[string]map[string]any
			}
		}
		if err := yaml.NewDecoder(strings.NewReader(file.Text), yaml.Strict()).Decode(&made); err != nil ||
			len(made.Network.Ethernets) != 1 {
			t.Errorf("%q: %v\n%s", text, err, file.Text)
		}
		fallthrough
	default: // what programs expand or pass on to a shell
		for line := range strings.Lines(file.Text) {
			if !strings.HasPrefix(line, "#") && strings.ContainsAny(line, "$`;'\\%*?&<>\r\x00\x1b") {
				t.Errorf("%q in %s: %q", text, file.Path, line)
			}
		}
	}
	for line := range strings.Lines(file.Text) {
		if strings.HasPrefix(line, "reboot") || strings.HasPrefix(line, "lines") {
			t.Errorf("%q in %s: a line %q", text, file.Path, line)
		}
	}
}

// TestShellReadsWords: a shell gives each program the words that were meant, and runs
// nothing else.
func TestShellReadsWords(t *testing.T) {
	dir := t.TempDir()
	for _, name := range []string{"ip", "tc", "sysctl", "nft"} {
		if err := os.WriteFile(filepath.Join(dir, name), []byte("#!/bin/sh\nprintf '%s\\0' \"$0\" \"$@\" >>words\n"),
			0o755); err != nil {
			t.Fatal(err)
		}
	}
	for _, text := range hostile {
		if strings.Contains(text, "\x00") || text == "" {
			continue // no word can have a zero byte
		}
		for _, s := range named(text) {
			h := nas(s)
			script := script(changes(&h), []string{text})
			cmd := exec.CommandContext(t.Context(), "sh", "-c", script)
			cmd.Dir, cmd.Env = dir, []string{"PATH=" + dir + ":" + os.Getenv("PATH")}
			if out, err := cmd.CombinedOutput(); err != nil || len(out) > 0 {
				t.Fatalf("%v: %s\n%s", err, out, script)
			}
			words, err := os.ReadFile(filepath.Join(dir, "words"))
			if err != nil {
				t.Fatal(err)
			}
			if err := os.Remove(filepath.Join(dir, "words")); err != nil {
				t.Fatal(err)
			}
			list := strings.Split(string(words), "\x00")
			if s.Link != nil && s.Link.MTU != 0 &&
				!slices.Equal(list[1:len(list)-1], []string{"link", "set", "dev", text, "mtu", "1400"}) {
				t.Errorf("%q are the words for %q", list, text)
			}
		}
	}
	if left, _ := os.ReadDir(dir); len(left) != 4 {
		t.Errorf("something else was run: %v", left)
	}
}
