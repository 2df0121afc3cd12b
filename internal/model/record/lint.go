package record

import (
	"cmp"
	"fmt"

	"linerate/internal/model/setting"
)

// LintSchema is the schema name and version of Lint.
const LintSchema = "linerate.lint/v1"

// Lint is the result of checking files of settings without applying anything.
type Lint struct {
	Schema string     `json:"schema"`
	Files  []LintFile `json:"files"` // in the order in which they are read
	// Skipped are the files and directories of the given directories that were not read, because their
	// names do not end in .conf.
	Skipped []string `json:"skipped,omitempty"`
	// Masked are files of directories in whose place one of the same name in another directory was read.
	Masked []string `json:"masked,omitempty"`
	// Kernel describes the kernel that the settings were checked against. Nil: they were checked
	// against what is known about kernels in general.
	Kernel   *LintKernel   `json:"kernel,omitempty"`
	Settings []LintSetting `json:"settings"` // in effect after all files were read
	Findings []LintFinding `json:"findings"`
	// Unread lists the lines that may set something and were not understood: the numbers below are
	// those of the other lines.
	Unread   []LintUnread `json:"unread"`
	Errors   int          `json:"errors"`
	Warnings int          `json:"warnings"`
	Notes    int          `json:"notes"`
}

// LintFile is a file that was checked.
type LintFile struct {
	File     string `json:"file"`
	Format   string `json:"format"` // what it was taken for: the name of a format of package settingfile
	System   string `json:"system"` // linux, freebsd, openbsd or macos
	Settings int    `json:"settings"`
	Unread   int    `json:"unread"` // lines that were not understood
	Lines    int    `json:"lines"`  // that set something, or may have been meant to
	// Documents describes each document of a file with several. Absent: there is one.
	Documents []LintDocument `json:"documents,omitempty"`
	// Nothing reports whether the file has content and nothing of it was read; Blank, whether it has
	// comments alone, and lines that are known to set nothing.
	Nothing bool `json:"nothing_read,omitempty"`
	Blank   bool `json:"blank,omitempty"`
	// Unjudged reports whether values were not judged, because they are for another system than Linux.
	Unjudged bool `json:"values_unjudged,omitempty"`
}

// LintDocument is one of several documents in a file.
type LintDocument struct {
	Line     int    `json:"line"` // its first
	Format   string `json:"format"`
	Settings int    `json:"settings"`
}

// LintUnread is a line that was not understood.
type LintUnread struct {
	File string `json:"file"`
	Line int    `json:"line"`
	Text string `json:"text"`
	Why  string `json:"why"`
}

// LintKernel describes the kernel that settings were checked against.
type LintKernel struct {
	Release     string `json:"release"`
	MemoryBytes int64  `json:"memory_bytes,omitempty"`
	// Namespaces says why it is unknown which parameters each network namespace has. Empty: it is
	// known.
	Namespaces string `json:"namespaces_unknown,omitempty"`
}

// Scopes of a setting.
const (
	ScopeNamespace = "namespace"
	ScopeMachine   = "machine"
)

// LintSetting is a setting that is in effect after all files were read.
type LintSetting struct {
	File    string `json:"file"`
	Line    int    `json:"line"`
	Key     string `json:"key"`
	Value   string `json:"value"`
	Current string `json:"current,omitempty"` // on the checked kernel
	// Scope is ScopeNamespace or ScopeMachine. Empty: unknown.
	Scope string `json:"scope,omitempty"`
	// Amounts is the value converted to bytes, if its unit is not bytes: "38.1 GiB".
	Amounts string `json:"amounts,omitempty"`
	Network bool   `json:"network"` // whether it concerns the network
	// When names the conditions under which a script sets it: "if on line 3". Empty: it always does.
	When string `json:"when,omitempty"`
	// Within is what it is set for: "service web". Empty: the host.
	Within string `json:"within,omitempty"`
	// Without is the ID of the finding that says why the setting has no effect, such as "refused"
	// or "removed". Empty: it has an effect.
	Without string `json:"without_effect,omitempty"`
}

// Severities of a LintFinding.
const (
	LintError   = "error"   // the setting will not be applied
	LintWarning = "warning" // the setting does something other than intended
	LintNote    = "note"    // additional information
)

// LintFinding is a finding about one line of a file.
type LintFinding struct {
	ID       string `json:"id"`
	Severity string `json:"severity"`
	File     string `json:"file"`
	Line     int    `json:"line"`
	Key      string `json:"key,omitempty"`
	Value    string `json:"value,omitempty"`
	// Remark says what is wrong. Says is the same in words, which package wording adds.
	Remark Statement `json:"remark"`
	Says   string    `json:"says"`
	// Advice says what to do instead. Nil: write Fix. Fix is the text to write instead or, if Advice
	// is set, Advice in words, which package wording adds. Empty: there is no advice.
	Advice *Statement `json:"advice,omitempty"`
	Fix    string     `json:"fix,omitempty"`
	// Corrects is the intended line, if it is known. Correction is the same as text, "key = value",
	// which package wording adds.
	Corrects   *setting.Sysctl `json:"corrects,omitempty"`
	Correction string          `json:"correction,omitempty"`
	// Other is a second line that the finding is about.
	Other string `json:"other,omitempty"`
}

