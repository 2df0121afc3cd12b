package diagnose

import (
	"math/rand/v2"
	"slices"
	"strconv"
	"strings"
	"testing"
)

// sampleWords returns the words of the samples, with their punctuation. Those that are alone in a line are
// left out: such a word is a whole line of a tool, such as JSON or a file of /sys with its value.
func sampleWords(t *testing.T) (words []string) {
	t.Helper()
	_, texts := sampleTexts(t)
	for _, text := range texts {
		for line := range strings.Lines(text) {
			if of := strings.Fields(line); len(of) > 1 {
				words = append(words, of...)
			}
		}
	}
	slices.Sort(words)
	return slices.Compact(words)
}

// randomWord returns a word, changed as prose and tables change words, or a number.
func randomWord(random *rand.Rand, words []string) string {
	word := words[random.IntN(len(words))]
	switch random.IntN(12) {
	case 0:
		return strconv.Itoa(random.IntN(1 << (1 + random.IntN(40))))
	case 1:
		return strings.ToUpper(word)
	case 2:
		return strings.ToUpper(word[:1]) + word[1:]
	case 3:
		const marks = ".,:;!?=()[]<>*-"
		return word + string(marks[random.IntN(len(marks))])
	case 4:
		return strings.Trim(word, ".,:;()[]<>")
	}
	return word
}

// randomLine returns a line of words in one of the shapes that lines of tools have: indented, a key with a
// value, columns.
func randomLine(random *rand.Rand, words []string) string {
	indents := []string{"", "", "", "", "    ", "\t"}
	afterKey := []string{" ", "  ", "\t", ": ", " = ", ", ", "="}
	columns := []string{" ", " ", " ", "  ", "\t"}
	line := indents[random.IntN(len(indents))] + randomWord(random, words)
	separator := afterKey[random.IntN(len(afterKey))]
	for range random.IntN(9) {
		line += separator + randomWord(random, words)
		separator = columns[random.IntN(len(columns))]
	}
	return line
}

// TestRandomText: a random text of the words of tools, in the shapes of their lines, leads to no finding, not
// even a possible one. What a tool says has more structure than a word that it uses.
func TestRandomText(t *testing.T) {
	words := sampleWords(t)
	random := rand.New(rand.NewPCG(37, 41))
	for range 800 {
		var text strings.Builder
		for range 40 {
			text.WriteString(randomLine(random, words))
			text.WriteString([]string{"\n", "\n", "\n", "\n", "\n", "\n\n"}[random.IntN(6)])
		}
		if e := evaluated(text.String()); len(e.Findings) > 0 {
			t.Errorf("%s\n%+v", text.String(), e.Findings)
		}
	}
}
