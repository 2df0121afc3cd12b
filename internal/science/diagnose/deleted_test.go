package diagnose

import (
	"math/rand/v2"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"testing"

	"linerate/internal/model/pasted"
	"linerate/internal/model/record"
)

// sampleTexts returns the samples of package pasted, and the texts of reported cases.
func sampleTexts(t *testing.T) (names []string, texts map[string]string) {
	t.Helper()
	texts = map[string]string{}
	for _, pattern := range []string{"samples/*.txt", "cases/*.txt"} {
		files, err := filepath.Glob(filepath.Join("..", "..", "model", "pasted", "testdata", pattern))
		if err != nil || len(files) == 0 {
			t.Fatalf("%s: %d files, %v", pattern, len(files), err)
		}
		for _, file := range files {
			text, err := os.ReadFile(file)
			if err != nil {
				t.Fatal(err)
			}
			name := filepath.Base(file)
			names, texts[name] = append(names, name), string(text)
		}
	}
	slices.Sort(names)
	return names, texts
}

// evaluated returns what the rules say of a text.
func evaluated(text string) record.Evaluation {
	p, _ := pasted.Parse(text)
	if len(p.Machines) == 0 {
		return record.Evaluation{}
	}
	return Hosts(p.Machines)
}

// commands returns the outputs of a text, each with the line of its command.
func commands(text string) (list []string) {
	for line := range strings.Lines(text) {
		if len(list) == 0 || promptLine(line) {
			list = append(list, "")
		}
		list[len(list)-1] += line
	}
	return list
}

// promptLine reports whether a line has a prompt of the samples.
func promptLine(line string) bool {
	first, _, _ := strings.Cut(line, " ")
	return strings.ContainsAny(first, "$#") || strings.HasPrefix(line, "[") && strings.Contains(line, "]$ ") ||
		strings.HasPrefix(line, "[") && strings.Contains(line, "]# ") || strings.Contains(line, ":~# ")
}

// TestOutputsDeleted: without the outputs of some commands, no rule is evaluated that was not before,
// and where nothing is found any more, each rule that found something is not evaluated: what is not
// in a text is not judged.
func TestOutputsDeleted(t *testing.T) {
	names, texts := sampleTexts(t)
	random := rand.New(rand.NewPCG(17, 23))
	for range 250 {
		name := names[random.IntN(len(names))]
		outputs := commands(texts[name])
		if len(outputs) < 2 {
			continue
		}
		var kept, left []string
		for _, output := range outputs {
			if first, _, _ := strings.Cut(output, "\n"); random.IntN(3) > 0 {
				kept = append(kept, output)
			} else {
				left = append(left, first)
			}
		}
		deleted(t, name+" without "+strings.Join(left, "; "), texts[name], strings.Join(kept, ""))
	}
}

// head matches the first line of what a tool prints of an interface or of a file.
var head = regexp.MustCompile(`^(\S+: flags=|\d+: |\S.* for \S+:$|\S.*:$|==> |Slave Interface: )`)

// TestLinesDeleted is the same for single lines that are not those of commands.
func TestLinesDeleted(t *testing.T) {
	names, texts := sampleTexts(t)
	random := rand.New(rand.NewPCG(5, 7))
	for range 500 {
		name := names[random.IntN(len(names))]
		lines := strings.SplitAfter(texts[name], "\n")
		n := random.IntN(len(lines))
		if promptLine(lines[n]) || head.MatchString(lines[n]) {
			continue // without it the next lines are those of something else
		}
		deleted(t, name+" without "+strings.TrimSpace(lines[n]), texts[name],
			strings.Join(slices.Concat(lines[:n], lines[n+1:]), ""))
	}
}

// rows are rules about one row of a list, and what the list has. Where the row is not in a text, nothing
// says that it is missing, and what is there of the list is judged.
var rows = map[string]string{"blackhole-route": "routes", "unread-data": "sockets", "listen-overflow": "listeners",
	"udp-queue-full": "sockets", "half-duplex": "NICs", "link-down": "interfaces", "interface-errors": "interfaces",
	"same-subnet-interfaces": "interfaces with addresses", "same-subnet-mtu": "interfaces with addresses",
	"pcie-narrow": "PCI devices", "powersave-governor": "CPUs", "neighbour-failed": "neighbours",
	"gateway-unresolved": "neighbours", "probe-unanswered": "peers of ping", "parameter-set-twice": "lines of files",
	"fault-logged": "lines of the log", "network-buffers-denied": "counters of buffers",
	"network-buffers-delayed": "counters of buffers", "network-buffers-short": "counters of buffers",
	"transmit-ring-stalled": "rings", "interrupts-of-one-queue": "interrupts", "bond-member-down": "members of bonds",
	"lacp-apart": "bonds"}

