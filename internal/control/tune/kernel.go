package tune

import (
	"os"
	"runtime"
	"strings"

	"linerate/internal/kernel/netlink"
	"linerate/internal/kernel/proc"
	"linerate/internal/kernel/sched"
	"linerate/internal/model/opsystem"
	"linerate/internal/model/record"
	"linerate/internal/model/setting"
	"linerate/internal/model/settingfile"
	"linerate/internal/science/tuning"
)

// AskKernel asks this machine's kernel about the settings in files. It changes nothing and
// needs no privilege. It returns nil if this machine does not run Linux, or no file is for
// Linux.
func AskKernel(files []settingfile.File) *tuning.Kernel {
	if runtime.GOOS != "linux" {
		return nil
	}
	k := &tuning.Kernel{Release: proc.Release(), PageBytes: int64(os.Getpagesize()), HZ: sched.HZ(),
		Parameters: map[string]tuning.Known{}, Qdiscs: map[string]bool{}}
	k.MemoryBytes, _ = proc.Proc{}.MemoryBytes() // 0: not known
	sysctls := proc.Sysctls{}
	k.Congestion = AskControls()
	linux := false
	for _, f := range files {
		if f.System != opsystem.Linux {
			continue
		}
		linux = true
		for _, l := range f.Lines {
			if l.IsOption() {
				continue
			}
			for _, key := range append(tuning.Beside(l.Key), l.Key) {
				if _, asked := k.Parameters[key]; !asked {
					k.Parameters[key] = askFor(sysctls, key, k)
				}
				// What is proposed instead may have more values.
				if near := k.Parameters[key].Near; near != "" {
					k.Parameters[near] = askFor(sysctls, near, k)
				}
			}
			if value, _ := l.Bare(); l.Key == tuning.DefaultQdisc {
				askQdisc(value, k.Qdiscs)
				askQdisc(strings.ToLower(value), k.Qdiscs) // which may be proposed
			}
		}
	}
	if !linux {
		return nil
	}
	return k
}

// Matching returns what lists the parameters that match a pattern: those that this machine has, or, elsewhere,
// those that are known of kernels.
func Matching(elsewhere bool) func(pattern string) []string {
	if elsewhere || runtime.GOOS != "linux" {
		return tuning.Matching
	}
	return func(pattern string) []string {
		keys, _ := proc.Sysctls{}.Match(pattern) // none: it is no pattern of parameters
		return keys
	}
}

// askQdisc enters whether the kernel was built with a queueing discipline, if its configuration
// can be read and has an option for it.
func askQdisc(name string, built map[string]bool) {
	options, _ := proc.Built()
	if is, known := options["CONFIG_NET_SCH_"+strings.ToUpper(name)]; known {
		built[name] = is
	}
}

// AskControls returns this machine's congestion controls; nil if they cannot be read.
func AskControls() []string {
	available, err := proc.Sysctls{}.Read("net.ipv4.tcp_available_congestion_control")
	if err != nil {
		return nil // not Linux
	}
	return strings.Fields(available)
}

func askFor(sysctls proc.Sysctls, key string, k *tuning.Kernel) tuning.Known {
	exists, _, err := sysctls.Writable(key)
	if err != nil || !exists {
		known := tuning.Known{}
		if dot := strings.LastIndex(key, "."); dot > 0 {
			beside, _ := sysctls.List(key[:dot]) // none: nothing to suggest
			known.Near = setting.NearestKey(key, beside)
		}
		return known
	}
	known := tuning.Known{Exists: true}
	known.Value, _ = sysctls.Read(key) // empty: it cannot be read
	own, err := netlink.NamespacedSysctl(key)
	switch {
	case err != nil:
		k.Namespaces = err.Error()
	case own:
		known.Scope = record.ScopeNamespace
	default:
		known.Scope = record.ScopeMachine
	}
	return known
}
