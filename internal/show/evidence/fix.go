package evidence

import (
	"fmt"
	"math"

	"linerate/internal/model/hostconfig"
	"linerate/internal/model/record"
	"linerate/internal/science/remedy"
	"linerate/internal/show/document"
)

// mostCommands is the number of a host's commands that a terminal shows.
const mostCommands = 12

// Fix returns the changes of the recommended treatment as commands with their hosts, and how to
// write them to files. Nil: nothing is recommended, or it is not made by settings.
func Fix(run *record.Run) []document.Block { return fixOf(run, "", math.MaxInt) }

// FixSummary is like Fix for a terminal: of many commands it shows the first ones.
func FixSummary(run *record.Run) []document.Block { return fixOf(run, "Fix", mostCommands) }

func fixOf(run *record.Run, label string, most int) []document.Block {
	fix, err := remedy.Recommended(run)
	if err != nil || len(fix.Hosts) == 0 {
		return nil
	}
	blocks := document.Statements(label, fmt.Sprintf("%s; as files: linerate fix %s --format netplan, or another",
		fix.Name, run.ID))
	for _, h := range fix.Hosts {
		lines := hostconfig.Commands(h.Settings)
		if more := len(lines) - most; more > 1 { // one more is as long as saying so
			lines = append(lines[:most:most], fmt.Sprintf("# %d more: linerate fix %s --host %s", more, run.ID, h.Name))
		}
		blocks = append(blocks, document.Listing{Caption: "on " + h.Name + ":", Lines: lines})
	}
	return append(blocks, document.Statements("Then", fix.Instructions()...)...)
}
