package settingfile

import (
	"cmp"
	"fmt"
	"slices"
	"strings"

	"linerate/internal/model/lists"
	"linerate/internal/model/pattern"
	"linerate/internal/model/source"
)

// Ansible is the format of a file of tasks for ansible.posix.sysctl, which can be written as well.
const Ansible = "ansible"

var _ = register(&format{
	name: Ansible, label: "Ansible", manual: "ansible.posix.sysctl",
	by: "a list of plays or tasks; variables whose names have `sysctl`",
	yields: "`sysctl`, `ansible.posix.sysctl`, also with `loop`, `with_items` or `with_dict` over what the file has; " +
		"variables `…sysctl…`; `copy`, `lineinfile`, `blockinfile` of `sysctl.d`; `command` and `shell` as scripts. " +
		"Roles and other files of tasks are not read",
	shape: func(n *source.Node) bool {
		for _, item := range n.Items {
			if isPlay(item) || isTask(item) {
				return true
			}
		}
		return slices.ContainsFunc(n.Entries, isSysctlVariable)
	},
	tree: (*treeReader).ansible,
})

// ansibleSets are the parts of a play that have tasks.
var ansibleSets = []string{"pre_tasks", "tasks", "post_tasks", "handlers"}

func isPlay(n *source.Node) bool {
	return at(n, "hosts") != nil && (text(n, "hosts") != "" || at(n, "tasks") != nil) || at(n, "import_playbook") != nil
}

// ansibleModules are modules by which a list of tasks is recognised.
var ansibleModules = []string{"sysctl", "command", "shell", "raw", "copy", "template", "lineinfile", "blockinfile",
	"file", "package", "apt", "yum", "dnf", "service", "systemd", "modprobe", "include_tasks", "import_tasks",
	"include_role",
	"import_role", "set_fact", "debug", "assert", "fail", "stat", "block", "user", "include_vars"}

// moduleOf returns the name of a module without its collection.
func moduleOf(key string) string {
	for _, collection := range []string{"ansible.builtin.", "ansible.posix.", "community.general.", "ansible.legacy."} {
		key = strings.TrimPrefix(key, collection)
	}
	return key
}

func isTask(n *source.Node) bool {
	return slices.ContainsFunc(n.Entries, func(e source.Entry) bool {
		return slices.Contains(ansibleModules, moduleOf(e.Key.Text)) || strings.HasPrefix(e.Key.Text, "ansible.")
	})
}

var sysctlVariable = pattern.MustCompile(`^\w*sysctl\w*$`)

// isSysctlVariable reports whether a variable has parameters: a mapping of them, or a list of names
// with values.
func isSysctlVariable(e source.Entry) bool {
	if !sysctlVariable.MatchString(e.Key.Text) || e.Key.Text == "sysctl" || e.Key.Text == "sysctls" {
		return false // the plain names are those of other programs as well
	}
	for _, item := range e.Value.Items {
		if named(item) != "" {
			return true
		}
	}
	return slices.ContainsFunc(e.Value.Entries, func(e source.Entry) bool { return isParameter(e.Key.Text) })
}

// named returns the key of a mapping that has the name of a parameter. Empty: there is none.
func named(item *source.Node) string {
	for _, key := range []string{"name", "key", "param", "parameter", "sysctl"} {
		if isParameter(text(item, key)) {
			return key
		}
	}
	return ""
}

// ansible reads plays, tasks or variables.
func (r *treeReader) ansible(n *source.Node) {
	vars := map[string]*source.Node{}
	for _, e := range n.Entries {
		vars[e.Key.Text] = e.Value
	}
	plays := lists.Count(n.Items, isPlay)
	for _, item := range n.Items {
		if !isPlay(item) {
			r.task(item, vars, 0)
			continue
		}
		if hosts := text(item, "hosts"); plays > 1 {
			r.within = "hosts " + hosts
		}
		for _, key := range []string{"roles", "import_playbook"} {
			if others := at(item, key); others != nil {
				r.unread(others, "tasks of other files are not read: give those files as well")
			}
		}
		own := vars
		if list := at(item, "vars"); list != nil {
			own = map[string]*source.Node{}
			for _, e := range list.Entries {
				own[e.Key.Text] = e.Value
			}
		}
		for _, set := range ansibleSets {
			if tasks := at(item, set); tasks != nil {
				for _, t := range tasks.Items {
					r.task(t, own, 0)
				}
			}
		}
		if list := at(item, "vars"); list != nil {
			r.variables(list)
		}
		r.within = ""
	}
	r.variables(n)
}

