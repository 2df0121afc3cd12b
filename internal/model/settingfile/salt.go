package settingfile

import (
	"slices"

	"linerate/internal/model/pattern"
	"linerate/internal/model/source"
)

var _ = register(&format{
	name: "salt", label: "Salt state",
	manual: "docs.saltproject.io, salt.states.sysctl", by: "`sysctl.present` and other functions of states",
	yields: "`sysctl.present`; `file.managed` of `sysctl.d` with contents, `cmd.run` as a script. Jinja is not " +
		"evaluated",
	shape: func(n *source.Node) bool {
		return slices.ContainsFunc(n.Entries, func(e source.Entry) bool {
			return slices.ContainsFunc(e.Value.Entries, func(e source.Entry) bool {
				return saltFunction.MatchString(e.Key.Text)
			})
		})
	},
	tree: (*treeReader).salt,
})

var saltFunction = pattern.MustCompile(`^(sysctl\.present|file\.(managed|append)|cmd\.run|pkg\.installed|` +
	`service\.running|kmod\.present)$`)

// salt reads a file of states.
func (r *treeReader) salt(n *source.Node) {
	for _, state := range n.Entries {
		if state.Value.Kind == source.Scalar && state.Value.Text == "cmd.run" && relevant(state.Key.Text) {
			r.command(state.Key) // a function without arguments
		}
		for _, f := range state.Value.Entries {
			args := &source.Node{Kind: source.Mapping, At: f.Key.At}
			for _, item := range f.Value.Items { // a list of mappings with one key each
				args.Entries = append(args.Entries, item.Entries...)
			}
			name, is := args.Get("name")
			if !is {
				name.Value = state.Key
			}
			switch f.Key.Text {
			case "sysctl.present":
				r.use(f.Value)
				if names := at(args, "names"); names != nil {
					r.saltNames(names, args)
					continue
				}
				value, has := args.Get("value")
				if !has {
					r.unread(f.Key, "expected a value of "+name.Value.Text)
					continue
				}
				r.parameter(name.Value, value.Value)
			case "file.managed", "file.append":
				for _, key := range []string{"contents", "text"} {
					if content := at(args, key); content != nil && content.Kind == source.Scalar {
						r.content(name.Value.Text, content)
					}
				}
				if isSysctlFile(name.Value.Text) && at(args, "source") != nil {
					r.unread(f.Value, "the content of "+name.Value.Text+" is in another file: give that as well")
				}
			case "cmd.run":
				if relevant(name.Value.Text) {
					r.command(name.Value)
				}
			default:
				if mtu := at(args, "mtu"); mtu != nil { // of network.managed
					r.unread(mtu, "what "+f.Key.Text+" sets is not known here")
				}
			}
		}
	}
}

// saltNames reads a state with several names, each of which may have a value of its own.
func (r *treeReader) saltNames(names, args *source.Node) {
	for _, item := range names.Items {
		name, value := item, at(args, "value")
		for _, e := range item.Entries {
			name = e.Key
			for _, own := range e.Value.Items {
				if one := at(own, "value"); one != nil {
					value = one
				}
			}
		}
		if value == nil || name.Kind != source.Scalar {
			r.unread(item, "expected a value of "+name.Text)
			continue
		}
		r.parameter(name, value)
	}
}