func deleted(t *testing.T, what, text, less string) {
	t.Helper()
	before, after := evaluated(text), evaluated(less)
	if len(before.Hosts) != len(after.Hosts) {
		return // of other machines
	}
	for _, id := range after.Evaluated {
		if !slices.Contains(before.Evaluated, id) {
			t.Errorf("%s: %s is evaluated only now", what, id)
		}
	}
	if len(after.Findings) > 0 {
		return
	}
	unjudged := func(id string) bool {
		return slices.ContainsFunc(after.Unevaluated, func(u record.Unevaluated) bool { return u.Rule == id })
	}
	for _, f := range before.Findings {
		if !unjudged(f.ID) && rows[f.ID] == "" {
			t.Errorf("%s: %s is evaluated and not found any more", what, f.ID)
		}
	}
}

// mixture returns outputs of several samples, each behind a prompt. Those of a sample are of one host, which
// has one of each program or file: of two that say the same, the last counts.
func mixture(random *rand.Rand, names []string, texts map[string]string) (outputs []string) {
	for host := range 1 + random.IntN(4) {
		has := map[string]bool{}
		list := commands(texts[names[random.IntN(len(names))]])
		at := random.IntN(len(list))
		for _, output := range list[at:min(len(list), at+1+random.IntN(5))] {
			first, rest, _ := strings.Cut(output, "\n")
			if !promptLine(first) {
				continue
			}
			words := strings.Fields(command(first) + " -")
			key := words[0]
			switch words[0] {
			case "cat", "head", "grep":
				key = words[len(words)-2]
			case "ethtool":
				key = command(first)
			}
			if !has[key] {
				has[key] = true
				outputs = append(outputs, "nas"+strconv.Itoa(host)+":~# "+command(first)+"\n"+rest)
			}
		}
	}
	return outputs
}

// judgedByRow are rules that are not evaluated because of one row of a list, and what the row has. Without
// the row, what is there of the list is judged.
var judgedByRow = map[string]string{"firewall-drop": "a rule that drops and does not count",
	"nft-set-full": "a rule that drops and does not count", "nft-quota-used": "a rule that drops and does not count",
	"rule-without-routes": "a table of routes that is not in the text"}

// TestMixturesDeleted: of any mixture of outputs without any of its lines, no rule is evaluated that was not
// before: what was not judged is not healthy. The line with the command of an output is deleted only with all
// of it: without that line, the others are of something else.
func TestMixturesDeleted(t *testing.T) {
	names, texts := sampleTexts(t)
	random := rand.New(rand.NewPCG(11, 13))
	compared := 0
	for range 400 {
		outputs := mixture(random, names, texts)
		keep := []int{97, 80, 50, 20}[random.IntN(4)]
		less := ""
		for _, output := range outputs {
			if random.IntN(5) == 0 {
				continue
			}
			for n, line := range strings.SplitAfter(output, "\n") {
				if n == 0 || head.MatchString(line) || random.IntN(100) < keep {
					less += line
				}
			}
		}
		text := strings.Join(outputs, "")
		before, after := evaluated(text), evaluated(less)
		if !slices.Equal(before.Hosts, after.Hosts) {
			continue // of other machines
		}
		compared++
		for _, id := range after.Evaluated {
			found := slices.ContainsFunc(after.Findings, func(f record.Finding) bool { return f.ID == id })
			if !slices.Contains(before.Evaluated, id) && !found && judgedByRow[id] == "" {
				t.Errorf("%s is evaluated only now:\n%s\nthen\n%s", id, text, less)
			}
		}
	}
	if compared < 200 {
		t.Errorf("%d mixtures were compared", compared)
	}
}

// TestOutputsShuffled: the order of the outputs of commands behind prompts changes nothing.
func TestOutputsShuffled(t *testing.T) {
	names, texts := sampleTexts(t)
	random := rand.New(rand.NewPCG(29, 31))
	shuffled := 0
	for range 300 {
		outputs := mixture(random, names, texts)
		if len(outputs) < 2 {
			continue
		}
		shuffled++
		text := strings.Join(outputs, "")
		random.Shuffle(len(outputs), func(i, k int) { outputs[i], outputs[k] = outputs[k], outputs[i] })
		before, after := evaluated(text), evaluated(strings.Join(outputs, ""))
		if a, b := said(before), said(after); a != b {
			t.Errorf("%s\nthen\n%s\nof\n%s\nand\n%s", a, b, text, strings.Join(outputs, ""))
		}
	}
	if shuffled < 100 {
		t.Errorf("%d texts were shuffled", shuffled)
	}
}

// command returns the command behind the prompt of a line.
func command(line string) string {
	_, c, _ := strings.Cut(line, "# ")
	if c == "" {
		_, c, _ = strings.Cut(line, "$ ")
	}
	return c
}

// said returns what an evaluation says: what was found, and which rules were evaluated.
func said(e record.Evaluation) string {
	var list []string
	for _, f := range e.Findings {
		list = append(list, f.ID+" "+f.Host+" "+f.Confidence+" "+f.About.Interface)
	}
	slices.Sort(list)
	return strings.Join(append(list, e.Evaluated...), "\n")
}
