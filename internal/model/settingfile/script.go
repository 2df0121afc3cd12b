package settingfile

import (
	"path"
	"slices"
	"strings"

	"linerate/internal/model/pattern"
	"linerate/internal/model/setting"
	"linerate/internal/model/shellscript"
)

const scriptFile = "script" // commands for a shell

var _ = register(&format{
	name: scriptFile, label: "script",
	manual: "bash(1), sysctl(8), ethtool(8), ip(8), tc(8)",
	by:     "`.sh`, `#!` of a shell, or lines that are commands, also after a prompt",
	yields: "sysctl(8) with words, files and standard input; writes to `/proc/sys`, `/sys` and `sysctl.d` by `echo`, " +
		"`printf`, `cat`, `tee` and here-documents; ethtool(8), cpupower(1), `ip link set`, `tc qdisc`, `docker run " +
		"--sysctl`. Loops over words, functions, variables, arithmetic and both branches of conditions are followed",
	named: func(base, _ string) bool { return path.Ext(base) == ".sh" || path.Ext(base) == ".bash" },
	has:   func(text string) bool { return shebang.MatchString(text) },
	read: func(f *File, text string) {
		if strings.Contains(text, "\r\n") {
			f.apart(Odd, 1, firstEntry(text), "lines end with CR LF, as on Windows: for a shell the CR belongs to the "+
				"last word of a line; dos2unix takes it away")
			text = strings.ReplaceAll(text, "\r\n", "\n")
		}
		if prompt.MatchString(text) && !shebang.MatchString(text) {
			text = f.withoutPrompts(text)
		}
		s := newScript(f, text)
		s.run(text, nil)
		s.finish()
	},
})

// prompt matches what a shell prints before a command, in text that was copied from a terminal.
var prompt = pattern.MustCompile(`(?m)^(?:\[?[\w.-]+@[\w.-]+[^$#\n]{0,80}[$#]|\$)[ \t]+`)

