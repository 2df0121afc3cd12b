package cli

import (
	"cmp"
	"fmt"
	"io"
	"slices"
	"strings"

	"github.com/spf13/cobra"
	"github.com/spf13/pflag"

	"linerate/internal/model/pattern"
	"linerate/internal/show/text"
	"linerate/internal/show/words"
)

// Annotations of commands that --help evaluates.
const (
	// flagSections has one line per section: its heading, a colon and the names of its flags. The
	// first section is printed with the command, the others after "More flags"; flags that are in
	// no section go to the last one. Absent: one section has all flags.
	flagSections = "flag sections"
	// details are printed after the flags: what a reader needs occasionally.
	details = "details"
)

// verbSections groups the verbs in the help without a verb. Other verbs come last.
var verbSections = []struct{ heading, verbs string }{
	{"Measure between two hosts", "measure serve"},
	{"Ask a question", "new studies show check run tune prove fix lab"},
	{"Read what was measured", "runs report compare plot export note"},
	{"Compute", "limits"},
}

// proseWidth is the largest width of paragraphs, even on a wider terminal.
const proseWidth = 100

// writeHelp writes the text of --help, at most as wide as w.
func writeHelp(w io.Writer, cmd *cobra.Command) {
	h := helpText{width: columns(w)}
	h.prose(cmp.Or(cmd.Long, cmd.Short))
	h.heading("Usage")
	if cmd.Runnable() && !cmd.HasAvailableSubCommands() {
		h.line("  " + cmd.UseLine())
	} else {
		h.line("  " + cmd.CommandPath() + " COMMAND")
	}
	if cmd.Example != "" {
		h.heading("Examples")
		h.line(strings.TrimRight(cmd.Example, "\n"))
	}
	h.commands(cmd)
	h.flags(cmd)
	if more := cmd.Annotations[details]; more != "" {
		h.line("")
		h.prose(more)
	}
	if cmd.HasAvailableSubCommands() {
		h.line("")
		h.prose(cmd.CommandPath() + " COMMAND --help says more about a command.")
	}
	_, _ = io.WriteString(w, h.out.String()) // an error could not be reported
}

type helpText struct {
	width int
	out   strings.Builder
}

func (h *helpText) line(text string) { h.out.WriteString(text + "\n") }

func (h *helpText) heading(text string) { h.line("\n" + text + ":") }

// item matches a line of a list: a name, at least two spaces, and its description.
var item = pattern.MustCompile(`^( +\S(?:\S| \S)*  +)(\S.*)$`)

// prose wraps paragraphs and lists. Other indented lines are commands to be copied and stay as they
// are.
func (h *helpText) prose(all string) {
	var paragraph []string
	end := func() {
		if len(paragraph) > 0 {
			h.out.WriteString(text.Paragraph("", "", strings.Join(paragraph, " "), min(h.width, proseWidth)))
		}
		paragraph = nil
	}
	for line := range strings.SplitSeq(strings.Trim(all, "\n"), "\n") {
		indented := strings.HasPrefix(line, " ") || strings.HasPrefix(line, "\t")
		if line != "" && !indented {
			paragraph = append(paragraph, line)
			continue
		}
		end()
		if parts := item.FindStringSubmatch(line); parts != nil {
			h.item(parts[1], parts[2], words.Width(parts[1]))
			continue
		}
		h.line(line)
	}
	end()
}

// item writes a name and, from a column on, its description. If the name is too long, the
// description goes below it.
func (h *helpText) item(name, about string, column int) {
	rest := strings.Repeat(" ", column)
	if words.Width(name) > column {
		h.line(strings.TrimRight(name, " "))
		name = rest
	}
	h.out.WriteString(text.Paragraph(name, rest, about, h.width))
}

// commands lists the subcommands of cmd.
func (h *helpText) commands(cmd *cobra.Command) {
	left := map[string]*cobra.Command{}
	longest := 0
	var names []string
	for _, c := range cmd.Commands() {
		if c.IsAvailableCommand() || c.Name() == "help" {
			left[c.Name()], names = c, append(names, c.Name())
			longest = max(longest, len(c.Name()))
		}
	}
	list := func(heading string, names []string) {
		names = slices.DeleteFunc(names, func(name string) bool { return left[name] == nil })
		if len(names) == 0 {
			return
		}
		h.heading(heading)
		for _, name := range names {
			h.item(fmt.Sprintf("  %-*s  ", longest, name), left[name].Short, longest+4)
			delete(left, name)
		}
	}
	if cmd.HasParent() {
		list("Commands", names)
		return
	}
	for _, s := range verbSections {
		list(s.heading, strings.Fields(s.verbs))
	}
	list("More commands", names)
}

// sectionsOf returns the headings of a command's flag sections and the names of the flags in each.
func sectionsOf(cmd *cobra.Command) (headings []string, names [][]string) {
	for line := range strings.Lines(cmd.Annotations[flagSections]) {
		heading, list, _ := strings.Cut(line, ":")
		headings, names = append(headings, strings.TrimSpace(heading)), append(names, strings.Fields(list))
	}
	return headings, names
}

func (h *helpText) flags(cmd *cobra.Command) {
	all := cmd.LocalFlags()
	headings, names := sectionsOf(cmd)
	var others []string
	all.VisitAll(func(f *pflag.Flag) {
		if !f.Hidden && !slices.Contains(slices.Concat(names...), f.Name) {
			others = append(others, f.Name)
		}
	})
	if headings == nil {
		headings = []string{"Flags"}
	} else {
		headings = append(headings, "Others")
	}
	for i, list := range append(names, others) {
		if len(list) == 0 {
			continue
		}
		if i == 1 {
			h.line("\nMore flags")
		}
		h.heading(headings[i])
		h.flagList(all, list)
	}
}

// flagColumn is the largest width of the column with the names of flags.
const flagColumn = 30

func (h *helpText) flagList(all *pflag.FlagSet, names []string) {
	var spelled, said []string
	column := 0
	for _, name := range names {
		f := all.Lookup(name)
		if f == nil {
			continue
		}
		s, about := spellFlag(f)
		if w := words.Width(s); w <= flagColumn {
			column = max(column, w)
		}
		spelled, said = append(spelled, s), append(said, about)
	}
	column = min(column, h.width/2-2) + 2
	for i, s := range spelled {
		h.item(fmt.Sprintf("%-*s", column, s), said[i], column)
	}
}

// spellFlag returns a flag as it is typed, and its description.
func spellFlag(f *pflag.Flag) (spelled, about string) {
	value, about := pflag.UnquoteUsage(f)
	switch value {
	case "stringArray", "string", "strings":
		value = "text"
	}
	spelled = "      --" + f.Name
	if f.Shorthand != "" {
		spelled = "  -" + f.Shorthand + ", --" + f.Name
	}
	if f.NoOptDefVal == "" {
		spelled += " " + value
	}
	switch byDefault := strings.Trim(f.DefValue, "[]"); {
	case strings.Contains(about, "(default"):
	case byDefault != "" && byDefault != "0" && byDefault != "false":
		about += " (default: " + byDefault + ")"
	}
	return spelled, about
}
