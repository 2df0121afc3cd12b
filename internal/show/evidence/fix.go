package evidence

import (
	"fmt"
	"math"

	"linerate/internal/model/hostconfig"
	"linerate/internal/model/record"
	"linerate/internal/science/remedy"
	"linerate/internal/show/document"
)

// mostCommands is how many of a host's commands a terminal shows.
const mostCommands = 12

// Fix is what the recommended treatment changes, as commands with their hosts, and how
// to have it as files; nil: nothing is recommended, or no setting makes it.
func Fix(run *record.Run) []document.Block { return fixOf(run, "", math.MaxInt) }

// FixSummary is Fix for a terminal, with the first of many commands.
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
		if more := len(lines) - most; more > 1 { // one is as long as saying so
			lines = append(lines[:most:most], fmt.Sprintf("# %d more: linerate fix %s --host %s", more, run.ID, h.Name))
		}
		blocks = append(blocks, document.Listing{Caption: "on " + h.Name + ":", Lines: lines})
	}
	return append(blocks, document.Statements("Then", fix.Instructions()...)...)
}
