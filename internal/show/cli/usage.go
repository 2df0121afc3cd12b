package cli

import (
	"cmp"
	"errors"
	"fmt"
	"maps"
	"slices"
	"strconv"
	"strings"

	"github.com/spf13/cobra"
	"github.com/spf13/pflag"

	"linerate/internal/model/pattern"
	"linerate/internal/model/source"
	"linerate/internal/model/unit"
)

// The checks of arguments differ from cobra's own in that a failure is a usage error: exit status
// 2, with the verb's usage line.

func noArgs(cmd *cobra.Command, args []string) error {
	if len(args) > 0 {
		return wrongArguments(cmd, fmt.Errorf("unexpected argument %q; usage: %s", args[0], usage(cmd)))
	}
	return nil
}

// usage returns the first example of a command, or else its usage line.
func usage(cmd *cobra.Command) string {
	example, _, _ := strings.Cut(strings.TrimSpace(cmd.Example), "\n")
	return cmp.Or(example, cmd.UseLine())
}

// wrongArguments returns what is wrong with values of flags, or else err: if a flag took the next
// flag as its value, that flag's own value is left among the arguments.
func wrongArguments(cmd *cobra.Command, err error) error {
	if wrong := mistakes(cmd.Flags()); len(wrong) > 0 {
		err = errors.Join(wrong...)
	}
	return usageError(err)
}

func exactArgs(n int) cobra.PositionalArgs { return rangeArgs(n, n) }

func rangeArgs(least, most int) cobra.PositionalArgs {
	expected := strconv.Itoa(least)
	if most > least {
		expected += " or " + strconv.Itoa(most)
	}
	return func(cmd *cobra.Command, args []string) error {
		if len(args) < least || len(args) > most {
			return wrongArguments(cmd, fmt.Errorf("%s, expected %s; usage: %s", unit.Plural(len(args), "argument"),
				expected, cmd.UseLine()))
		}
		return nil
	}
}

func minimumArgs(n int, expected string) cobra.PositionalArgs {
	return func(_ *cobra.Command, args []string) error {
		if len(args) < n {
			return usageError(errors.New(expected))
		}
		return nil
	}
}

// flagError returns an error that explains what is wrong with a flag: the flag that was probably
// meant, what corresponds to an iperf3 option, or which values there are, instead of the message of
// the parser.
func flagError(cmd *cobra.Command, err error) error {
	flags := cmd.Flags()
	if unknown, is := errors.AsType[*pflag.NotExistError](err); is {
		return usageError(unknownFlag(cmd, unknown))
	}
	if missing, is := errors.AsType[*pflag.ValueRequiredError](err); is {
		return usageError(needsValue(flags, missing.GetFlag(), ""))
	}
	if wrong, is := errors.AsType[*pflag.InvalidValueError](err); is {
		if err := swallowed(flags, wrong.GetFlag(), wrong.GetValue()); err != nil {
			return usageError(err)
		}
		expected := map[string]string{
			"int": "a whole number", "uint64": "a whole number of at least 0", "float64": "a number",
			"bool":        "true or false",
			"stringSlice": "values separated by commas; quotes must enclose a whole value",
		}[wrong.GetFlag().Value.Type()]
		if expected != "" {
			return usageError(fmt.Errorf("--%s %.60q: expected %s", wrong.GetFlag().Name, wrong.GetValue(), expected))
		}
	}
	return usageError(err)
}

// unknownFlag returns an error that names the flag that was probably meant.
func unknownFlag(cmd *cobra.Command, unknown *pflag.NotExistError) error {
	name, short := unknown.GetSpecifiedName(), ""
	said := "--" + name
	if letters := unknown.GetSpecifiedShortnames(); letters != "" {
		short, name = name, ""
		said = "-" + short
		if len(letters) > 1 {
			said += " in -" + letters
		}
	}
	if words := iperf3Words(cmd.Name(), short, name); words != "" {
		return fmt.Errorf("unknown flag: %s; it is %s", said, words)
	}
	if equivalent := equivalents[cmd.Name()][cmp.Or(name, short)]; equivalent != "" {
		return fmt.Errorf("unknown flag: %s; here: %s", said, equivalent)
	}
	var names []string
	cmd.Flags().VisitAll(func(f *pflag.Flag) { names = append(names, f.Name) })
	elsewhere := slices.Sorted(maps.Keys(equivalents[cmd.Name()]))
	for _, o := range iperf3Options[cmd.Name()] {
		elsewhere = append(elsewhere, o.long)
	}
	near := source.Nearest(name, slices.Concat(names, elsewhere))
	if begun := slices.DeleteFunc(slices.Clone(names), func(n string) bool {
		return name == "" || !strings.HasPrefix(n, name)
	}); len(begun) == 1 {
		near = begun[0]
	}
	switch {
	case slices.Contains(names, near):
		return fmt.Errorf("unknown flag: %s; did you mean --%s?", said, near)
	case near != "":
		equivalent := "Here: " + equivalents[cmd.Name()][near]
		if words := iperf3Words(cmd.Name(), "", near); words != "" {
			equivalent = "It is " + words
		}
		return fmt.Errorf("unknown flag: %s; did you mean --%s? %s", said, near, equivalent)
	}
	return fmt.Errorf("unknown flag: %s; %s --help lists them", said, cmd.CommandPath())
}

