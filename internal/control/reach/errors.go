package reach

import (
	"context"
	"errors"
	"fmt"
	"os/exec"
	"path"
	"slices"
	"strings"
	"time"

	"linerate/internal/bus"
	"linerate/internal/model/message"
	"linerate/internal/model/plain"
	"linerate/internal/version"
)

// Reason says why a host was not reached, or did not do what it was asked.
type Reason string

const (
	NoCommand    Reason = "no-command"    // the command could not be executed on this machine
	NoProgram    Reason = "no-program"    // the program is not on the PATH there (status 127)
	NotAllowed   Reason = "not-allowed"   // the program may not be executed there (status 126)
	NotAnAgent   Reason = "not-an-agent"  // the command wrote something that no agent writes
	OtherVersion Reason = "other-version" // linerate there has a version that the purpose does not permit
	Journal      Reason = "journal"       // an agent that was killed left settings to revert
	Busy         Reason = "busy"          // another process is changing the settings of the host
	NotPermitted Reason = "not-permitted" // the user of the agent lacks a permission
	TimedOut     Reason = "timed-out"     // no agent, or no answer, in time
	TooLarge     Reason = "too-large"     // a reply exceeded the size limit
	Ended        Reason = "ended"         // the agent ended
	Refused      Reason = "refused"       // the agent answered with any other error
	Sudo         Reason = "sudo"          // sudo or doas asks for a password, or does not permit the program
)

// Reasons why linerate's agent was not carried to a host.
const (
	NoShell      Reason = "no-shell"     // there is no sh, and no linerate
	NoTool       Reason = "no-tool"      // a program that sh needs is missing
	NoPlace      Reason = "no-place"     // in no directory it may be written
	NoSpace      Reason = "no-space"     // the file systems are full
	NoExec       Reason = "noexec"       // no file that is written may be executed (mount(8), noexec)
	Damaged      Reason = "damaged"      // it did not arrive as it was sent
	Architecture Reason = "architecture" // there is no agent for its system or architecture
)

// Reasons of ssh, which exits with status 255. Its message is in Said.
const (
	UnknownName    Reason = "unknown-name"   // the name has no address
	NotListening   Reason = "not-listening"  // the port refuses connections
	NoAnswer       Reason = "no-answer"      // no answer to the connection in time
	HostKey        Reason = "host-key"       // the key of the host is unknown, or another than before
	Authentication Reason = "authentication" // the host accepts no key of the user
	Unreachable    Reason = "unreachable"    // anything else, such as no route
)

// sshMessages are parts of the messages of OpenSSH (ssh(1), in the locale C), by reason. The last
// one that a command printed decides: a key that is refused precedes the end of the authentication.
var sshMessages = []said{
	{"Could not resolve hostname", UnknownName},
	{"Connection refused", NotListening},
	{"timed out", NoAnswer},
	{"Host key verification failed", HostKey},
	{"Permission denied (", Authentication},
	{"Too many authentication failures", Authentication},
}

// otherMessages are those of sudo(8) and doas(1), and of a file system that is full.
var otherMessages = []said{
	{"sudo: a password is required", Sudo},
	{"sudo: a terminal is required", Sudo},
	{"is not in the sudoers file", Sudo},
	{"is not allowed to execute", Sudo},
	{"may not run sudo", Sudo},
	{"doas: Authentication", Sudo},
	{"doas: Operation not permitted", Sudo},
	{"No space left on device", NoSpace},
	{"Disk quota exceeded", NoSpace},
}

// said is a part of a message with its reason.
type said struct {
	text   string
	reason Reason
}

// last returns the reason of the last message of a list in a text; otherwise if there is none.
func last(list []said, text string, otherwise Reason) Reason {
	at := -1
	for _, m := range list {
		if i := strings.LastIndex(text, m.text); i > at {
			otherwise, at = m.reason, i
		}
	}
	return otherwise
}

// reasonOf is why a command did not execute a program, by its exit status and what it printed; empty:
// it did, or does not say.
func reasonOf(via []string, exit int, said string) Reason {
	switch {
	case exit == 255 && bySSH(via):
		return last(sshMessages, said, Unreachable)
	case exit == 0:
		return ""
	}
	if reason := last(otherMessages, said, ""); reason != "" {
		return reason
	}
	switch {
	// Of sh(1) and env(1), for a program that they cannot execute or find; dash confuses the two.
	case exit == 126 || exit == 127 && strings.HasSuffix(said, "Permission denied"):
		return NotAllowed
	case exit == 127:
		return NoProgram
	}
	return ""
}

// bySSH reports whether a command executes ssh.
func bySSH(via []string) bool {
	return slices.ContainsFunc(via, func(word string) bool { return path.Base(word) == "ssh" })
}

// Error says why a host was not reached, or did not do what it was asked.
type Error struct {
	Host   string // empty: this host
	Reason Reason
	Words  []string // the command; empty: there is none, or it does not matter for the reason
	Said   string   // the end of the command's standard error, as one line
	Exit   int      // exit status of the command; negative: it is still running, or a signal ended it
	Err    error    // the cause, for errors.Is
}

