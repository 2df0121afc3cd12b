package proc

import (
	"fmt"
	"strconv"
	"strings"

	"linerate/internal/model/netstate"
	"linerate/internal/model/plain"
)

// mostLogLine limits a line, in characters.
const mostLogLine = 300

// logLine parses a record of /dev/kmsg (Documentation/ABI/testing/dev-kmsg):
// "PRIORITY,SEQUENCE,MICROSECONDS,FLAGS[,…];TEXT" and lines " KEY=VALUE". network is false if it is not from
// the kernel or not about the network.
func logLine(text string) (line netstate.LogLine, network bool, err error) {
	head, body, found := strings.Cut(text, ";")
	fields := strings.Split(head, ",")
	if !found || len(fields) < 4 {
		return line, false, fmt.Errorf("%.40q is no record of /dev/kmsg", text)
	}
	priority, err1 := strconv.Atoi(fields[0])
	us, err2 := strconv.ParseInt(fields[2], 10, 64)
	if err1 != nil || err2 != nil || us < 0 || us > 1<<62/1000 {
		return line, false, fmt.Errorf("%.40q is no record of /dev/kmsg", text)
	}
	message, keys, _ := strings.Cut(body, "\n")
	const levels = 8 // the facility is in the bits above; 0 is the kernel
	if priority >= levels {
		return line, false, nil // from a program
	}
	line = netstate.LogLine{AtNs: us * 1000, Level: priority, Text: plain.Short(unescaped(message), mostLogLine)}
	network = netstate.AboutNetwork(message) || strings.Contains(keys, " DEVICE=n") ||
		strings.Contains(keys, " SUBSYSTEM=net\n")
	return line, network, nil
}

// unescaped replaces \xNN, the escape of unprintable characters.
func unescaped(text string) string {
	if !strings.Contains(text, `\x`) {
		return text
	}
	var b strings.Builder
	for len(text) > 0 {
		if strings.HasPrefix(text, `\x`) && len(text) >= 4 {
			if n, err := strconv.ParseUint(text[2:4], 16, 8); err == nil {
				b.WriteByte(byte(n))
				text = text[4:]
				continue
			}
		}
		b.WriteByte(text[0])
		text = text[1:]
	}
	return strings.ToValidUTF8(b.String(), "\uFFFD")
}
