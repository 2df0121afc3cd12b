// Package texts reads the texts of a host's state that others than the kernel write, for package hoststate. A
// program imports it for that alone.
package texts

import (
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"

	"linerate/internal/host/hoststate"
	"linerate/internal/kernel/proc"
	"linerate/internal/model/netstate"
	"linerate/internal/model/opsystem"
	"linerate/internal/model/pasted"
	"linerate/internal/model/settingfile"
)

func init() { hoststate.Register(hoststate.Texts{Files: parameterFiles, LLDP: pasted.LLDP}) }

// largestFile bounds a file of parameters.
const largestFile = 1 << 20

// parameterFiles returns the lines of the files with kernel parameters, in the order in which `sysctl --system`
// applies them: /etc/sysctl.conf last.
func parameterFiles() (lines []netstate.ParameterLine, err error) {
	var files []string
	for _, dir := range settingfile.SysctlDirectories {
		in, _ := filepath.Glob(dir + "/*.conf")
		files = append(files, in...)
	}
	files, _ = settingfile.ApplyOrder(files)
	for _, name := range append(files, "/etc/sysctl.conf") {
		text, readErr := os.ReadFile(name)
		if errors.Is(readErr, fs.ErrNotExist) {
			continue // there is no sysctl.conf, or a link to nothing
		}
		if readErr == nil && len(text) > largestFile {
			readErr = fmt.Errorf("%s has more than %d bytes", name, largestFile)
		}
		if readErr != nil {
			err = errors.Join(err, readErr)
			continue
		}
		for _, l := range settingfile.Read(name, text, opsystem.Linux).Lines {
			if proc.IsSecret(l.Key) { // which is in a file that only root can read
				continue
			}
			lines = append(lines, netstate.ParameterLine{File: name, Line: l.Line, Key: l.Key, Value: l.Value})
		}
	}
	return lines, err
}
