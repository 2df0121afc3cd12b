package settingfile_test

import (
	"fmt"
	"slices"
	"strings"
	"testing"

	"linerate/internal/model/opsystem"
	"linerate/internal/model/settingfile"
	"linerate/internal/model/study"
)

const base = `# A path to try things on.
study: path
question: What is it?
topology:
  hosts:
    a: {interfaces: {eth0: {addresses: [10.0.0.1/24]}}}
    b: {interfaces: {eth0: {addresses: [10.0.0.2/24]}}}
  links:
    - {from: a.eth0, to: b.eth0, rate: 1gbit}
# The flows.
workload:
  flows: [{from: a, to: b}]
factors: {}
design: {replicates: 3, margin: 3%}
`

func lines(keys ...string) (list []settingfile.Line) {
	for i, key := range keys {
		list = append(list, settingfile.Line{File: "x.conf", Line: i + 1, Key: key, Value: "1 2 3"})
	}
	return list
}

// The study that is made is a sound one: the base's hosts, flows and design, and
// the list as what is varied.
func TestDesign(t *testing.T) {
	d := settingfile.Design{
		Name: "tune", Question: `Which of "these" {1..3}?`, Notes: []string{"one\nline"}, Hosts: []string{"a", "b"},
		Lines: lines("net.ipv4.tcp_rmem", "net.ipv4.tcp_wmem", "net.ipv4.conf.all.rp_filter"), Ablate: true,
		Untried: []settingfile.Untried{{Key: "net.core.rmem_max", Value: "16 {M}", Why: `host a: "machine-wide"`},
			{Key: "net.ipv4.conf.*.rp_filter", Value: "1", Why: "a pattern"}},
	}
	text, err := d.Study("base.yaml", []byte(base))
	if err != nil {
		t.Fatal(err)
	}
	s, err := study.Parse("tune.yaml", text)
	if err != nil {
		t.Fatalf("%v\n%s", err, text)
	}
	if s.Name != "tune" || s.Question != d.Question || s.Design.Replicates != 3 || len(s.Topology.Links) != 1 {
		t.Errorf("%+v", s)
	}
	if u := s.Factors[0].Untried; len(u) != 2 || settingfile.Untried(u[0]) != d.Untried[0] ||
		settingfile.Untried(u[1]) != d.Untried[1] {
		t.Errorf("not tried: %+v", u)
	}
	if about := s.Factors[0].Levels[1].About; about != "every setting of the list that could be tried" {
		t.Errorf("the list is %s", about)
	}
	var got []string
	for _, l := range s.Factors[0].Levels {
		n := 0
		for _, set := range l.Settings {
			n += len(set.Sysctl)
		}
		got = append(got, fmt.Sprintf("%s %d %s", l.Name, n, l.Against))
	}
	want := []string{
		"as it is 0 ", "the list 6 ", "off again 0 ",
		"only net.ipv4.tcp_rmem 2 ", "only net.ipv4.tcp_wmem 2 ", "only net.ipv4.conf.all.rp_filter 2 ",
		"without net.ipv4.tcp_rmem 4 the list", "without net.ipv4.tcp_wmem 4 the list",
		"without net.ipv4.conf.all.rp_filter 4 the list",
	}
	if !slices.Equal(got, want) {
		t.Errorf("levels %q, want %q", got, want)
	}
	if s.Factors[0].Baseline != settingfile.AsItIs {
		t.Errorf("the baseline is %q", s.Factors[0].Baseline)
	}
	if v := s.Factors[0].Levels[1].Settings[1]; v.Host != "b" || v.Sysctl[2].Key != "net.ipv4.conf.all.rp_filter" ||
		v.Sysctl[2].Value != "1 2 3" {
		t.Errorf("%+v", v)
	}
}

// The base of a study that was made is got back from it, and nothing else is varied in
// it.
func TestWithoutFactors(t *testing.T) {
	d := settingfile.Design{Name: "tune", Question: "?", Hosts: []string{"a"}, Lines: lines("net.ipv4.tcp_sack"),
		Responses: []string{"goodput"}}
	text, err := d.Study("base.yaml", []byte(base))
	if err != nil {
		t.Fatal(err)
	}
	got, err := settingfile.WithoutFactors("tune.yaml", text)
	want, wrong := d.Unvaried("base.yaml", []byte(base))
	if err != nil || wrong != nil || string(got) != string(want) || strings.Contains(string(got), "factors") {
		t.Errorf("got %v\n%s\nwant %v\n%s", err, got, wrong, want)
	}
}

