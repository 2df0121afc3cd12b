package proc

import (
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"

	"linerate/internal/model/lists"
)

// CPUFreq is the directory of the frequency policies (Documentation/admin-guide/pm/cpufreq.rst);
// empty: the machine's.
type CPUFreq string

func (c CPUFreq) dir() string {
	if c == "" {
		return "/sys/devices/system/cpu/cpufreq"
	}
	return string(c)
}

// Policies returns the names of the policies; none if the kernel scales no frequencies.
func (c CPUFreq) Policies() (names []string) {
	files, _ := filepath.Glob(filepath.Join(c.dir(), "policy[0-9]*"))
	return lists.Map(files, filepath.Base)
}

// Governor reads the governor of a policy.
func (c CPUFreq) Governor(policy string) (string, error) {
	text, err := os.ReadFile(filepath.Join(c.dir(), policy, "scaling_governor"))
	return strings.TrimSpace(string(text)), err
}

// SetGovernor changes the governor. If the kernel lacks it, the error lists those available.
func (c CPUFreq) SetGovernor(policy, governor string) error {
	if err := c.Available(policy, governor); err != nil {
		return err
	}
	f, err := os.OpenFile(filepath.Join(c.dir(), policy, "scaling_governor"), os.O_WRONLY|os.O_TRUNC, 0)
	if err != nil {
		return err
	}
	_, err = f.WriteString(governor)
	return errors.Join(err, f.Close())
}

// Available returns an error that lists a policy's governors if this is not one of them.
func (c CPUFreq) Available(policy, governor string) error {
	text, err := os.ReadFile(filepath.Join(c.dir(), policy, "scaling_available_governors"))
	if err == nil && !slices.Contains(strings.Fields(string(text)), governor) {
		return fmt.Errorf("%s has no governor %s; it has %s", policy, governor,
			strings.Join(strings.Fields(string(text)), ", "))
	}
	return err
}

// Governors returns how many policies have each governor.
func (c CPUFreq) Governors() map[string]int {
	governors := map[string]int{}
	for _, policy := range c.Policies() {
		if name, err := c.Governor(policy); err == nil {
			governors[name]++
		}
	}
	return governors
}
