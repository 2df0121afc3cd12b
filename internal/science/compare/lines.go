package compare

import (
	"strings"

	"github.com/rogpeppe/go-internal/diff"
)

// changedLines returns the lines in which two study files differ, in their order. Comments and
// blank lines are ignored, because they do not change a run.
func changedLines(from, to string) []string {
	out := []string{}
	number := 0
	for line := range strings.Lines(string(diff.Diff("from", meaningful(from), "to", meaningful(to)))) {
		const header = 3
		if number++; number > header && (line[0] == '-' || line[0] == '+') {
			out = append(out, line[:1]+" "+strings.TrimSuffix(line[1:], "\n"))
		}
	}
	return out
}

func meaningful(text string) []byte {
	var lines []byte
	for line := range strings.Lines(text) {
		line = strings.TrimRight(line, " \t\r\n")
		if bare := strings.TrimSpace(line); bare != "" && !strings.HasPrefix(bare, "#") {
			lines = append(append(lines, line...), '\n')
		}
	}
	return lines
}
