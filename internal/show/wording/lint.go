package wording

import (
	"cmp"
	"fmt"
	"slices"
	"strconv"

	"linerate/internal/model/record"
	"linerate/internal/model/source"
)

// Lint returns a copy of the findings in files of settings with their remarks and advice in words.
func Lint(found *record.Lint) *record.Lint {
	if found == nil {
		return nil
	}
	worded := *found
	worded.Findings = slices.Clone(found.Findings)
	for i := range worded.Findings {
		f := &worded.Findings[i]
		if f.Remark.Code == "" {
			continue
		}
		f.Says = statement(f.Remark)
		if f.Advice != nil {
			f.Fix = statement(*f.Advice)
		}
		if c := f.Corrects; c != nil {
			f.Correction = c.Key + " = " + c.Value
		}
	}
	return &worded
}

// The words of LintFinding.Remark.
var _ = state(map[string]func(arguments) string{
	record.LintText:          format("%[1]s"),
	record.LintTwice:         func(a arguments) string { return line(a) + " sets it again and wins: " + a.at(2) },
	record.LintTwiceSame:     func(a arguments) string { return line(a) + " sets it to the same again" },
	record.LintComment:       comment,
	record.LintCommentName:   func(a arguments) string { return comment(a) + ", and the kernel refuses the name" },
	record.LintOther:         text("it does not concern the network, and is not tried"),
	record.LintMisleads:      format("no effect on most of TCP: %[1]s"),
	record.LintNoEffect:      format("no effect on bulk data over TCP: %[1]s"),
	record.LintNoEffectUntil: format("no effect %[1]s"),
	record.LintReadOnly:      text("it is read-only: the kernel reports it and takes no value"),
	record.LintSeparator: format("after the first separator, dot or slash, the other one is part of a name " +
		"(sysctl.d(5)): this is /proc/sys/%[1]s"),
	record.LintGone:        func(a arguments) string { return "gone" + gone(a) },
	record.LintIdle:        func(a arguments) string { return "it does nothing any more" + gone(a) },
	record.LintNoInterface: format("this machine has no interface %[1]s, or its kernel (%[2]s) no such parameter"),
	record.LintOneOf: func(a arguments) string {
		which := map[string]string{"min": "the minimum, the first value", "default": "the default, the second value",
			"max": "the maximum, the third value"}
		return fmt.Sprintf("this kernel (%s) has no such parameter; did you mean %s of %q?", a.at(0), which[a.at(1)],
			a.at(2))
	},
	record.LintNone: func(a arguments) string {
		text := fmt.Sprintf("this kernel (%s) has no such parameter", a.at(0))
		if a.at(2) == "" {
			return text
		}
		return text + source.DidYouMean(a.at(1), a[2:3])
	},
	record.LintUnknown: func(a arguments) string { return fmt.Sprintf("unknown parameter; did you mean %q?", a.at(0)) },
	record.LintBuffers: format("it counts buffers of %[1]s, not bytes: %[2]s of them are %[3]s"),
	record.LintIgnored: func(a arguments) string {
		return fmt.Sprintf("the kernel sets %s and ignores %q: the parameter has %s", a.at(0), a.at(1),
			a.either(2, "one value", a.at(2)+" values"))
	},
	record.LintNumbers: func(a arguments) string {
		return fmt.Sprintf("the kernel takes %s only; %q is refused", a.either(0, "a whole number",
			a.at(0)+" whole numbers with spaces between them"), a.at(1))
	},
	record.LintWord: func(a arguments) string {
		return fmt.Sprintf("the kernel takes whole numbers only; %q is refused", a.at(0))
	},
	record.LintLeast: format("the kernel takes %[1]s or more; %[2]s is refused"),
	record.LintRange: format("the kernel takes %[1]s to %[2]s; %[3]s is refused"),
	record.LintRangeTicks: format("the kernel takes %[1]s to %[2]s, and less with more than %[4]s ticks a second " +
		"(CONFIG_HZ); %[3]s is refused"),
	record.LintPorts:       format("the kernel takes the first port before the last; %[1]s is after %[2]s"),
	record.LintPrivileged:  format("the first port is less than %[1]s, which is %[2]s: the kernel refuses it"),
	record.LintLessThanOne: text("less than 1: Linux 6.18 refuses it, earlier kernels take it"),
	record.LintMoreThan: format("more than %[1]s, which is %[2]s: Linux 6.18 refuses it, earlier kernels use no more " +
		"than that"),
	record.LintAccECN: format("%[1]s is of AccECN, which Linux 6.18 and earlier refuse: they take 0 to %[2]s"),
	record.LintFewer:  fewerValues,
	record.LintFewerOrder: func(a arguments) string {
		return fewerValues(a) + ", and minimum, default and maximum become " + a.at(2) + ": not in ascending order"
	},
	record.LintNotBuilt:    format("this kernel (%[1]s) was built without the queueing discipline %[2]s"),
	record.LintControlCase: format("the names of congestion controls are in lower case: %[1]s"),
	record.LintQdiscCase:   format("the names of queueing disciplines are in lower case: %[1]s"),
	record.LintControls:    format("this kernel (%[1]s) has %[2]s; %[3]s only if it can load a module of that name"),
	record.LintQdisc:       qdisc,
	record.LintPages:       inPages,
	record.LintOrder: format("expected minimum, default and maximum in ascending order: %[1]s, %[2]s, " +
		"%[3]s are not"),
	record.LintFixedBuffer: format("the default equals the maximum, so the kernel cannot autotune: every connection " +
		"begins with a buffer of %[1]s, however short its path"),
	record.LintBytes:         format("it counts bytes: the maximum is %[1]s, less than a window without scaling"),
	record.LintAsItIs:        text("this kernel has that value now: nothing would change"),
	record.LintControlAsItIs: text("this is already the kernel's default; tune compares it with another one on a path"),
	record.LintBoundAsItIs: func(a arguments) string {
		return fmt.Sprintf("tuned sets it only to a %s value, and this kernel has %s: nothing would change",
			bounded(a.at(0)), a.at(1))
	},
	record.LintLowers:  lowers,
	record.LintHarmful: func(a arguments) string { return harms[a.at(0)] },
	record.LintMeans:   func(a arguments) string { return effectsOfValues[a.at(0)] },
	record.LintGoneOff: func(a arguments) string {
		since := ""
		if a.at(0) != "" {
			since = " since Linux " + a.at(0)
		}
		return "gone" + since + ": 0 meant that it was off, and nothing takes its place"
	},
	record.LintModule: format("this kernel (%[2]s) has no such parameter now: it exists only while the module %[1]s " +
		"is loaded"),
	record.LintModuleNeeded: format("it exists only while the module %[1]s is loaded: where that is loaded later, " +
		"the setting is lost"),
	record.LintContainer: format("%[1]s has a network namespace of its own, and this is a parameter of the machine: " +
		"container runtimes and Kubernetes refuse it there; set it on the host"),
	record.LintWhen:          format("it is set under a condition only (%[1]s)"),
	record.LintLowersDefault: format("less than the default of current kernels: %[1]s, not %[2]s"),
	record.LintBefore:        format("Linux before %[2]s takes %[1]s at most"),
	record.LintSlip:          format("%[1]s may be a slip for %[2]s, with two digits swapped; it does no harm"),
	record.LintThresholds: format("expected gc_thresh1, gc_thresh2 and gc_thresh3 in ascending order: %[1]s, %[2]s, " +
		"%[3]s are not; at the second the kernel collects entries, at the third it refuses new ones"),
	record.LintElsewhere: text("a boot-time tunable: sysctl(8) refuses it, and /boot/loader.conf sets it"),
})

