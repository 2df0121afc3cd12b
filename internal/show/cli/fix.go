package cli

import (
	"context"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strings"

	"github.com/spf13/cobra"

	"linerate/internal/model/hostconfig"
	"linerate/internal/model/lists"
	"linerate/internal/model/record"
	"linerate/internal/model/source"
	"linerate/internal/science/conclude"
	"linerate/internal/science/remedy"
	"linerate/internal/show/evidence"
	"linerate/internal/show/export"
	"linerate/internal/show/text"
	"linerate/internal/show/wording"
	"linerate/internal/show/words"
)

// commandsFormat is the format that writes no files.
const commandsFormat = "commands"

type fixFlags struct {
	format, host, dir string
	replace           []string
	force, asJSON     bool
}

// fixDocument is what `linerate fix --json` prints.
type fixDocument struct {
	Schema string `json:"schema"` // linerate.fix/v1
	Run    string `json:"run"`
	Fix    string `json:"fix"`
	// Doubt says why the run is in doubt; absent: it is not.
	Doubt string `json:"doubt,omitempty"`
	// Proof is the run that tried the settings by themselves, if tune kept them.
	Proof string `json:"proof,omitempty"`
	// Lab: interfaces and addresses are those of a lab.
	Lab bool `json:"lab"`
	// Unmapped are the names that --map has not replaced, in the form that it takes.
	Unmapped []string  `json:"unmapped,omitempty"`
	Hosts    []fixHost `json:"hosts"`
	// Undo are settings of the baseline that the fix does not make.
	Undo []string `json:"undo,omitempty"`
	// Programs are options of the flows, which no setting makes.
	Programs []string `json:"programs,omitempty"`
	// Advice is what else has to be done. Once lists the commands in it.
	Advice []string     `json:"advice,omitempty"`
	Once   []fixCommand `json:"once,omitempty"`
}

// fixCommand is run once on its host, after the settings are made.
type fixCommand struct {
	Host    string `json:"host"`
	Command string `json:"command"`
}

type fixHost struct {
	Host     string   `json:"host"`
	Commands []string `json:"commands"`
	// Format is the format of the files; absent: none was requested.
	Format string `json:"format,omitempty"`
	*hostconfig.Config
}

func fixFormats() (names []string) {
	names = []string{commandsFormat}
	names = append(names, lists.Map(hostconfig.Formats, func(f hostconfig.Format) string { return f.Name })...)
	return names
}

func newFixCommand(s streams) *cobra.Command {
	var f fixFlags
	long := `Write what a run recommends as commands, or as files that last over a boot: the
settings of its recommended treatment, or those of a finding by its name.

`
	for _, format := range hostconfig.Formats {
		long += fmt.Sprintf("  %-16s  %s\n", format.Name, format.Doc)
	}
	cmd := &cobra.Command{
		Use:   "fix RUN [FINDING]",
		Short: "Write a run's fix as commands or configuration files",
		Long: long + `
Kernel parameters are always in a file for /etc/sysctl.d. What a format has no key
for is in a script that systemd runs at boot. Nothing is changed on any host.

RUN is a run's name, the beginning of one, or latest.

Exit status: 0; 2 bad usage; 3 the run recommends nothing, nothing is written; or the
run is in doubt, a trust check failed: its fix is written, and stderr says why.`,
		Example: `  linerate fix latest
  linerate fix latest --host nas --map nas.eth0=enp3s0 | ssh root@nas sh
  linerate fix latest --format netplan -o fix
  linerate fix nas-7 arp-flux`,
		Args: rangeArgs(1, 2),
		RunE: func(cmd *cobra.Command, args []string) error {
			if err := errors.Join(mistakes(cmd.Flags())...); err != nil {
				return usageError(err)
			}
			return f.run(cmd, s, args)
		},
	}
	flags := cmd.Flags()
	valueVar(flags, &f.format, oneOf(fixFormats()...), "format", "name", commandsFormat,
		strings.Join(fixFormats(), ", "))
	flags.StringVar(&f.host, "host", "", "only the commands or files for this `host`")
	flags.StringArrayVar(&f.replace, "map", nil,
		"replace a lab's name or address, such as eth0=enp3s0, nas.eth0=enp3s0 or 192.168.1.10=10.0.0.10, or a "+
			"network, such as 192.168.1.0/24=10.0.0.0/24 (may be repeated)")
	flags.StringVarP(&f.dir, "out", "o", "", "write the files below this `directory`, as HOST/etc/…")
	flags.BoolVar(&f.force, "force", false, "replace files that exist")
	flags.BoolVar(&f.asJSON, "json", false, "print JSON (linerate.fix/v1)")
	_ = cmd.RegisterFlagCompletionFunc("format", cobra.FixedCompletions(fixFormats(),
		cobra.ShellCompDirectiveNoFileComp))
	return cmd
}

