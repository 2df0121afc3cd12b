package diagnose

import (
	"math/rand/v2"
	"os"
	"path/filepath"
	"regexp"
	"slices"
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

// head matches the first line of what a tool prints of an interface.
var head = regexp.MustCompile(`^(\S+: flags=|\d+: |\S.* for \S+:$|\S.*:$)`)

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

// rows are rules about one row of a list, such as a route: where it is not in a text, nothing says that
// it is missing.
var rows = []string{"blackhole-route", "unread-data", "half-duplex", "link-down", "pcie-narrow", "neighbour-failed",
	"probe-unanswered", "parameter-set-twice",
	"powersave-governor", "interface-errors", "same-subnet-interfaces", "same-subnet-mtu", "fault-logged",
	"listen-overflow", "udp-queue-full", "network-buffers-denied", "network-buffers-delayed", "network-buffers-short",
	"transmit-ring-stalled", "interrupts-of-one-queue"}

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
		if !unjudged(f.ID) && !slices.Contains(rows, f.ID) {
			t.Errorf("%s: %s is evaluated and not found any more", what, f.ID)
		}
	}
}

// TestOutputsShuffled: the order of the outputs of commands behind prompts changes nothing.
func TestOutputsShuffled(t *testing.T) {
	names, texts := sampleTexts(t)
	random := rand.New(rand.NewPCG(29, 31))
	shuffled := 0
	for range 300 {
		text := ""
		for _, output := range commands(texts[names[random.IntN(len(names))]]) {
			// Of two outputs of one program that say the same, the last counts.
			first, rest, _ := strings.Cut(output, "\n")
			program, _, _ := strings.Cut(command(first), " ")
			if promptLine(first) && (program == "ethtool" || !strings.Contains(text, "# "+program+" ")) {
				text += "nas:~# " + command(first) + "\n" + rest
			}
		}
		outputs := commands(text)
		if len(outputs) < 2 {
			continue
		}
		shuffled++
		random.Shuffle(len(outputs), func(i, k int) { outputs[i], outputs[k] = outputs[k], outputs[i] })
		before, after := evaluated(text), evaluated(strings.Join(outputs, ""))
		if a, b := said(before), said(after); a != b {
			t.Errorf("%s\nthen\n%s\nof\n%s\nand\n%s", a, b, text, strings.Join(outputs, ""))
			return
		}
	}
	if shuffled < 30 {
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

// TestWords: a text of words leads to no finding.
func TestWords(t *testing.T) {
	_, texts := sampleTexts(t)
	var words []string
	for _, text := range texts {
		words = append(words, regexp.MustCompile(`\b[a-z]{2,12}\b`).FindAllString(text, -1)...)
	}
	slices.Sort(words)
	random := rand.New(rand.NewPCG(37, 41))
	for range 200 {
		text := ""
		for range 40 {
			for range 1 + random.IntN(8) {
				text += words[random.IntN(len(words))] + " "
			}
			text += "\n"
		}
		if e := evaluated(text); len(e.Findings) > 0 {
			t.Errorf("%s: %+v", text, e.Findings)
		}
	}
}