// Error names the host, the program of the command and the cause. It omits the arguments of the
// command, because they may be secrets and errors are stored. What to do about an error depends
// on the caller.
func (e *Error) Error() string {
	text := e.Err.Error()
	if e.Host != "" {
		text = e.Host + ": " + text
	}
	switch {
	case e.Said != "":
		text += fmt.Sprintf(" (%s printed: %s)", e.Words[0], e.Said)
	case len(e.Words) > 0 && e.Reason != NoCommand:
		text += fmt.Sprintf(" (via %s …)", e.Words[0])
	}
	return text
}

func (e *Error) Unwrap() error { return e.Err }

var errSilent = errors.New("no message from its agent")

// notStarted is the error of a command that could not be executed.
func notStarted(host string, via []string, err error) error {
	return &Error{Host: host, Reason: NoCommand, Words: via, Exit: -1,
		Err: fmt.Errorf("executing %s: %w", via[0], err)}
}

// otherVersion is the error of an agent of another version; nil: its version fits the purpose.
func (r *Reached) otherVersion(theirs string) error {
	own := version.String()
	if theirs == own || r.purpose == Read && fits(own, theirs) {
		return nil
	}
	return &Error{Host: r.Name, Reason: OtherVersion, Exit: -1,
		Err: fmt.Errorf("linerate there is %s, and this is %s", plain.Short(theirs, 64), own)}
}

// fits reports whether versions are of one major release, or not of releases: what they send is
// checked anyway.
func fits(a, b string) bool {
	major := func(v string) string {
		number, _, _ := strings.Cut(strings.TrimPrefix(v, "v"), ".")
		return strings.Trim(number, "0123456789")
	}
	if major(a) != "" || major(b) != "" {
		return true
	}
	one, _, _ := strings.Cut(strings.TrimPrefix(a, "v"), ".")
	other, _, _ := strings.Cut(strings.TrimPrefix(b, "v"), ".")
	return one == other
}

// accept checks an agent's first message.
func (r *Reached) accept(hello message.Hello) error {
	if err := r.otherVersion(hello.Version); err != nil {
		return err
	}
	if hello.Error != nil {
		return hello.Error
	}
	return nil
}

// failed is err as an *Error, with what the command says of it; nil stays nil.
func (r *Reached) failed(ctx context.Context, err error) error {
	if err == nil {
		return nil
	}
	if known, is := errors.AsType[*Error](err); is {
		if known.Reason == Damaged && r.command.endsWithin(time.Second) {
			known.Reason = last(otherMessages, r.command.said(), known.Reason)
		}
		if known.Host == "" {
			known.Host = r.Name
		}
		return known
	}
	if inner, is := errors.AsType[*bus.Error](err); is {
		err = inner.Err
	}
	e := &Error{Host: r.Name, Reason: Refused, Exit: -1, Err: err}
	for code, reason := range map[message.Code]Reason{message.Leftover: Journal, message.Busy: Busy,
		message.NotPermitted: NotPermitted, message.TooLarge: TooLarge, message.Deadline: TimedOut} {
		if errors.Is(err, code) || bus.CodeOf(err) == code {
			e.Reason = reason
		}
	}
	switch {
	case errors.Is(err, errSilent):
		e.Reason = TimedOut
	case errors.Is(err, message.Unsupported):
		e.Reason, e.Err = OtherVersion, fmt.Errorf("another version of linerate: %w", err)
	case errors.Is(err, message.Gone):
		r.gone(ctx, e)
	}
	if r.noShell && (e.Reason == NoProgram || e.Reason == NotAllowed) {
		e.Reason, e.Err = NoShell, fmt.Errorf("%w, and linerate is not executed: %w", errNoShell, e.Err)
	}
	if r.command != nil && (e.Reason != Refused && e.Reason != OtherVersion) {
		e.Words, e.Said = r.command.via, r.command.said()
	}
	return e
}

// gone says why an agent's stream has ended.
func (r *Reached) gone(ctx context.Context, e *Error) {
	e.Reason = Ended
	if errors.Is(e.Err, bus.ErrNotAnAgent) {
		e.Reason, e.Err = NotAnAgent, fmt.Errorf("the output of the command is not that of an agent of linerate: %w",
			e.Err)
	}
	c := r.command
	// The stream may end before standard error does.
	if c == nil || !c.endsWithin(time.Second) {
		return
	}
	e.Exit = c.cmd.ProcessState.ExitCode()
	if e.Reason == Ended && c.err != nil && !errors.Is(c.err, exec.ErrWaitDelay) {
		e.Err = fmt.Errorf("%w: %w", e.Err, c.err)
	}
	switch reason := reasonOf(c.via, e.Exit, c.said()); {
	case reason != "":
		e.Reason = reason
	// An agent of an earlier release, which does not know --for.
	case e.Exit == 2 && c.program != "sh" && r.purpose != Change:
		if theirs := c.version(ctx); theirs != "" && theirs != version.String() {
			e.Reason, e.Err = OtherVersion, fmt.Errorf("linerate there is %s, and this is %s", theirs,
				version.String())
		}
	}
}
