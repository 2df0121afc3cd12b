package topology

import (
	"errors"
	"net/netip"
	"strconv"
	"strings"
	"unicode"
)

// Batch returns the options with which ssh does not ask, because it has no terminal. Package reach adds a timeout
// unless the user has configured one.
func Batch() []string { return []string{"-o", "BatchMode=yes"} }

// SSH returns the command prefix that executes words on a host by ssh(1), as Via of a host. The
// host is what ssh takes, such as an alias of ssh_config(5), root@nas or ssh://root@nas:2299, or has
// a port behind a colon: root@nas:2299, [2001:db8::1]:22. An IPv6 address without brackets has no
// port. Options precede the host. It returns an error if ssh cannot take the host.
func SSH(host string, options ...string) ([]string, error) {
	at := strings.LastIndex(host, "@") + 1 // ssh takes the last one as well
	user, name, port, hasPort := host[:at], host[at:], "", false
	switch {
	case strings.Contains(host, "://"): // ssh parses it
	case strings.HasPrefix(name, "["):
		inside, behind, closed := strings.Cut(name[1:], "]")
		port, hasPort = strings.CutPrefix(behind, ":")
		if _, err := netip.ParseAddr(inside); err != nil || !closed || behind != "" && !hasPort {
			return nil, errors.New("expected an IPv6 address in brackets, such as [2001:db8::1]:22")
		}
		name = inside
	case strings.Count(name, ":") == 1:
		name, port, hasPort = strings.Cut(name, ":")
	}
	// As valid_hostname and valid_ruser of OpenSSH; a percent sign is of an IPv6 address with a zone.
	if name == "" || strings.HasPrefix(host, "-") || strings.HasPrefix(name, "-") ||
		strings.Contains(name, "%") && !strings.Contains(name, ":") || strings.Contains(name, "\\") ||
		strings.ContainsFunc(host, func(r rune) bool {
			return unicode.IsSpace(r) || unicode.IsControl(r) || strings.ContainsRune("'`\"$;&<>|(){}", r)
		}) {
		return nil, errors.New("expected a host for ssh, such as root@nas, root@nas:2299 or [2001:db8::1]:22")
	}
	words := append([]string{"ssh"}, options...)
	if hasPort {
		if n, err := strconv.ParseUint(port, 10, 16); err != nil || n == 0 {
			return nil, errors.New("expected a port from 1 to 65535 behind the colon")
		}
		words = append(words, "-p", port)
	}
	return append(words, user+name), nil
}