func (f fixFlags) run(cmd *cobra.Command, s streams, args []string) error {
	switch {
	case f.dir != "" && f.format == commandsFormat:
		return usageError(fmt.Errorf("-o writes files: expected --format %s", source.Or(fixFormats()[1:])))
	case f.dir != "" && f.asJSON:
		return usageError(errors.New("--json goes to standard output: expected it without -o"))
	}
	runs, err := runsWithTrials(cmd.Context(), args[0])
	if err != nil {
		return err
	}
	run := runs[0]
	fix, err := f.find(run, args[1:])
	if errors.Is(err, remedy.ErrNoSetting) {
		if lines := next(run); len(lines) > 0 {
			fix, err = &remedy.Fix{Name: heldBack, Advice: lines}, nil
		}
	}
	if errors.Is(err, remedy.ErrNone) {
		return statusError{ExitDoubt, err}
	}
	if err != nil {
		return usageError(err)
	}
	if err := fix.Replace(f.replace); err != nil {
		return usageError(err)
	}
	if len(fix.Hosts) == 0 && len(fix.Instructions()) > 0 {
		if err := s.answer(f.asJSON, f.document(fix, run), func(w io.Writer) error {
			return f.advise(w, run, fix)
		}); err != nil {
			return err
		}
		f.remarkUnmapped(s.hints(), fix)
		return statusError{status: ExitDoubt}
	}
	if err := f.onHost(fix); err != nil {
		return usageError(err)
	}
	if len(fix.Hosts) == 0 {
		fix.Flushes = slices.DeleteFunc(fix.Flushes, func(flush remedy.Flush) bool { return flush.Host != f.host })
	}
	proof := provenBy(cmd.Context(), run, fix)
	d := f.document(fix, run, proof...)
	err = s.answer(f.asJSON, d, func(w io.Writer) error {
		if f.dir != "" {
			return f.write(w, d)
		}
		return f.print(w, d)
	})
	if err != nil {
		return err
	}
	f.remark(s.hints(), fix)
	if d.Doubt != "" {
		say(s.err, "linerate: %s (exit status %d); linerate report %s lists what failed\n", d.Doubt, ExitDoubt, run.ID)
	}
	return doubt(append(proof, run)...)
}

// heldBack is the name of a fix that has what to do about what held the flows of a run back.
const heldBack = "what held the flows back"

// next returns what to do about what held the flows of a run back, in the first trial of each
// treatment.
func next(run *record.Run) (lines []string) {
	const most = 12
	for _, t := range run.Treatments {
		if trials := run.TrialsOf(t.Name); len(trials) > 0 {
			for _, line := range wording.NextOf(run, trials[0]) {
				lines = words.Distinct(lines, line)
			}
		}
	}
	return lines[:min(len(lines), most)]
}

// provenBy returns the run that proved a fix; nil if that is the run itself, or if the notebook no
// longer has it.
func provenBy(ctx context.Context, run *record.Run, fix *remedy.Fix) []*record.Run {
	if fix.Proof == "" || fix.Proof == run.ID {
		return nil
	}
	runs, err := runsWithTrials(ctx, fix.Proof)
	if err != nil {
		return nil
	}
	return runs
}

// find returns the recommended fix, or that of the finding that was named.
func (f fixFlags) find(run *record.Run, finding []string) (*remedy.Fix, error) {
	defer computing()()
	conclude.Conclude(run) // findings of an older version have no settings
	run = wording.Run(run)
	var ids []string
	for _, one := range run.Findings {
		if len(one.Changes()) > 0 && !slices.Contains(ids, one.ID) {
			ids = append(ids, one.ID)
		}
	}
	if len(finding) == 0 {
		fix, err := remedy.Recommended(run)
		if errors.Is(err, remedy.ErrNone) && len(ids) > 0 {
			err = fmt.Errorf("%w\nIts findings have settings: linerate fix %s %s", err, run.ID, strings.Join(ids, "|"))
		}
		return fix, err
	}
	made, err := remedy.OfFindings(run, finding[0])
	if err != nil {
		return nil, err
	}
	if made == nil {
		if len(ids) == 0 {
			return nil, fmt.Errorf("run %s has no finding %q, and none that settings remove", run.ID, finding[0])
		}
		return nil, fmt.Errorf("run %s has no finding %q%s", run.ID, finding[0], source.DidYouMean(finding[0], ids))
	}
	return made, nil
}

