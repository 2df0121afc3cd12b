package tuning

import (
	"cmp"
	"strconv"
	"strings"
	"unicode"

	"linerate/internal/model/pattern"
	"linerate/internal/model/record"
	"linerate/internal/model/setting"
	"linerate/internal/model/settingfile"
	"linerate/internal/model/source"
)

// thousands matches a number with commas between thousands: "250,000".
var thousands = pattern.MustCompile(`^[0-9]{1,3}(,[0-9]{3})+$`)

// suffixes has the factors of suffixes that people write, by the unit of the parameter.
var suffixes = map[string]map[string]int64{
	bytes: {"k": 1 << 10, "kb": 1 << 10, "kib": 1 << 10, "m": 1 << 20, "mb": 1 << 20, "mib": 1 << 20, "g": 1 << 30,
		"gb": 1 << 30, "gib": 1 << 30, "b": 1},
	"s":  {"s": 1, "sec": 1, "seconds": 1, "m": 60, "min": 60, "minutes": 60, "h": 3600, "hours": 3600},
	"µs": {"us": 1, "µs": 1, "ms": 1000},
	"":   {"k": 1000, "m": 1000000},
}

// truths maps words that people write for switches to the numbers that the kernel accepts.
var truths = map[string]string{"on": "1", "yes": "1", "true": "1", "enable": "1", "enabled": "1", "off": "0", "no": "0",
	"false": "0", "disable": "0", "disabled": "0"}

// switched adds a finding if a line has such a word for a parameter that is not in the catalogue
// and takes a number: its present value is a number, or it concerns the network, where no
// parameter accepts such words.
func (c *checker) switched(l settingfile.Line) {
	known, _ := c.ask(l.Key)
	_, number := integer(known.Value)
	if value, word := truths[strings.ToLower(l.Value)]; word && (number || known.Value == "" &&
		strings.HasPrefix(l.Key, "net.")) {
		c.add(l, "refused", record.LintError, value, record.LintWord, l.Value)
		c.correct(l.Key, value)
	}
}

// readOnly are parameters that the kernel only reports (mode 0444 in its tables), with what sets
// them; empty: nothing does. Of others the mode says nothing: in a network namespace the kernel
// shows those of the machine as read-only.
var readOnly = map[string]string{
	"net.ipv4.tcp_available_congestion_control": setting.CongestionControl,
	"net.ipv4.tcp_available_ulp":                "",
	"net.mptcp.available_schedulers":            "net.mptcp.scheduler",
	"net.mptcp.available_path_managers":         "net.mptcp.path_manager",
	"net.netfilter.nf_conntrack_count":          "net.netfilter.nf_conntrack_max",
	"net.core.netdev_rss_key":                   "",
	"fs.file-nr":                                "fs.file-max",
	"fs.inode-nr":                               "",
	"fs.inode-state":                            "",
	"fs.dentry-state":                           "",
	"fs.aio-nr":                                 "fs.aio-max-nr",
	"kernel.ngroups_max":                        "",
	"kernel.cap_last_cap":                       "",
	"kernel.osrelease":                          "",
	"kernel.ostype":                             "",
	"kernel.version":                            "",
	"kernel.pty.nr":                             "kernel.pty.max",
	"kernel.random.entropy_avail":               "",
	"kernel.random.poolsize":                    "",
}

// sizeNames are the suffixes by which people name one of the values of a parameter with three
// sizes: tcp_rmem_max.
var sizeNames = []string{"min", "default", "max"}

// instead returns the key and value that a line with an unknown parameter would have with the
// similar key near. If that parameter has several values, the one that the line's key names
// (tcp_rmem_max) replaces that of the kernel, and which is its name; if the key names none, the
// value is empty.
func (c *checker) instead(l settingfile.Line, near string) (key, value, which string) {
	p := find(near)
	if p == nil || p.values < 2 || len(strings.Fields(l.Value)) == p.values {
		return near, l.Value, ""
	}
	known, _ := c.ask(near)
	now := strings.Fields(known.Value)
	for i, size := range sizeNames {
		if l.Key == near+"_"+size && len(strings.Fields(l.Value)) == 1 && len(now) == len(sizeNames) &&
			p.values == len(sizeNames) {
			now[i] = l.Value
			return near, strings.Join(now, " "), size
		}
	}
	return near, "", ""
}

