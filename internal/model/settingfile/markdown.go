package settingfile

import (
	"path"
	"strings"

	"linerate/internal/model/pattern"
)

const markdownFile = "markdown"

var _ = register(&format{
	name: markdownFile, label: "Markdown", by: "`.md`, or lines of ```` ``` ````",
	yields: "what is between lines of ```` ``` ````, each as a file of the kind that the line names, or that its " +
		"content shows; text and tables are not read",
	named: func(base, _ string) bool {
		return path.Ext(base) == ".md" || path.Ext(base) == ".markdown"
	},
	read: (*File).markdown,
})

// fence matches a line that begins or ends a block of code, with the kind of the block.
var fence = pattern.MustCompile("(?m)^ {0,3}(?:```+|~~~+)[ \t]*([\\w+-]*)[^`\n]*$")

// fencedKinds has the endings of files by what people write after a fence.
var fencedKinds = map[string]string{"bash": ".sh", "sh": ".sh", "shell": ".sh", "zsh": ".sh", "yaml": ".yaml",
	"yml": ".yaml", "json": ".json", "toml": ".toml", "nix": ".nix", "hcl": ".tf", "terraform": ".tf", "puppet": ".pp",
	"dockerfile": ".dockerfile"}

// markdown parses the blocks of code of a page.
func (f *File) markdown(text string) {
	var block strings.Builder
	begin, ending := 0, ""
	n := 0
	end := func() {
		first := begin
		f.block("block"+ending, block.String(), func(line int) int { return first + line })
		block.Reset()
		begin = 0
	}
	for line := range strings.Lines(text) {
		n++
		bare := strings.TrimRight(line, "\r\n")
		switch m := fence.FindStringSubmatch(bare); {
		case m != nil && begin > 0:
			end()
		case m != nil:
			begin, ending = n, fencedKinds[strings.ToLower(m[1])]
		case begin > 0:
			block.WriteString(line)
		case sets(bare):
			f.apart(Unread, n, bare, "text: only blocks between lines of ``` are read")
		}
	}
	if begin > 0 {
		end()
	}
}