// advise prints what to do about a finding that no setting removes. It prints comments, because a
// shell may read the output.
func (f fixFlags) advise(w io.Writer, run *record.Run, fix *remedy.Fix) error {
	why := "no setting of a host removes it; instead:"
	if fix.Name == heldBack {
		why = "what to do next:"
	}
	text := hostconfig.Comment(fmt.Sprintf("%s (run %s): %s", fix.Name, run.ID, why)) + "\n"
	for _, line := range fix.Instructions() {
		text += hostconfig.Comment("  "+line) + "\n"
	}
	_, err := io.WriteString(w, text)
	return err
}

// onHost removes all hosts except the named one.
func (f fixFlags) onHost(fix *remedy.Fix) error {
	if f.host == "" {
		return nil
	}
	names := lists.Map(fix.Hosts, func(h hostconfig.Host) string { return h.Name })
	for _, flush := range fix.Flushes {
		names = words.Distinct(names, flush.Host)
	}
	if !slices.Contains(names, f.host) {
		return fmt.Errorf("--host %s: nothing is to be done there; expected %s", f.host, source.Or(names))
	}
	fix.Hosts = slices.DeleteFunc(fix.Hosts, func(h hostconfig.Host) bool { return h.Name != f.host })
	return nil
}

// document returns the document of a fix of a run, which was proven by proof, if given.
func (f fixFlags) document(fix *remedy.Fix, run *record.Run, proof ...*record.Run) *fixDocument {
	d := &fixDocument{Schema: "linerate.fix/v1", Run: run.ID, Fix: fix.Name, Proof: fix.Proof, Lab: fix.Lab,
		Unmapped: remedy.Texts(f.unmapped(fix)), Undo: fix.Undo, Programs: fix.Programs, Advice: fix.Instructions(),
		Hosts: []fixHost{}}
	for _, flush := range fix.Flushes {
		d.Once = append(d.Once, fixCommand{flush.Host, hostconfig.Command(flush.Command()...)})
	}
	if why := evidence.WhyInDoubt(run); why != "" {
		d.Doubt = "the run is in doubt: " + why
	}
	for _, r := range proof {
		if why := evidence.WhyInDoubt(r); why != "" {
			d.Doubt = strings.TrimPrefix(fmt.Sprintf("%s; its proof %s is in doubt: %s", d.Doubt, r.ID, why), "; ")
		}
	}
	for _, h := range fix.Hosts {
		one := fixHost{Host: h.Name, Commands: hostconfig.Commands(h.Settings)}
		for _, format := range hostconfig.Formats {
			if format.Name == f.format {
				head := []string{fmt.Sprintf("%s, for %s: made by linerate fix %s", fix.Name, h.Name, run.ID)}
				if d.Doubt != "" {
					head = append(head, d.Doubt)
				}
				c := format.Config(h, head)
				one.Format, one.Config = f.format, &c
			}
		}
		d.Hosts = append(d.Hosts, one)
	}
	return d
}

// print writes text that a shell can read: commands, or files that each follow a comment with their
// name.
func (f fixFlags) print(w io.Writer, d *fixDocument) error {
	out := hostconfig.Comment(fmt.Sprintf("%s (run %s)", d.Fix, d.Run)) + "\n"
	if d.Doubt != "" {
		out += hostconfig.Comment(d.Doubt) + "\n"
	}
	for _, h := range d.Hosts {
		if h.Config == nil {
			out += "\n" + hostconfig.Comment("on "+h.Host+":") + "\n" + strings.Join(h.Commands, "\n") + "\n"
			continue
		}
		var modes []string // for new files, with mode 0644 otherwise
		for _, file := range h.Files {
			out += "\n" + hostconfig.Comment(fmt.Sprintf("on %s, /%s:", h.Host, file.Path)) + "\n" + file.Text
			if file.Mode != 0o644 {
				modes = append(modes, fmt.Sprintf("chmod %o /%s", file.Mode, file.Path))
			}
		}
		out += "\n" + applying(h, slices.Concat(modes, h.Apply), columns(w))
	}
	if len(d.Hosts) == 0 { // only a peer, whose ARP entries are out of date once the fix is made
		out += "\n" + hostconfig.Comment("once, on "+f.host+":") + "\n"
		for _, once := range d.Once {
			out += once.Command + "\n"
		}
	}
	_, err := io.WriteString(w, out)
	return err
}

