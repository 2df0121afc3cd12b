package cli

import (
	"errors"
	"fmt"
	"slices"
	"strconv"
	"strings"

	"linerate/internal/control/reach"
	"linerate/internal/model/hostconfig"
	"linerate/internal/model/lists"
	"linerate/internal/model/source"
	"linerate/internal/model/topology"
)

// bySSH returns the command prefix of --host.
func bySSH(host string) ([]string, error) { return topology.SSH(host, topology.Batch()...) }

// advice says what to do about a host that was not reached. {flag} is the flag that names the host
// and {ssh} the command of ssh that reaches it, as far as they are known, {host} its name for ssh.
var advice = map[reach.Reason]string{
	reach.NoProgram: "linerate is not on the PATH there: leave out --install never, which has it carried there, or " +
		"copy the program, which is one file. In a study, agent: PATH says where it is",
	reach.NoShell: "Without sh, linerate cannot be carried there: copy the program, which is one file, to the PATH " +
		"there. In a study, agent: PATH says where it is",
	reach.NoTool: "Install what is missing, or read the host without linerate: linerate doctor {flag} --plain",
	reach.NoPlace: "Let the user write in ~/.cache, /dev/shm or /tmp there, or read the host without linerate: " +
		"linerate doctor {flag} --plain",
	reach.NoSpace: "linerate's agent needs 20 MB in ~/.cache, /run/user, /dev/shm or /tmp: df -h there",
	reach.NoExec: "~/.cache, /run/user, /dev/shm and /tmp have noexec there: findmnt -o TARGET,OPTIONS; copy " +
		"linerate to the PATH, or read the host without it: linerate doctor {flag} --plain",
	reach.Damaged: "Try again; what sends or unpacks it there changes bytes",
	reach.Architecture: "For another architecture of Linux, put a program of this version beside linerate or in " +
		"$LINERATE_AGENTS, by the name linerate-linux-ARCH: linerate of a release, or what make agent ARCH=… " +
		"makes of the source. Other hosts are read without it: linerate doctor {flag} --plain",
	reach.Sudo: "sudo may not ask for a password: permit sh to the user with NOPASSWD in sudoers(5), or linerate " +
		"alone with --install never",
	reach.NotAllowed: "The user there may not execute linerate: check ls -l and findmnt, or read the host " +
		"without it: linerate doctor {flag} --plain",
	reach.OtherVersion: "Install the same release on both hosts",
	reach.NotAnAgent: "What the host's login prints, such as a banner or a line of .bashrc, must not go to " +
		"standard output",
	reach.UnknownName:  "The name has no address: getent hosts {host}; use an address, or an alias of ssh_config(5)",
	reach.NotListening: "No sshd listens on that port: if it has another one, --host {host}:PORT",
	reach.NoAnswer:     "The host is down, or a firewall discards the packets: ping -c 3 {host}",
	reach.HostKey: "Connect once by {ssh} and compare the key that it shows; remove a key that is known to have " +
		"changed by ssh-keygen -R",
	reach.Authentication: "The host accepts no key of this user, and ssh may not ask for a password: add one with " +
		"ssh-copy-id, then try {ssh} true",
	reach.Unreachable: "ssh must reach the host without a question: try {ssh} true",
	reach.TimedOut:    "The command may be waiting for a password, for which it cannot ask",
}

// adviceOf returns what to do about a host that was not reached; empty: nothing is known.
func adviceOf(e *reach.Error) string {
	flag, ssh, host := "--via …", "ssh -o BatchMode=yes …", "HOST"
	// A command of --via may have secrets.
	if words, err := bySSH(e.Host); err == nil && slices.Equal(words, e.Words) {
		words, _ = topology.SSH(e.Host, "-o", "BatchMode=yes")
		flag, ssh, host = "--host "+quote(e.Host), hostconfig.Command(words...), words[len(words)-1]
		if e.Reason != reach.NotListening {
			host = host[strings.LastIndex(host, "@")+1:]
		}
	}
	if e.Reason == reach.HostKey { // which ssh is to show, and ask about
		ssh = strings.Replace(ssh, " -o BatchMode=yes", "", 1)
	}
	return strings.NewReplacer("{flag}", flag, "{ssh}", ssh, "{host}", host).Replace(advice[e.Reason])
}