// variables reads variables with parameters that no task has used.
func (r *treeReader) variables(n *source.Node) {
	for _, e := range n.Entries {
		if r.used[e.Value] || !isSysctlVariable(e) {
			continue
		}
		r.use(e.Value)
		for _, item := range e.Value.Items {
			if key := named(item); key != "" {
				r.pair(item, key)
			}
		}
		for _, one := range e.Value.Entries {
			if value := at(one.Value, "value"); value != nil {
				r.parameter(one.Key, value)
				continue
			}
			r.parameter(one.Key, one.Value)
		}
	}
}

// pair reads a mapping with a name and a value.
func (r *treeReader) pair(item *source.Node, key string) {
	name, _ := item.Get(key)
	for _, k := range []string{"value", "val"} {
		if value, is := item.Get(k); is {
			r.parameter(name.Value, value.Value)
			return
		}
	}
	r.unread(item, "expected a value beside "+key)
}

// task reads a task, or a block of them.
func (r *treeReader) task(t *source.Node, vars map[string]*source.Node, depth int) {
	if depth > deepest {
		return
	}
	was := r.when
	defer func() { r.when = was }()
	if condition, is := t.Get("when"); is {
		r.when = strings.Trim(r.when+", "+fmt.Sprintf("when on line %d", condition.Key.At.Line), ", ")
	}
	for _, e := range t.Entries {
		switch module := moduleOf(e.Key.Text); module {
		case "block", "rescue", "always":
			for _, one := range e.Value.Items {
				r.task(one, vars, depth+1)
			}
		case "sysctl":
			args := arguments(e.Value)
			r.use(e.Value)
			list, _ := r.rounds(t, vars)
			for _, one := range list {
				r.ansibleSysctl(e, args, one)
			}
		case "shell", "command", "raw":
			r.each(t, e.Value, vars, r.ansibleCommand)
		case "copy", "blockinfile", "lineinfile", "template":
			r.each(t, arguments(e.Value), vars, func(args *source.Node) { r.ansibleFile(module, args) })
		case "include_tasks", "import_tasks", "include_role", "import_role", "include_vars", "script":
			r.unread(e.Value, "tasks of other files are not read: give those files as well")
		default:
			if mtu := at(arguments(e.Value), "mtu"); mtu != nil { // of nmcli, interfaces_file and the like
				r.unread(mtu, "what "+module+" sets is not known here")
			}
		}
	}
}

// each calls read with the arguments of each execution of a task, if they may set something.
func (r *treeReader) each(t, args *source.Node, vars map[string]*source.Node, read func(*source.Node)) {
	if !slices.ContainsFunc(t.Entries, func(e source.Entry) bool {
		return slices.Contains(ansibleLoops, e.Key.Text)
	}) {
		one := round{value: func(expression string) *source.Node { return resolve(expression, "", nil, vars) }}
		r.use(args)
		read(one.filled(args))
		return
	}
	before, was := len(r.f.Apart), len(r.f.Lines)
	list, known := r.rounds(t, vars)
	for _, one := range list {
		read(one.filled(args))
	}
	if len(r.f.Apart) > before || len(r.f.Lines) > was || known {
		r.use(args)
	}
}

// ansibleCommand reads a command.
func (r *treeReader) ansibleCommand(n *source.Node) {
	if cmd := at(n, "cmd"); cmd != nil {
		n = cmd
	}
	if n.Kind != source.Scalar || !relevant(n.Text) {
		return
	}
	if on := templated(n.Text); on != "" {
		r.unread(n, "it depends on "+on+", which another program replaces")
		return
	}
	r.command(n)
}

// ansibleFile reads what a task writes to a file.
func (r *treeReader) ansibleFile(module string, args *source.Node) {
	name := text(args, "dest")
	if name == "" {
		name = text(args, "path")
	}
	for _, key := range []string{"content", "block", "line"} {
		if content := at(args, key); content != nil && content.Kind == source.Scalar {
			r.content(name, content)
			return
		}
	}
	if isSysctlFile(name) && (module == "copy" || module == "template") {
		r.unread(args, "the content of "+name+" is in another file: give that as well")
	}
}

// ansibleLoops are the keys that repeat a task.
var ansibleLoops = []string{"loop", "with_items", "with_dict", "with_list", "with_flattened"}

// round is one execution of a task that may be in a loop.
type round struct {
	value func(expression string) *source.Node
	line  int // of the item of the loop; 0: there is none
}