// equivalents lists, by verb, flags of other verbs or programs and the verb's own flags of the same
// meaning. Those of iperf3 for measure and serve are in iperf3Options.
var equivalents = map[string]map[string]string{
	"goodput": {
		"4": "--family ipv4", "ipv4": "--family ipv4", "6": "--family ipv6", "ipv6": "--family ipv6",
		"u": "--protocol udp", "udp": "--protocol udp", "l": "--datagram", "length": "--datagram", "M": "--mss",
		"set-mss": "--mss",
		"b":       "--rate", "bitrate": "--rate", "bandwidth": "--rate", "m": "--mtu", "J": "--json",
		"vxlan": "--tunnel vxlan", "gre": "--tunnel gre", "geneve": "--tunnel geneve", "ipip": "--tunnel ipip",
		"wireguard": "--tunnel wireguard",
	},
	"bdp": {
		"b": "--rate", "bitrate": "--rate", "bandwidth": "--rate", "delay": "--rtt, twice the delay",
		"latency": "--rtt",
		"w":       "--window", "M": "--mss", "set-mss": "--mss", "J": "--json",
	},
	"ecmp": {"P": "--flows", "parallel": "--flows", "streams": "--flows", "paths": "--links", "bandwidth": "--rate",
		"J": "--json"},
	"measure": {"flows": "--streams", "bandwidth": "--rate-cap"},
	"run": {
		"blocks": "--replicates", "repeats": "--replicates", "trials": "--replicates", "n": "--replicates",
		"o": "--out", "dir": "--out",
		"duration": "--set workload.duration=", "t": "--set workload.duration=", "dry-run": "linerate check",
		"J": "--json",
	},
	"check": {"blocks": "--replicates", "repeats": "--replicates", "trials": "--replicates", "n": "--replicates",
		"duration": "--set workload.duration=", "t": "--set workload.duration=", "J": "--json"},
	"report": {"csv": "linerate export RUN --csv", "svg": "linerate plot RUN -o FILE", "o": "--html FILE or --out DIR",
		"J": "--json"},
	"plot":    {"format": "the ending of -o, .svg or .png"},
	"export":  {"format": "--csv, or --trials", "output": "--out", "json": "linerate report RUN --json"},
	"runs":    {"n": "--last", "limit": "--last", "search": "--grep", "J": "--json"},
	"compare": {"J": "--json"},
	"doctor":  {"paste": "the file alone, or - for standard input"},
}

// knownVerb checks arguments that belong to no verb. It always returns an error if there are any.
func knownVerb(cmd *cobra.Command, args []string) error {
	if len(args) == 0 {
		return nil
	}
	var verbs []string
	for _, verb := range cmd.Commands() {
		if verb.IsAvailableCommand() {
			verbs = append(verbs, verb.Name())
		}
	}
	verb := strings.TrimPrefix(cmd.CommandPath()+" "+args[0], "linerate ")
	hint := source.DidYouMean(args[0], verbs)
	if elsewhere := verbsElsewhere[verb]; elsewhere != "" {
		hint = "; here: " + elsewhere
	}
	return usageError(fmt.Errorf("no verb %q%s (%s --help lists them)", verb, hint, cmd.CommandPath()))
}

// verbsElsewhere lists words that are not verbs, with the command that does what they suggest.
var verbsElsewhere = map[string]string{"lint": "linerate tune FILE --lint",
	"study": "linerate studies lists them, linerate run makes one"}