// withAdvice adds to an error what to do about each host that was not reached. Several such hosts become a table by
// reason.
func withAdvice(err error) error {
	lost, others := notReached(err)
	switch {
	case len(lost) == 1:
		if line := adviceOf(lost[0]); line != "" {
			return fmt.Errorf("%w\n%s", err, line)
		}
	case len(lost) > 1:
		lines := lists.Map(others, error.Error)
		return tabled{err, strings.Join(append(lines, reasonTable(lost)), "\n")}
	}
	return err
}

// tabled is an error with another text.
type tabled struct {
	error
	text string
}

func (t tabled) Error() string { return t.text }

func (t tabled) Unwrap() error { return t.error }

// notReached divides an error into those of hosts that were not reached, and all others.
func notReached(err error) (lost []*reach.Error, others []error) {
	if e, is := err.(*reach.Error); is {
		return []*reach.Error{e}, nil
	}
	var inside []error
	if _, has := errors.AsType[*reach.Error](err); has {
		switch e := err.(type) {
		case interface{ Unwrap() error }:
			inside = []error{e.Unwrap()}
		case interface{ Unwrap() []error }:
			inside = e.Unwrap()
		}
	}
	if inside == nil {
		return nil, []error{err}
	}
	for _, one := range inside {
		l, o := notReached(one)
		lost, others = append(lost, l...), append(others, o...)
	}
	return lost, others
}

// reasonTable has a row for each reason: how many hosts, which, one of the errors, and what to do.
func reasonTable(lost []*reach.Error) string {
	of := map[reach.Reason][]*reach.Error{}
	var reasons []reach.Reason
	for _, e := range lost {
		if of[e.Reason] == nil {
			reasons = append(reasons, e.Reason)
		}
		of[e.Reason] = append(of[e.Reason], e)
	}
	slices.SortStableFunc(reasons, func(a, b reach.Reason) int { return len(of[b]) - len(of[a]) })
	text := fmt.Sprintf("%d hosts were not reached:\n  %-16s%6s  %s", len(lost), "reason", "hosts", "which")
	for _, reason := range reasons {
		list := of[reason]
		names := folded(lists.Map(list, func(e *reach.Error) string { return e.Host }))
		text += fmt.Sprintf("\n  %-16s%6d  %s\n    %s", strings.ReplaceAll(string(reason), "-", " "), len(list),
			strings.Join(source.Some(names, 20), ", "), list[0].Error())
		about := list[0]
		if len(list) > 1 {
			about = &reach.Error{Reason: reason}
		}
		if line := adviceOf(about); line != "" {
			text += "\n    " + line
		}
	}
	return text
}

// folded returns names with those that differ in their last number alone as one pattern, such as h[1-3,7].
func folded(names []string) (patterns []string) {
	type form struct {
		before, after string
		width         int // of numbers with leading zeros
	}
	numbers := map[form][]int{}
	var forms []form
	for _, name := range names {
		host, port := name, ""
		if i := strings.LastIndexByte(name, ':'); strings.Count(name, ":") == 1 || strings.Contains(name, "]:") {
			host, port = name[:i], name[i:]
		}
		end := strings.LastIndexAny(host, "0123456789") + 1
		begin := len(strings.TrimRight(host[:end], "0123456789"))
		f := form{before: host[:begin], after: host[end:] + port}
		if strings.HasPrefix(host[begin:end], "0") {
			f.width = end - begin
		}
		n, err := strconv.Atoi(host[begin:end])
		if err != nil {
			patterns = append(patterns, name)
			continue
		}
		if numbers[f] == nil {
			forms = append(forms, f)
		}
		numbers[f] = append(numbers[f], n)
	}
	for _, f := range forms {
		list := slices.Compact(slices.Sorted(slices.Values(numbers[f])))
		var ranges []string
		for i := 0; i < len(list); {
			j := i
			for j+1 < len(list) && list[j+1] == list[j]+1 {
				j++
			}
			one := fmt.Sprintf("%0*d", f.width, list[i])
			if j > i {
				one += fmt.Sprintf("-%0*d", f.width, list[j])
			}
			ranges, i = append(ranges, one), j+1
		}
		pattern := strings.Join(ranges, ",")
		if len(list) > 1 {
			pattern = "[" + pattern + "]"
		}
		patterns = append(patterns, f.before+pattern+f.after)
	}
	return patterns
}