// withoutPrompts returns the commands of a text from a terminal, in their lines. Lines without a prompt
// are what commands printed.
func (f *File) withoutPrompts(text string) string {
	var b strings.Builder
	continued := false
	n := 0
	for line := range strings.Lines(text) {
		n++
		if at := prompt.Regexp().FindStringIndex(line); at != nil || continued {
			if at != nil {
				line = line[at[1]:]
			}
			continued = strings.HasSuffix(strings.TrimRight(line, "\r\n"), `\`)
			b.WriteString(line)
			continue
		}
		if settingLine.MatchString(line) {
			f.apart(Note, n, line, "what a command printed, which sets nothing")
		}
		b.WriteByte('\n')
	}
	return b.String()
}

// shellCommand matches a line that is a command with which people set something.
var shellCommand = pattern.MustCompile(`^(sudo\s+)?(/(usr/)?s?bin/)?((sysctl|ethtool|ip|ifconfig|tc|modprobe|` +
	`cpupower|` +
	`docker|` +
	`podman|systemctl|nmcli|uci|kubectl|ssh|export|sed)\s+\S|(echo|printf|cat)\s.*(>|\|\s*(sudo\s+)?tee)|` +
	`for\s+\w+\s+in\s)`)

// resemblesCommands reports whether a text without a name consists of commands: it begins with one, or with
// a prompt, and has no line that is one of a list.
func resemblesCommands(text string) bool {
	if !shellCommand.MatchString(firstEntry(text)) {
		return prompt.MatchString(text)
	}
	for _, line := range entries(text) {
		if settingLine.MatchString(line) {
			return false
		}
	}
	return true
}

// shebang matches the first line of a script for a shell.
var shebang = pattern.MustCompile(`^#!\s*\S*(/|\s)(ba|da|a|k|z)?sh\b`)

// script reads the commands of a script.
type script struct {
	f      *File
	follow *shellscript.Script

	// within and container are what the commands are for, when the conditions of all of them.
	within    string
	container bool
	when      string

	known map[string]bool // names of files that are read elsewhere
	files map[string]*scriptFileText
	order []string // of the files
	said  map[string]bool
	gone  map[int]bool // lines of f that were overwritten
}

// scriptFileText is a file that the script has written.
type scriptFileText struct {
	event shellscript.Event
	lines []shellscript.Line
	read  bool  // its parameters are lines of the file
	made  []int // which ones
}

func newScript(f *File, text string) *script {
	return &script{f: f, follow: shellscript.New(shellscript.ShellOf(text), f.scripts),
		files: map[string]*scriptFileText{}, said: map[string]bool{}, gone: map[int]bool{}}
}

// run reads a part of the script. At converts its lines to those of the file; nil: they are the same.
func (s *script) run(text string, at func(int) int) {
	for _, e := range s.follow.Run(text, at) {
		switch {
		case e.Command != nil:
			s.command(e)
		case e.Write != nil:
			s.write(e)
		case e.Odd != "":
			s.note(Odd, e, e.Odd)
		case e.Mistake:
			s.note(Wrong, e, e.Skip)
		default:
			s.note(Unread, e, e.Skip)
		}
	}
}

// finish lists what was not read: functions that are not called, and files that nothing reads. It
// removes lines that were overwritten, and those of loops that the same line has set again.
func (s *script) finish() {
	for _, e := range s.follow.Uncalled() {
		if relevant(e.Source) {
			s.note(Unread, e, e.Skip)
		}
	}
	for _, name := range s.order {
		if f := s.files[name]; !f.read {
			s.leftover(name, f)
		}
	}
	type place struct {
		line int
		id   string
	}
	seen := map[place]bool{}
	kept := []Line{}
	for i, l := range slices.Backward(s.f.Lines) {
		at := place{l.Line, l.Identity()}
		if l.When != "" { // of which another branch may hold
			at.id += "\x00" + l.Value + "\x00" + l.When
		}
		if s.gone[i] || seen[at] {
			continue
		}
		seen[at] = true
		kept = append(kept, l)
	}
	slices.Reverse(kept)
	s.f.Lines = slices.Clip(kept)
}

// note appends a remark on a command, once for each line and reason. That a command was not read is said
// once, also of a loop.
func (s *script) note(kind Kind, e shellscript.Event, why string, instead ...string) {
	id := itoa(e.At) + e.Source
	if kind != Unread {
		id += why
	}
	if !s.said[id] {
		s.said[id] = true
		s.f.apart(kind, e.At, e.Source, why, instead...)
	}
}

// unread notes that a command depends on something.
func (s *script) unread(e shellscript.Event, on string) { s.note(Unread, e, "depends on "+on) }

// conditions returns the conditions of a command.
func (s *script) conditions(e shellscript.Event) string {
	return strings.Trim(s.when+", "+strings.Join(e.When, ", "), ", ")
}

// mark sets what lines from index i on are for, and under which conditions.
func (s *script) mark(i int, e shellscript.Event) {
	for ; i < len(s.f.Lines); i++ {
		l := &s.f.Lines[i]
		l.When = s.conditions(e)
		if l.Within == "" {
			l.Within, l.Container = s.within, s.container
		}
	}
}

// relevant reports whether a command may set what is read here.
func relevant(text string) bool { return relevantText.MatchString(text) }

var relevantText = pattern.MustCompile(`sysctl|/proc/sys|/sys/|ethtool|\btc\b|\bip\b|net\.(ipv4|ipv6|core)|cpupower`)

// silent are commands that set nothing that is read here, whatever their words are. neutral ones do so
// unless a word names a file or a program that does.
var (
	silent = wordSet(`: true false test [ set shopt cd pwd pushd popd ls stat find sleep wait date logger id whoami uname
		hostname lsmod modinfo which type hash command trap umask ulimit unset clear tput usage grep egrep fgrep zgrep awk
		gawk cut tr sort uniq head tail wc diff cmp basename dirname readlink realpath seq expr bc nproc lscpu lspci free
		uptime df du lsblk dmesg journalctl ps pgrep pidof printenv getopt getopts file sync ping traceroute mtr ss netstat
		nstat iperf iperf3 nslookup dig host break continue let local alias numfmt column less more man exit return jobs
		disown kill dirs mkdir rmdir touch chmod chown chgrp`)
	neutral = wordSet(`sed cp mv rm ln install apt apt-get apt-cache dpkg yum dnf rpm zypper
		apk pacman pip pip3 curl wget git tar gzip gunzip unzip mount umount useradd groupadd usermod passwd make cmake
		gcc ./configure`)
	// touches matches a word that makes a neutral command one that may set something.
	touches = pattern.MustCompile(`sysctl|/proc/|/sys/|/etc/(modprobe|udev|network|netplan|security|tuned|rc)|ethtool`)
)

func wordSet(text string) map[string]bool {
	set := map[string]bool{}
	for word := range strings.FieldsSeq(text) {
		set[word] = true
	}
	return set
}

// command reads a command.
func (s *script) command(e shellscript.Event) {
	c := e.Command
	name := c.Name()
	words := make([]string, 0, len(c.Words))
	for _, w := range c.Words {
		words = append(words, w.Text)
	}
	before := len(s.f.Lines)
	defer func() { s.mark(before, e) }()
	switch name {
	case "":
		s.unread(e, c.Depends())
	case "sysctl":
		s.sysctl(e, words[1:])
	case "docker", "podman", "nerdctl":
		s.containerCommand(e, words)
	case "ethtool", "ip", "ifconfig", "tc", "cpupower", "modprobe":
		s.deviceCommand(e, name, words[1:])
	case "systemctl", "service":
		if strings.Contains(strings.Join(words, " "), "sysctl") || slices.ContainsFunc(words, shows) {
			return // applies files, or shows a state
		}
		s.note(Unread, e, "what "+name+" starts or stops is not known here")
	default:
		switch {
		case silent[name] || neutral[name] && !slices.ContainsFunc(words[1:], touches.MatchString):
		case len(words) == 2 && (words[1] == "--version" || words[1] == "--help"):
		default:
			s.note(Unread, e, "what "+name+" sets is not known here")
		}
	}
}

// shows reports whether a word of a command asks for a state.
func shows(word string) bool {
	return slices.Contains([]string{"status", "is-active", "is-enabled", "daemon-reload", "show", "list-units"}, word)
}

// deviceCommand reads a command about an interface or the CPUs.
func (s *script) deviceCommand(e shellscript.Event, name string, words []string) {
	on := e.Command.Depends()
	switch name {
	case "ethtool":
		switch {
		case len(words) < 2 || ethtoolShows(words[0]):
		case on != "":
			s.unread(e, on)
		case !s.f.ethtool(e.At, words, anyInterface):
			s.note(Unread, e, "these options of ethtool are not known here")
		}
	case "tc":
		s.tc(e, words, on)
	case "cpupower":
		i := slices.IndexFunc(words, func(w string) bool { return w == "-g" || w == "--governor" })
		switch {
		case !slices.Contains(words, "frequency-set"):
			if slices.Contains(words, "idle-set") || slices.Contains(words, "set") {
				s.note(Unread, e, "this command of cpupower is not known here")
			}
		case on != "":
			s.unread(e, on)
		case i >= 0 && i+1 < len(words):
			s.f.option(e.At, setting.CPUGovernor, words[i+1])
		default:
			s.note(Unread, e, "this command of cpupower is not known here")
		}
	case "modprobe":
		if strings.Contains(strings.Join(words, " "), "=") {
			s.note(Unread, e, "options of modules are not known here")
			return
		}
		s.note(Note, e, "loads a module, and sets nothing")
	case "ifconfig":
		if len(words) < 3 {
			return
		}
		if on != "" {
			s.unread(e, on)
			return
		}
		s.link(e, words)
	default:
		s.ip(e, words, on)
	}
}

// ethtoolShows reports whether an option of ethtool(8) shows something.
func ethtoolShows(flag string) bool {
	return slices.Contains([]string{"-i", "-k", "-g", "-l", "-c", "-a", "-S", "-T", "-n", "-u", "-x", "-m", "-d",
		"-t", "-p", "-P", "-h", "--driver", "--show-features", "--show-offload", "--show-ring", "--show-channels",
		"--show-coalesce",
		"--show-pause", "--statistics", "--show-nfc", "--show-ntuple", "--show-rxfh", "--show-priv-flags", "--show-fec",
		"--version", "--help", "--show-rxfh-indir", "--show-time-stamping", "--module-info"}, flag)
}

// ip reads "ip link set". Other commands of ip(8) are listed if they change something.
func (s *script) ip(e shellscript.Event, words []string, on string) {
	words = slices.DeleteFunc(slices.Clone(words), func(w string) bool { return strings.HasPrefix(w, "-") })
	switch {
	case len(words) < 2 || slices.Contains([]string{"show", "list", "ls", "get", "help"}, words[1]):
	case strings.HasPrefix("link", words[0]) && words[1] == "set":
		if on != "" {
			s.unread(e, on)
			return
		}
		s.link(e, words[2:])
	default:
		s.note(Unread, e, "addresses, routes and the like are not read of scripts")
	}
}

// link reads the attributes of an interface.
func (s *script) link(e shellscript.Event, words []string) {
	if rest := s.f.ipLink(e.At, words); len(rest) > 0 {
		s.note(Unread, e, "of an interface only "+linkNamesText+" are known here, not "+strings.Join(rest, " "))
	}
}

const linkNamesText = "mtu, txqueuelen, gso_max_size and gro_max_size"

// tc reads queueing disciplines at the root of an interface.
func (s *script) tc(e shellscript.Event, words []string, on string) {
	words = slices.DeleteFunc(slices.Clone(words), func(w string) bool { return strings.HasPrefix(w, "-") })
	switch {
	case len(words) < 2:
	case !strings.HasPrefix("qdisc", words[0]):
		if !slices.Contains([]string{"show", "list", "ls"}, words[1]) {
			s.note(Unread, e, "classes and filters of tc are not known here")
		}
	case on != "" && slices.Contains(tcVerbs, words[1]):
		s.unread(e, on)
	default:
		wrong, unread := s.f.tcQdisc(e.At, words[1:])
		switch {
		case wrong != "":
			s.note(Wrong, e, wrong, "tc qdisc replace "+strings.Join(words[2:], " "))
		case unread != "":
			s.note(Unread, e, unread)
		}
	}
}

// containerCommand reads the option --sysctl of docker run and podman run.
func (s *script) containerCommand(e shellscript.Event, words []string) {
	if len(words) < 2 || !slices.Contains([]string{"run", "create", "container"}, words[1]) {
		if sets(e.Source) {
			s.note(Unread, e, "what is executed in a container is not read here")
		}
		return
	}
	before := len(s.f.Lines) + len(s.f.Apart)
	defer func() {
		if len(s.f.Lines)+len(s.f.Apart) == before && sets(e.Source) {
			s.note(Unread, e, "what is executed in a container is not read here")
		}
	}()
	for i, w := range words {
		text, is := strings.CutPrefix(w, "--sysctl=")
		depends := e.Command.Words[i].Depends
		if w == "--sysctl" && i+1 < len(words) {
			text, is, depends = words[i+1], true, e.Command.Words[i+1].Depends
		}
		key, value, assigned := strings.Cut(text, "=")
		switch {
		case !is:
		case depends != "":
			s.unread(e, depends)
		case !assigned || value == "":
			s.note(Wrong, e, "expected --sysctl KEY=VALUE")
		default:
			s.f.set(Line{Line: e.At, Key: dotted(key), Value: value, Within: "container of line " + itoa(e.At),
				Container: true}, e.Source)
		}
	}
}