// What it is judged by takes the place of what the base says.
func TestJudgedBy(t *testing.T) {
	own := strings.Replace(base, "factors: {}", "response: cpu_per_gigabyte", 1)
	for _, test := range []struct {
		responses []string
		want      []string
	}{
		{nil, []string{"cpu_per_gigabyte"}},
		{[]string{"goodput", "cpu_per_gigabyte"}, []string{"goodput", "cpu_per_gigabyte"}},
	} {
		text, err := settingfile.Design{Name: "tune", Question: "?", Lines: lines("net.ipv4.tcp_sack"),
			Hosts: []string{"a"}, Responses: test.responses}.Study("base.yaml", []byte(own))
		if err != nil {
			t.Fatal(err)
		}
		s, err := study.Parse("tune.yaml", text)
		if err != nil || !slices.Equal(s.Responses, test.want) {
			t.Errorf("asked for %v: %v\n%s", test.responses, err, text)
		}
	}
}

// A search tries the list with each value, and holds all against the largest.
func TestLadder(t *testing.T) {
	d := settingfile.Design{
		Name: "tune", Question: "?", Hosts: []string{"b"}, Lines: lines("net.ipv4.tcp_sack", "net.ipv4.tcp_rmem"),
		Search: &settingfile.Search{Key: "net.ipv4.tcp_rmem", Names: []string{"4MiB", "8MiB"},
			Values: []string{"1 2 4194304", "1 2 8388608"}},
	}
	text, err := d.Study("base.yaml", []byte(base))
	if err != nil {
		t.Fatal(err)
	}
	s, err := study.Parse("tune.yaml", text)
	if err != nil {
		t.Fatalf("%v\n%s", err, text)
	}
	var got []string
	for _, l := range s.Factors[0].Levels {
		got = append(got, l.Name)
		for _, set := range l.Settings {
			got = append(got, set.Sysctl[1].Value)
		}
	}
	if want := []string{"8MiB", "1 2 8388608", "4MiB", "1 2 4194304", "as it is"}; !slices.Equal(got, want) {
		t.Errorf("got %q, want %q", got, want)
	}
}

func TestUnfitBases(t *testing.T) {
	for _, test := range []struct{ text, want string }{
		{strings.Replace(base, "factors: {}", "factors: {x: {levels: {a: {}, b: {}}}}", 1),
			"base.yaml:13: the study varies something itself"},
		{"{topology: {}, workload: {}}", "expected topology, workload and design each on a line of its own"},
		{"topology: [", `"[" is not closed`},
		{"", "the file is empty"},
	} {
		text, err := settingfile.Design{Name: "tune"}.Study("base.yaml", []byte(test.text))
		if err == nil || !strings.Contains(err.Error(), test.want) {
			t.Errorf("%q: got %v, want %q\n%s", test.text, err, test.want, text)
		}
	}
}

// What is written is read as what it was.
func TestWrite(t *testing.T) {
	kept := []settingfile.Kept{
		{Line: settingfile.Line{Key: "net.ipv4.tcp_rmem", Value: "4096 131072 67108864"},
			Because: "alone 4.0×\n(3.9–4.1)"},
		{Line: settingfile.Line{Key: "net.ipv4.conf.eth0/100.rp_filter", Value: "0"}, Because: "it does it"},
	}
	for _, name := range []string{"90-x.conf", "tuned.conf"} {
		text := settingfile.Write(settingfile.FormatFor(name), []string{"a head"}, kept)
		f := settingfile.Read(name, []byte(text), "")
		if len(f.Lines) != 2 || len(f.Apart) != 0 || f.System != opsystem.Linux ||
			f.Format != settingfile.FormatFor(name) {
			t.Errorf("%s: %+v\n%s", name, f, text)
			continue
		}
		for i, l := range f.Lines {
			if l.Key != kept[i].Line.Key || l.Value != kept[i].Line.Value {
				t.Errorf("%s: %s, want %s", name, l.Setting(), kept[i].Line.Setting())
			}
		}
		if !strings.Contains(text, "# alone 4.0× (3.9–4.1)\n") || !strings.HasPrefix(text, "# a head\n") {
			t.Errorf("the reasons are not in it:\n%s", text)
		}
	}
	tasks := settingfile.Write(settingfile.FormatFor("tasks/net.yml"), nil, kept)
	want := "---\n# alone 4.0× (3.9–4.1)\n- name: Set net.ipv4.tcp_rmem\n  ansible.posix.sysctl:\n    name: " +
		"\"net.ipv4.tcp_rmem\"\n    value: \"4096 131072 67108864\"\n    sysctl_file: /" +
		settingfile.SysctlPath + "\n"
	if !strings.HasPrefix(tasks, want) {
		t.Errorf("tasks:\n%s", tasks)
	}
}
