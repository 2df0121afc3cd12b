package rule

import (
	"linerate/internal/model/record"

	"linerate/internal/science/diagnose/facts"
)

// systems names the system in the findings about hosts of other systems than Linux. The steps of these findings are
// removed: they are settings and commands of Linux, and what is to be done there is text alone.
func systems(f facts.Trial, findings []record.Finding) {
	of := map[string]string{}
	for _, h := range f.Hosts {
		of[h.Name] = h.System
	}
	for i := range findings {
		if system := of[findings[i].Host]; system != "" {
			findings[i].System, findings[i].Steps = system, nil
		}
	}
}
