package run

import (
	"fmt"
	"runtime"
	"strings"
	"unicode/utf8"

	"linerate/internal/kernel/proc"
	"linerate/internal/model/setting"
	"linerate/internal/model/source"
	"linerate/internal/model/study"
	"linerate/internal/science/tuning"
)

// ParameterWarning is what is wrong with a kernel parameter of a plan.
type ParameterWarning struct{ Key, Text string }

// Located is the warning with the place where the study's text has the parameter, as errors
// have theirs: "nas.yaml:49:20: warning: …".
func (w ParameterWarning) Located(file, text string) string {
	for i, line := range strings.Split(text, "\n") {
		line, _, _ = strings.Cut(line, "#")
		if at := strings.Index(line, w.Key); at >= 0 {
			return fmt.Sprintf("%s:%d:%d: warning: %s", file, i+1, 1+utf8.RuneCountInString(line[:at]), w.Text)
		}
	}
	return file + ": warning: " + w.Text
}

// ParameterWarnings warns of kernel parameters in a plan that this machine does not have, each
// once, with the most similar name, and of those that a lab's host cannot set. They are
// warnings: real hosts have kernels of their own, and a module that is loaded later may bring
// a parameter.
func ParameterWarnings(plan *study.Plan, sysctls proc.Sysctls) (list []ParameterWarning) {
	if runtime.GOOS != "linux" {
		return nil
	}
	warned := map[string]bool{}
	look := func(host, key string) {
		h, known := plan.Study.Topology.Host(host)
		if !known || warned[key] {
			return
		}
		warned[key] = true
		if tuning.MachineWide(key) {
			// A namespace that is not the machine's first one does not show it.
			if len(h.Via) == 0 {
				list = append(list, ParameterWarning{key, fmt.Sprintf("%s is machine-wide, and a lab's hosts are network namespaces: %s cannot set it", key, host)})
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
		switch near := source.Nearest(asked, beside); {
		case near != "":
			text += "; did you mean " + key[:strings.LastIndex(key, ".")] + near[strings.LastIndex(near, "."):] + "?"
		case strings.HasPrefix(key, "net."):
			text += ", or shows it in its first network namespace only"
		}
		if len(h.Via) > 0 {
			text += fmt.Sprintf(" (that of %s is another one)", host)
		}
		list = append(list, ParameterWarning{key, text})
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