// meant converts a value with suffixes, commas or a final semicolon to the form that the kernel
// accepts. Empty: it is unclear what was meant.
func meant(text string, p *parameter) string {
	if value, word := truths[strings.ToLower(text)]; word && p.values == 1 && p.min <= 0 &&
		(p.max <= 255 || p.key == anyOfInterfaces) && p.unit == "" {
		return value
	}
	if text = strings.TrimRight(text, "; "); p.values == 1 && thousands.MatchString(text) {
		text = strings.ReplaceAll(text, ",", "")
	}
	if p.values == 2 { // a range
		text = strings.Replace(text, "-", " ", 1)
	}
	unit := p.unit
	if unit == "packets" {
		unit = ""
	}
	var list []string
	for _, word := range strings.FieldsFunc(text, func(r rune) bool { return r == ',' || r == ' ' || r == ';' }) {
		digits := strings.TrimRightFunc(word, unicode.IsLetter)
		n, ok := integer(word)
		if !ok {
			factor := suffixes[unit][strings.ToLower(word[len(digits):])]
			if n, ok = integer(digits); !ok || digits != word && factor == 0 {
				return ""
			}
			n *= max(1, factor)
		}
		list = append(list, strconv.FormatInt(n, 10))
	}
	if len(list) > p.values {
		return ""
	}
	return strings.Join(list, " ")
}

// gone adds a finding about a parameter that was removed, or that does nothing any more.
func (c *checker) gone(l settingfile.Line, r removedParameter) {
	id, severity, code, now := "removed", record.LintError, record.LintGone, r.now
	switch {
	case r.value != "" && same(l.Value, "0"):
		code, now = record.LintGoneOff, ""
	case r.value != "" && !same(l.Value, r.value):
		now = "" // what it meant is not known
	}
	if now != "" {
		id = "renamed"
	}
	if r.kept {
		severity, code = record.LintWarning, record.LintIdle
	}
	if code == record.LintGoneOff {
		c.add(l, id, severity, "", code, r.since)
	} else {
		c.add(l, id, severity, now, code, r.since, r.why, now)
	}
	if now == "" {
		c.advise(record.AdviceLeaveOut)
	}
	key, value, _ := strings.Cut(now, " = ")
	c.correct(key, cmp.Or(value, l.Value))
}

// missingKey adds a finding about a parameter that the kernel does not have. Near is a similar one;
// it is proposed if the line means it.
func (c *checker) missingKey(l settingfile.Line, near string) {
	if !c.means(l, near) {
		c.add(l, "unknown", record.LintError, "", record.LintNone, c.kernel.Release, l.Key, "")
		return
	}
	key, value, which := c.instead(l, near)
	if which != "" {
		c.add(l, "unknown", record.LintError, key+" = "+value, record.LintOneOf, c.kernel.Release, which, key)
	} else {
		c.add(l, "unknown", record.LintError, key, record.LintNone, c.kernel.Release, l.Key, key)
	}
	c.correct(key, value)
}

// similar returns a key of the catalogue that differs from the given one by a typing error: by
// at most two letters between a common beginning and a common end. Empty: there is none.
func similar(key string) string {
	for _, p := range catalogue() {
		a, b := key, p.key
		n := min(len(a), len(b))
		head := 0
		for head < n && a[head] == b[head] {
			head++
		}
		tail := 0
		for tail < n-head && a[len(a)-1-tail] == b[len(b)-1-tail] {
			tail++
		}
		if longer := max(len(a), len(b)); longer-n <= 1 && longer-head-tail <= 2 &&
			source.Nearest(a, []string{b}) != "" {
			return b
		}
	}
	return ""
}