// unknownHelp returns the error for --help with a word that is not a verb; nil: there is no such
// word.
func unknownHelp(cmd *cobra.Command) error {
	if help := cmd.Flags().Lookup("help"); help == nil || !help.Changed || !cmd.HasAvailableSubCommands() {
		return nil
	}
	return cmd.ValidateArgs(cmd.Flags().Args())
}

// helpVerb makes the verb help report a word that is not a verb, instead of printing the general
// help.
func helpVerb(root *cobra.Command) {
	root.InitDefaultHelpCmd()
	for _, cmd := range root.Commands() {
		if cmd.Name() != "help" {
			continue
		}
		cmd.Run, cmd.RunE = nil, func(_ *cobra.Command, args []string) error {
			verb, rest, err := root.Find(args)
			if err == nil && verb.HasAvailableSubCommands() {
				err = verb.ValidateArgs(rest)
			}
			if err != nil {
				return err
			}
			verb.InitDefaultHelpFlag()
			return verb.Help()
		}
	}
}

// mistakes returns what is wrong with the values of flags that were given.
func mistakes(flags *pflag.FlagSet) (problems []error) {
	flags.Visit(func(f *pflag.Flag) {
		wrong, text := misread(f), ""
		if wrong != nil {
			wrong = fmt.Errorf("--%s %w", f.Name, wrong)
			if v, ok := f.Value.(interface{ last() string }); ok {
				text = v.last()
			}
		} else if noun, _ := pflag.UnquoteUsage(f); f.Value.Type() == "string" && noun != "string" {
			text = f.Value.String() // the value is a name, not a flag
		}
		if wrong = cmp.Or(swallowed(flags, f, text), wrong); wrong != nil {
			problems = append(problems, wrong)
		}
	})
	return problems
}

// misread returns what is wrong with the value of a flag whose Set accepts every text.
func misread(f *pflag.Flag) error {
	if v, ok := f.Value.(interface{ mistake() error }); ok {
		return v.mistake()
	}
	return nil
}

// swallowed returns an error if a flag took the next flag as its value; otherwise nil.
func swallowed(flags *pflag.FlagSet, f *pflag.Flag, text string) error {
	name, _, _ := strings.Cut(text, "=")
	next := flags.Lookup(strings.TrimPrefix(name, "--"))
	if len(name) == 2 && name[0] == '-' {
		next = flags.ShorthandLookup(name[1:])
	}
	if name == "" || name[0] != '-' || next == nil {
		return nil
	}
	return needsValue(flags, f, " before "+name)
}

// needsValue returns an error that says which kind of value a flag needs before another one, and
// which values there are: the first ones that a shell would complete, what its parser expects, or
// an example.
func needsValue(flags *pflag.FlagSet, f *pflag.Flag, before string) error {
	noun, usage := pflag.UnquoteUsage(f)
	kind := "a " + noun
	switch {
	case !strings.Contains(f.Usage, "`"):
		kind = "a value"
	case strings.HasSuffix(noun, "s") || noun != strings.ToLower(noun):
		kind = noun
	case strings.ContainsAny(noun[:1], "aeiou"):
		kind = "an " + noun
	}
	said := " (" + strings.TrimSuffix(usage, " (may be repeated)") + ")"
	if example := exampleOf.FindStringSubmatch(usage); example != nil {
		said = ", such as " + example[1]
	}
	if v, ok := f.Value.(interface{ expected() string }); ok && v.expected() != "" {
		said = ": " + v.expected()
	}
	if c := completionOf(f); c.list != nil {
		switch list := c.list(flags, flags.Args()); {
		case len(list) == 0 || c.then == goesOn && len(list) > mostChoices:
		case c.then == goesOn:
			said += "; it begins with " + choices(list)
		default:
			said = ": " + choices(list)
		}
	}
	return fmt.Errorf("--%s needs %s%s%s", f.Name, kind, before, said)
}

// exampleOf finds the first example in the description of a flag.
var exampleOf = pattern.MustCompile(`such as ('[^']*'|[^\s;)]*[^\s;),])`)

// mostChoices is how many choices an error names.
const mostChoices = 5

// choices lists the first ones of what a shell would complete.
func choices(list []string) string {
	var words []string
	for _, one := range list[:min(len(list), mostChoices)] {
		word, about, described := strings.Cut(one, "\t")
		if word = quote(word); described {
			word += " (" + about + ")"
		}
		words = append(words, word)
	}
	if len(list) > mostChoices {
		return strings.Join(words, ", ") + ", …"
	}
	return source.Or(words)
}
