package run

import (
	"fmt"
	"runtime"
	"strings"

	"linerate/internal/kernel/proc"
	"linerate/internal/model/setting"
	"linerate/internal/model/source"
	"linerate/internal/model/study"
	"linerate/internal/science/tuning"
	"linerate/internal/science/tuning/known"
)

// ParameterWarning says what is wrong with a kernel parameter of a plan.
type ParameterWarning struct {
	Key, Text string
	// Misspelt says that a host of a lab lacks the parameter, which this machine's kernel has
	// under a similar name. No trial can be set up.
	Misspelt bool
}

// Problems returns the warning at the places where a study sets the parameter: at each of them
// if it is misspelt, and otherwise at the first. file and text are the study's, and set are
// the values that replaced some of it.
func (w ParameterWarning) Problems(file, text string, set ...string) (list source.Problems) {
	places := []source.Position{{}}
	if doc, _ := source.Parse(file, []byte(text), set...); doc != nil {
		if found := doc.Keys(w.Key); len(found) > 0 {
			places = found
		}
	}
	if !w.Misspelt {
		places = places[:1]
	}
	for _, at := range places {
		list = append(list, source.Problem{File: file, Position: at, Text: w.Text})
	}
	return list
}

// ParameterWarnings returns a warning for each kernel parameter in a plan that this machine
// does not have, with the most similar name, and for each that a host of a lab cannot set.
// These are no errors: real hosts have their own kernels, and a module that is loaded later
// may add a parameter.
func ParameterWarnings(plan *study.Plan, sysctls proc.Sysctls) (list []ParameterWarning) {
	if runtime.GOOS != "linux" {
		return nil
	}
	warned := map[string]bool{}
	look := func(host, key string) {
		h, has := plan.Study.Topology.Host(host)
		if !has || warned[key] {
			return
		}
		warned[key] = true
		if known.MachineWide(key) {
			// A namespace that is not the machine's first one does not show it.
			if len(h.Via) == 0 {
				list = append(list, ParameterWarning{Key: key,
					Text: fmt.Sprintf("%s is machine-wide, and a lab's hosts are network namespaces: %s cannot set it",
						key, host)})
			}
			return
		}
		asked := key
		if setting.InterfaceOf(key) != "" { // which this machine need not have
			parts := strings.Split(key, ".")
			parts[3] = "default"
			asked = strings.Join(parts, ".")
		}
		exists, _, err := sysctls.Writable(asked)
		if exists || err != nil {
			return
		}
		text := "this machine's kernel does not have " + key
		dot := strings.LastIndex(asked, ".")
		beside, _ := sysctls.List(asked[:max(dot, 0)]) // none: nothing to suggest
		near := source.Nearest(asked, beside)
		switch {
		case near != "":
			text += "; did you mean " + key[:strings.LastIndex(key, ".")] + near[strings.LastIndex(near, "."):] + "?"
		case strings.HasPrefix(key, "net."):
			text += ", or shows it in its first network namespace only"
		}
		if len(h.Via) > 0 {
			text += fmt.Sprintf(" (that of %s is another one)", host)
		}
		list = append(list, ParameterWarning{key, text, near != "" && len(h.Via) == 0})
	}
	for _, h := range plan.Study.Topology.Hosts {
		for _, p := range h.Sysctls {
			look(h.Name, p.Key)
		}
	}
	for _, t := range plan.Treatments {
		for _, s := range t.Settings {
			for _, p := range s.Sysctl {
				look(s.Host, p.Key)
			}
		}
		for _, e := range t.Workload.Events {
			for _, p := range e.Sysctl {
				look(e.Host, p.Key)
			}
		}
	}
	return list
}

// Lowered returns a warning for each setting of a plan that lowers a buffer of a lab's host
// below its value before: that in the study's topology, or else that of this machine's kernel.
// A level may intend that, but one named “larger buffers” does not.
func Lowered(plan *study.Plan, sysctls proc.Sysctls) (list []ParameterWarning) {
	warned := map[setting.Sysctl]bool{}
	for _, t := range plan.Treatments {
		for _, s := range t.Settings {
			h, known := plan.Study.Topology.Host(s.Host)
			if !known || len(h.Via) > 0 || runtime.GOOS != "linux" {
				continue
			}
			for _, one := range s.Sysctl {
				had, _ := sysctls.Read(one.Key) // empty: nothing to compare
				for _, own := range h.Sysctls {
					if own.Key == one.Key {
						had = own.Value
					}
				}
				if less, _ := tuning.Lowers(one.Key, had, one.Value); len(less) > 0 && !warned[one] {
					warned[one] = true
					var texts []string
					for _, bound := range less {
						texts = append(texts, bound.Text())
					}
					list = append(list, ParameterWarning{Key: one.Key,
						Text: fmt.Sprintf("%s of %s is lowered in treatment %q: %s", one.Key, s.Host, t.Name,
							strings.Join(texts, ", "))})
				}
			}
		}
	}
	return list
}