// effectsOfValues are effects of values that are easily missed, by the parameter's last part.
var effectsOfValues = map[string]string{
	"disable_ipv6": "it turns IPv6 off: addresses of IPv6 are removed, and programs that listen on :: fail",
	"rp_filter": "strict: on a host with several interfaces, packets are dropped that arrive by another interface " +
		"than the one that the route back leaves by (RFC 3704); 2 is loose",
}

// harms are what is lost by harmful values of parameters.
var harms = map[string]string{
	"net.ipv4.tcp_window_scaling": "windows are limited to 64 KiB, so that a connection carries at most 64 KiB per " +
		"round trip (RFC 7323)",
	"net.ipv4.tcp_moderate_rcvbuf": "receive buffers no longer grow: windows are limited by the second value of " +
		"net.ipv4.tcp_rmem",
	"net.ipv4.tcp_sack": "of several losses in a window only one is repaired per round trip (RFC 2018)",
	"net.ipv4.tcp_timestamps": "saves 12 bytes of each segment (0.8 % at an MTU of 1500), but old segments can no " +
		"longer be distinguished from new ones (PAWS, RFC 7323)",
	"net.ipv4.tcp_syncookies": "when the queue of half-open connections is full, as in a SYN flood, new connections " +
		"are dropped (RFC 4987)",
	"net.ipv4.ip_no_pmtu_disc": "path MTU discovery is off: packets too large for the path are not detected",
}

