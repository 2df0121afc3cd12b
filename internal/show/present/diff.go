package present

import (
	"cmp"
	"fmt"

	"linerate/internal/science/compare"
	"linerate/internal/show/document"
	"linerate/internal/show/words"
)

// Diff shows what differs between two snapshots, a table with a section for each part.
func Diff(d compare.SnapshotDiff) document.Document {
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
	if t := changeTable(d.Counters, func(c compare.Change) string { return fmt.Sprintf("%+d", c.Grew) }, "grew by"); t != nil {
		doc.Summary = append(doc.Summary, []document.Block{t})
	}
	return doc
}

func spellChange(c compare.Change) string {
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

func changeTable(changes []compare.Change, spell func(compare.Change) string, head string) *document.Table {
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
