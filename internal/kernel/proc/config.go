package proc

import (
	"bufio"
	"compress/gzip"
	"io"
	"os"
	"strings"
)

// mostConfig limits the size of a kernel's configuration, which has some 300 kB.
const mostConfig = 8 << 20

// Built returns for each option of the running kernel's configuration, such as CONFIG_NET_SCH_FQ, whether it is
// set (y or m). It reads /proc/config.gz (CONFIG_IKCONFIG_PROC) or, as on distributions, /boot/config-RELEASE,
// and fails if there is neither.
func Built() (map[string]bool, error) {
	file, err := os.Open("/proc/config.gz")
	if err != nil {
		plain, err := os.Open("/boot/config-" + Release())
		if err != nil {
			return nil, err
		}
		defer plain.Close()
		return parseConfig(plain)
	}
	defer file.Close()
	text, err := gzip.NewReader(file)
	if err != nil {
		return nil, err
	}
	return parseConfig(text)
}

func parseConfig(r io.Reader) (map[string]bool, error) {
	options := map[string]bool{}
	lines := bufio.NewScanner(io.LimitReader(r, mostConfig))
	for lines.Scan() {
		if name, value, is := strings.Cut(lines.Text(), "="); is {
			options[name] = value == "y" || value == "m"
		} else if name, is := strings.CutSuffix(lines.Text(), " is not set"); is {
			options[strings.TrimPrefix(name, "# ")] = false
		}
	}
	return options, lines.Err()
}