// Codes of LintFinding.Remark. Most comments list the Args of the Statement.
const (
	LintText          = "text"            // what the file's format or the catalogue of parameters says
	LintTwice         = "twice"           // file (empty: the same), line, value
	LintTwiceSame     = "twice-same"      // file (empty: the same), line
	LintComment       = "comment"         // the comment, which becomes part of the value
	LintCommentName   = "comment-name"    // the comment, which becomes part of the name; refused
	LintOther         = "not-network"     // the parameter does not concern the network
	LintMisleads      = "misleads"        // what TCP uses instead
	LintNoEffect      = "no-effect"       // why the parameter has no effect on bulk data over TCP
	LintNoEffectUntil = "no-effect-until" // until when the parameter has no effect
	LintReadOnly      = "read-only"
	LintSeparator     = "separator"         // the path below /proc/sys that the key is read as
	LintGone          = "gone"              // Linux version that removed the parameter, why, its new name
	LintIdle          = "idle"              // the same for a parameter that exists and does nothing
	LintNoInterface   = "no-such-interface" // interface, release
	LintOneOf         = "one-of"            // release; which of min, default, max; key that has the three values
	LintNone          = "no-parameter"      // release, key, similar key
	LintUnknown       = "unknown"           // similar key
	LintBuffers       = "buffers"           // size of one, number, size of all
	LintIgnored       = "ignored"           // values that are set, word that is ignored, number of values
	LintNumbers       = "numbers"           // number of values, word that is refused
	LintWord          = "word"              // word that is refused
	LintLeast         = "least"             // least value, value that is refused
	LintRange         = "range"             // least, most, value that is refused
	LintRangeTicks    = "range-ticks"       // the same, and the ticks per second above which the most is lower
	LintPorts         = "ports"             // first port, last port, in the wrong order
	LintPrivileged    = "privileged"        // parameter of the first port that needs no privilege, its value
	LintLessThanOne   = "less-than-one"     // refused by Linux 6.18
	LintMoreThan      = "more-than"         // parameter, its value: more is refused by Linux 6.18
	LintAccECN        = "accecn"            // value, most that kernels take
	LintFewer         = "fewer"             // number of values, how many are given
	LintFewerOrder    = "fewer-order"       // the same, and the values that result
	LintNotBuilt      = "not-built"         // release, queueing discipline
	LintControlCase   = "control-case"      // name of a congestion control in lower case
	LintQdiscCase     = "qdisc-case"        // name of a queueing discipline in lower case
	LintControls      = "controls"          // release, available congestion controls, the missing one
	LintQdisc         = "qdisc"             // queueing discipline, similar one
	LintPages         = "pages"             // page size, pages, total size, Excess…, parameter with as many bytes
	LintOrder         = "order"             // the three values
	LintFixedBuffer   = "fixed-buffer"      // size of the buffer
	LintBytes         = "bytes"             // size of the maximum
	LintAsItIs        = "kernel-as-it-is"   // the kernel already has the value
	LintControlAsItIs = "control-as-it-is"  // the congestion control is already the kernel's default
	LintBoundAsItIs   = "bound-as-it-is"    // tuned's bound, value of the kernel
	LintLowers        = "lowers"            // corrected value; bound, new value, kernel's value of each lowered bound
	LintHarmful       = "harmful"           // parameter with a value that is known to harm
	LintMeans         = "means"             // parameter with a value whose effect is easily missed
	LintGoneOff       = "gone-off"          // Linux version that removed the parameter; its value meant that it was off
	LintModule        = "module"            // module that has the parameter, release without it
	LintModuleNeeded  = "module-needed"     // module that has the parameter
	LintContainer     = "container"         // what the parameter is set for, which cannot have its own
	LintWhen          = "when"              // conditions under which a script sets the parameter
	LintLowersDefault = "lowers-default"    // value, default of current kernels
	LintBefore        = "before"            // most that older kernels take, first version that takes more
	LintSlip          = "slip"              // value, similar power of two
	LintThresholds    = "thresholds"        // the three values
	LintElsewhere     = "not-in-file"       // what has to set the parameter: the boot loader
)

// Why the size of LintPages is implausible, in its Args. Instead of these, the argument can be the
// size of the machine's memory that the pages exceed.
const (
	ExcessAny    = "any"    // more than any machine has
	ExcessHardly = "hardly" // hardly meant
)

// Codes of LintFinding.Advice. Most comments list the Args of the Statement.
const (
	AdviceLeaveOut = "leave-out"
	AdviceOne      = "one-of-two"    // keep one of two lines
	AdviceOwnLine  = "own-line"      // move the comment to a line of its own
	AdviceSetBy    = "set-by"        // parameter
	AdvicePages    = "pages-instead" // values in pages; empty: leave the line out
)

// Lowered is a bound of a buffer's size that a setting lowers.
type Lowered struct {
	// Bound is min, default, pressure or max. Empty: the parameter has a single value.
	Bound string
	Is    string // the new value
	Was   string
}

// Text returns, for example, "the third (max) 16777216, not 33554432".
func (l Lowered) Text() string {
	text := l.Is + ", not " + l.Was
	if l.Bound == "" {
		return text
	}
	which := map[string]string{"min": "first", "max": "third"}[l.Bound]
	return fmt.Sprintf("the %s (%s) %s", cmp.Or(which, "second"), l.Bound, text)
}
