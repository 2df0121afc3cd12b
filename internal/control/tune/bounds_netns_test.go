package tune

import (
	"errors"
	"fmt"
	"math"
	"slices"
	"strconv"
	"strings"
	"syscall"
	"testing"

	"linerate/internal/kernel/kerneltest"
	"linerate/internal/kernel/proc"
	"linerate/internal/model/opsystem"
	"linerate/internal/model/record"
	"linerate/internal/model/settingfile"
	"linerate/internal/science/tuning"
)

// differ are the parameters whose bounds are known to differ from this kernel's, with the reason.
var differ = map[string]string{
	"net.core.rps_default_mask":      "a set of CPUs",
	"net.ipv4.ping_group_range":      "groups have to be those of the user namespace",
	"net.ipv4.neigh.lo.unres_qlen":   "the most depends on the size of sk_buff",
	"net.ipv4.ip_local_port_range":   "tested by TestPortRange",
	"net.ipv4.tcp_adv_win_scale":     "without effect, and reported as such",
	"net.ipv4.tcp_fack":              "without effect, and reported as such",
	"net.ipv4.neigh.lo.locktime":     "not known",
	"net.ipv4.neigh.lo.proxy_delay":  "not known",
	"net.ipv4.neigh.lo.retrans_time": "not known",

	"net.ipv4.neigh.lo.anycast_delay":          "not known",
	"net.ipv4.neigh.lo.interval_probe_time_ms": "not known",
}

// TestKernelBounds writes numbers to each parameter that a network namespace has of its own, and
// compares what the kernel refuses with what the files are said to be refused for.
func TestKernelBounds(t *testing.T) {
	kerneltest.InNamespace(t, func(t *testing.T) {
		sysctls := proc.Sysctls{}
		// Parameters bound each other: these leave room for the others.
		for _, setting := range [][2]string{
			{"net.ipv4.ip_local_port_range", "65535 65535"}, {"net.ipv4.ipfrag_low_thresh", "0"},
			{"net.ipv4.tcp_max_reordering", "2147483647"},
		} {
			if err := sysctls.Write(setting[0], setting[1]); err != nil && !errors.Is(err, syscall.ENOENT) {
				t.Fatal(err)
			}
		}
		keys := []string{}
		for _, below := range []string{"net.core", "net.ipv4", "net.ipv4.route", "net.ipv4.conf.lo",
			"net.ipv4.neigh.lo"} {
			list, err := sysctls.List(below)
			if err != nil {
				t.Fatal(err)
			}
			keys = append(keys, list...)
		}
		tried := 0
		for _, key := range keys {
			had, err := sysctls.Read(key)
			if _, writable, _ := sysctls.Writable(key); err != nil || !writable || differ[key] != "" {
				continue
			}
			now := strings.Fields(had)
			present, err := strconv.ParseInt(slices.Concat(now, []string{""})[0], 10, 64)
			if err != nil {
				continue
			}
			tried++
			value := func(n int64) string {
				return strings.TrimSpace(strings.Repeat(strconv.FormatInt(n, 10)+" ", len(now)))
			}
			if key == "net.ipv4.ipfrag_low_thresh" {
				kernelTakes(t, "net.ipv4.ipfrag_high_thresh", strconv.Itoa(math.MaxInt64))
			}
			kernel := func(n int64) bool { return kernelTakes(t, key, value(n)) }
			asked := AskKernel(list(key + " = 0"))
			lint := func(n int64) bool { return !refused(list(key+" = "+value(n)), asked) }
			numbers := []int64{-1, 0, 1, 255, 256, math.MaxInt32, 1 << 31, 1 << 32}
			// of which 32 bits are looked at
			if !strings.HasSuffix(key, "_ms") && !strings.HasSuffix(key, "ratelimit") {
				for _, takes := range []func(int64) bool{kernel, lint} {
					low, high := last(takes, present, math.MinInt64), last(takes, present, math.MaxInt64)
					numbers = append(numbers, low, max(low, math.MinInt64+1)-1, high, min(high, math.MaxInt64-1)+1)
				}
			}
			for _, n := range numbers {
				if kernel, lint := kernel(n), lint(n); kernel != lint && !somewhere(list(key+" = "+value(n)), asked) {
					t.Errorf("%s = %d: the kernel takes it: %t; said to be taken: %t", key, n, kernel, lint)
				}
			}
			if err := sysctls.Write(key, had); err != nil {
				t.Error(err)
			}
		}
		if tried < 50 {
			t.Errorf("%d parameters of %d were tried", tried, len(keys))
		}
	})
}

// TestPortRange: the range of ports begins where they need no privilege.
func TestPortRange(t *testing.T) {
	kerneltest.InNamespace(t, func(t *testing.T) {
		const start = "net.ipv4.ip_unprivileged_port_start"
		for _, from := range []int{0, 100, 1024} {
			if !kernelTakes(t, start, strconv.Itoa(from)) {
				t.Fatal("refused")
			}
			for _, first := range []int{-1, 0, 1, 99, 100, 1023, 1024, 65535, 65536} {
				line := fmt.Sprintf("%d 65535", first)
				files := list(portRange + " = " + line)
				if kernel, lint := kernelTakes(t, portRange, line), !refused(files, AskKernel(files)); kernel != lint {
					t.Errorf("%s from port %d on: the kernel takes it: %t; said to be taken: %t", line, from,
						kernel, lint)
				}
				kernelTakes(t, portRange, "32768 60999")
			}
		}
		files := list(start + " = 80\n" + portRange + " = 1000 65535")
		if refused(files, AskKernel(files)) {
			t.Error("refused after a line that permits it")
		}
	})
}

const portRange = "net.ipv4.ip_local_port_range"

func list(text string) []settingfile.File {
	return []settingfile.File{settingfile.Read("x", []byte(text), opsystem.Linux)}
}

func kernelTakes(t *testing.T, key, value string) bool {
	t.Helper()
	err := proc.Sysctls{}.Write(key, value)
	if err != nil && !errors.Is(err, syscall.EINVAL) && !errors.Is(err, syscall.ERANGE) {
		t.Fatal(err)
	}
	return err == nil
}

func refused(files []settingfile.File, k *tuning.Kernel) bool {
	return slices.ContainsFunc(tuning.Files(files, k).Findings, func(f record.LintFinding) bool {
		return f.ID == "refused"
	})
}

// somewhere: it is said that some kernels refuse it.
func somewhere(files []settingfile.File, k *tuning.Kernel) bool {
	return slices.ContainsFunc(tuning.Files(files, k).Findings, func(f record.LintFinding) bool {
		return f.ID == "refused" && f.Severity == record.LintWarning
	})
}

// last is the number furthest from one that is taken, towards another.
func last(takes func(int64) bool, from, towards int64) int64 {
	if takes(towards) {
		return towards
	}
	for {
		middle := from/2 + towards/2 + (from%2+towards%2)/2
		switch {
		case middle == from || middle == towards:
			return from
		case takes(middle):
			from = middle
		default:
			towards = middle
		}
	}
}
