package present

import (
	"cmp"
	"fmt"
	"strings"

	"linerate/internal/model/record"
	"linerate/internal/show/document"
	"linerate/internal/show/words"
)

// Diff shows the differences between two snapshots as a table with a section for each part.
func Diff(d record.SnapshotDiff) document.Document {
	between := d.From
	if d.To != d.From {
		between += " and " + d.To
	}
	doc := document.Document{About: []string{"diff · " + between}, Answer: "Nothing differs but counters."}
	if n := len(d.Changes); n > 0 {
		doc.Answer = words.Sentence(words.Count(n, "value")) + " " + words.Verb(n, "differs", "differ") + "."
	}
	if t := changeTable(d.Changes, spellChange, "from → to"); t != nil {
		doc.Summary = append(doc.Summary, []document.Block{t})
	}
	if t := changeTable(d.Counters, func(c record.Change) string {
		return fmt.Sprintf("%+d", c.Grew)
	}, "grew by"); t != nil {
		doc.Summary = append(doc.Summary, []document.Block{t})
	}
	return doc
}

func spellChange(c record.Change) string {
	said := ""
	switch {
	case c.Added():
		said = "added"
	case c.Removed():
		said = "removed"
	default:
		return cmp.Or(c.From, "–") + " → " + cmp.Or(c.To, "–")
	}
	if c.Parameters > 0 {
		said += ", with " + words.Count(c.Parameters, "parameter")
	}
	return said
}

// changeLine formats a change with its section: "interfaces eth0.mtu: 1500 → 9000".
func changeLine(c record.Change) string {
	what := c.What
	if !strings.HasPrefix(what, c.Section) {
		what = c.Section + " " + what
	}
	return what + ": " + spellChange(c)
}

func changeTable(changes []record.Change, spell func(record.Change) string, head string) *document.Table {
	t := &document.Table{Columns: []document.Column{{Head: "what", Wrap: true}, {Head: head, Wrap: true}}}
	section := ""
	for _, c := range changes {
		if c.Section != section {
			section = c.Section
			t.AddSection(section)
		}
		t.Add(c.What, spell(c))
	}
	return t.OrNil()
}