// applying returns, as comments, the commands that put a host's files into effect.
func applying(h fixHost, commands []string, width int) string {
	out := "# then on " + h.Host + ":\n"
	for _, command := range commands {
		out += "#   " + command + "\n"
	}
	for _, note := range h.Notes {
		out += text.Paragraph("# note: ", "#   ", note, width)
	}
	return out
}

// write writes the files into one directory for each host, and prints their names.
func (f fixFlags) write(w io.Writer, d *fixDocument) error {
	for _, h := range d.Hosts {
		for _, file := range h.Files {
			if path := filepath.Join(h.Host, file.Path); !filepath.IsLocal(path) || strings.Contains(h.Host, "/") {
				return fmt.Errorf("%q is no name for a file below %s", path, f.dir)
			} else if err := absent(filepath.Join(f.dir, path), "directory", f.force); err != nil {
				return err
			}
		}
	}
	for _, h := range d.Hosts {
		for _, file := range h.Files {
			path := filepath.Join(f.dir, h.Host, file.Path)
			if err := os.MkdirAll(filepath.Dir(path), 0o755); err != nil {
				return err
			}
			err := export.WriteFile(path, func(w io.Writer) error {
				_, err := io.WriteString(w, file.Text)
				return err
			})
			if err == nil {
				err = os.Chmod(path, fs.FileMode(file.Mode))
			}
			if err != nil {
				return err
			}
			fmt.Fprintln(w, path)
		}
		fmt.Fprint(w, applying(h, h.Apply, columns(w)))
	}
	return nil
}

// unmapped returns the names of the lab that the output still contains.
func (f fixFlags) unmapped(fix *remedy.Fix) (list []remedy.Name) {
	flushes := func(n remedy.Name) bool {
		return slices.ContainsFunc(fix.Flushes, func(flush remedy.Flush) bool { return flush.Host == n.Host })
	}
	return lists.Where(fix.Unmapped, func(n remedy.Name) bool {
		return fix.Lab && (f.host == "" || n.Host == f.host || flushes(n))
	})
}

// remarkUnmapped prints which names of the lab the output still contains, and how to replace them,
// with an example of each kind. Long lists are cut; JSON has them whole.
func (f fixFlags) remarkUnmapped(w io.Writer, fix *remedy.Fix) {
	names := f.unmapped(fix)
	if len(names) == 0 {
		return
	}
	const most = 12
	var shown, examples []string
	for _, n := range names {
		if !slices.Contains(shown, n.Example) {
			shown = append(shown, n.Example)
			examples = append(examples, fmt.Sprintf("--map %s=%s", n.Text, n.Example))
		}
	}
	list := remedy.Texts(names)
	if more := len(list) - most; more > 1 {
		list = append(list[:most:most], fmt.Sprintf("%d others", more))
	}
	where := ""
	if f.host != "" && !slices.ContainsFunc(names, func(n remedy.Name) bool { return n.Host == f.host }) {
		where = " (on the hosts that are to flush ARP entries)"
	}
	say(w, "linerate: still the lab's: %s%s; replace each, as by %s\n", strings.Join(list, ", "), where,
		strings.Join(examples, " "))
}

// remark prints what the commands and files do not cover.
func (f fixFlags) remark(w io.Writer, fix *remedy.Fix) {
	remark := func(format string, args ...any) { say(w, "linerate: "+format+"\n", args...) }
	for _, line := range fix.Undo {
		remark("the fix does not have this setting of the baseline: %s", line)
	}
	for _, option := range fix.Programs {
		switch key, _, _ := strings.Cut(option, ":"); {
		case slices.Contains(fix.Defaults, key):
			remark("%s was set for each connection; the commands make it the default of the senders", option)
		default:
			remark("%s is an option of the programs: no setting of a host replaces it", option)
		}
	}
	instructions := fix.Instructions()
	if len(fix.Hosts) == 0 {
		instructions = fix.Advice
	}
	for _, line := range instructions {
		remark("not among the settings: %s", line)
	}
	f.remarkUnmapped(w, fix)
	if f.format == commandsFormat && len(fix.Hosts) > 0 {
		remark("the commands are in effect until the next reboot; --format %s writes files that persist",
			source.Or(fixFormats()[1:]))
	}
}
