package evidence

import (
	"fmt"
	"strings"

	"linerate/internal/model/record"
	"linerate/internal/show/document"
)

// Services lists the server programs that ran on the hosts, with their versions and settings.
func Services(run *record.Run) []document.Block {
	var list []string
	for _, s := range run.Environment.Services {
		text := fmt.Sprintf("%s of %s, port %d: %s", s.Name, s.Host, s.Port, s.Version)
		if len(s.Settings) > 0 {
			text += " with " + strings.Join(s.Settings, ", ")
		}
		list = append(list, text)
	}
	return document.Statements("Services", list...)
}