// rounds returns the executions of a task. It returns false if it is not known which there are.
func (r *treeReader) rounds(t *source.Node, vars map[string]*source.Node) (list []round, known bool) {
	variable := cmp.Or(text(t, "loop_control", "loop_var"), "item")
	for _, key := range ansibleLoops {
		over, is := t.Get(key)
		if !is {
			continue
		}
		r.use(over.Value)
		from := over.Value
		if from.Kind == source.Scalar {
			m := wholeExpression.FindStringSubmatch(strings.TrimSpace(from.Text))
			if m == nil || vars[m[1]] == nil || m[2] != "" && !strings.Contains(m[2], "dict2items") {
				r.f.apart(Unread, over.Key.At.Line, r.line(over.Key.At.Line), "depends on "+from.Text)
				return nil, false
			}
			from = vars[m[1]]
			r.use(from)
		}
		items := from.Items
		for _, e := range from.Entries { // of with_dict, or of dict2items
			items = append(items, &source.Node{Kind: source.Mapping, At: e.Key.At, Entries: []source.Entry{
				{Key: &source.Node{Kind: source.Scalar, Text: "key"}, Value: e.Key},
				{Key: &source.Node{Kind: source.Scalar, Text: "value"}, Value: e.Value}}})
		}
		for _, item := range items {
			list = append(list, round{func(expression string) *source.Node {
				return resolve(expression, variable, item, vars)
			}, max(1, item.At.Line)})
		}
		return list, true
	}
	return []round{{func(expression string) *source.Node { return resolve(expression, "", nil, vars) }, 0}}, true
}

// fill returns the text of an argument with the values of its expressions.
func (one round) fill(text string) string {
	return expression.Regexp().ReplaceAllStringFunc(text, func(whole string) string {
		n := one.value(expression.FindStringSubmatch(whole)[1])
		if n == nil || n.Kind != source.Scalar {
			return whole
		}
		return n.Text
	})
}

// filled returns the arguments of a module, with the values of their expressions.
func (one round) filled(args *source.Node) *source.Node {
	made := &source.Node{Kind: args.Kind, At: args.At, Text: one.fill(args.Text), Block: args.Block}
	if made.Text != args.Text && one.line > 0 {
		made.At, made.Block = source.Position{Line: one.line}, false
	}
	for _, e := range args.Entries {
		made.Entries = append(made.Entries, source.Entry{Key: e.Key, Value: one.filled(e.Value)})
	}
	for _, item := range args.Items {
		made.Items = append(made.Items, one.filled(item))
	}
	return made
}

// arguments returns the arguments of a module: a mapping, or a text "name=x value='1 2'".
func arguments(n *source.Node) *source.Node {
	if n.Kind != source.Scalar {
		return n
	}
	made := &source.Node{Kind: source.Mapping, At: n.At}
	for _, m := range keyValue.Regexp().FindAllStringSubmatch(n.Text, -1) {
		made.Entries = append(made.Entries, source.Entry{Key: &source.Node{Kind: source.Scalar, At: n.At, Text: m[1]},
			Value: &source.Node{Kind: source.Scalar, At: n.At, Text: m[2] + m[3] + m[4]}})
	}
	return made
}

var (
	keyValue        = pattern.MustCompile(`(\w+)=(?:"([^"]*)"|'([^']*)'|(\{\{.*?\}\}|\S+))`)
	expression      = pattern.MustCompile(`\{\{\s*([\w.]+|\w+\[['"][\w.-]+['"]\])\s*\}\}`)
	wholeExpression = pattern.MustCompile(`^\{\{\s*([\w.]+)\s*((?:\|[^}]*)?)\}\}$`)
	subscript       = pattern.MustCompile(`\[['"]([\w.-]+)['"]\]`)
)

// resolve returns the value of an expression such as item.name. Nil: it is not known.
func resolve(expression, variable string, item *source.Node, vars map[string]*source.Node) *source.Node {
	parts := strings.Split(subscript.Regexp().ReplaceAllString(expression, ".$1"), ".")
	n := vars[parts[0]]
	if variable != "" && parts[0] == variable {
		n = item
	}
	if n == nil {
		return nil
	}
	return at(n, parts[1:]...)
}

// ansibleSysctl reads a call of module sysctl.
func (r *treeReader) ansibleSysctl(module source.Entry, args *source.Node, one round) {
	filled := func(keys ...string) (string, int) {
		for _, key := range keys {
			if e, is := args.Get(key); is && e.Value.Kind == source.Scalar {
				return one.fill(e.Value.Text), e.Value.At.Line
			}
		}
		return "", module.Key.At.Line
	}
	name, line := filled("name", "key")
	if line = max(1, line); one.line > 0 {
		line = one.line
	}
	if state, _ := filled("state"); state == "absent" {
		r.f.apart(Note, line, r.line(line), "takes the parameter out of a file, and sets nothing")
		return
	}
	value, _ := filled("value", "val")
	r.set(line, name, value)
}