// The words of LintFinding.Advice.
var _ = state(map[string]func(arguments) string{
	record.AdviceLeaveOut: text("leave it out"),
	record.AdviceOne:      text("keep one of the two"),
	record.AdviceOwnLine:  text("put the comment on a line of its own"),
	record.AdviceSetBy:    format("it is set by %[1]s"),
	record.AdvicePages: func(a arguments) string {
		leave := "leave it out: the kernel chooses it by the machine's memory"
		if a.at(0) == "" {
			return leave
		}
		return a.at(0) + ", or " + leave
	},
})

// number is an argument that is a whole number.
func (a arguments) number(i int) int {
	n, _ := strconv.Atoi(a.at(i)) // of another version: 0
	return n
}

// either is one if an argument is 1, and otherwise many.
func (a arguments) either(i int, one, many string) string {
	if a.number(i) == 1 {
		return one
	}
	return many
}

// line names a line of this file, or of another one.
func line(a arguments) string {
	if a.at(0) == "" {
		return "line " + a.at(1)
	}
	return a.at(0) + ":" + a.at(1)
}

func comment(a arguments) string {
	return fmt.Sprintf("a comment cannot follow a value: %q becomes part of the value", a.at(0))
}

// gone says since when and why a parameter is.
func gone(a arguments) string {
	text := ""
	if a.at(0) != "" {
		text = " since Linux " + a.at(0)
	}
	return text + ": " + cmp.Or(a.at(1), "its name is "+a.at(2)+" now")
}

func fewerValues(a arguments) string {
	verb := "are"
	if a.number(0)-a.number(1) == 1 {
		verb = "is"
	}
	return fmt.Sprintf("the parameter has %s values: with %s the last %s unchanged", a.at(0), a.at(1), verb)
}

func qdisc(a arguments) string {
	text := fmt.Sprintf("Linux has no queueing discipline %s: a kernel takes it only if it can load a module sch_%[1]s",
		a.at(0))
	if a.at(1) != "" {
		text += fmt.Sprintf("; did you mean %q?", a.at(1))
	}
	return text
}

func inPages(a arguments) string {
	why := map[string]string{"": "", record.ExcessAny: "more than any machine has",
		record.ExcessHardly: "which is hardly meant"}
	excess, known := why[a.at(3)]
	if !known {
		excess = "more than this machine has (" + a.at(3) + ")"
	}
	if a.at(4) != "" {
		if excess != "" {
			excess += ", and "
		}
		excess += a.at(4) + " has the same number of bytes"
	}
	return fmt.Sprintf("it counts pages of %s, not bytes: %s pages are %s, %s", a.at(0), a.at(1), a.at(2), excess)
}

func lowers(a arguments) string {
	text := "less than what this kernel has now: "
	if a.at(0) != "" {
		text = "corrected to " + a.at(0) + ", " + text
	}
	var less []string
	for i := 1; i+2 < len(a); i += 3 {
		less = append(less, record.Lowered{Bound: a[i], Is: a[i+1], Was: a[i+2]}.Text())
	}
	return text + source.And(less)
}
