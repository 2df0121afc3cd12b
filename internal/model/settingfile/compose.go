package settingfile

import (
	"path"
	"strings"

	"linerate/internal/model/source"
)

var _ = register(&format{
	name: "compose", label: "Compose file", manual: "compose-spec", by: "`services:`",
	yields: "`sysctls` of each service, as a list or a mapping, in the network namespace of its container",
	shape: func(n *source.Node) bool {
		services := at(n, "services")
		return services != nil && services.Kind == source.Mapping
	},
	tree: func(r *treeReader, n *source.Node) {
		for _, service := range at(n, "services").Entries {
			list := at(service.Value, "sysctls")
			if list == nil {
				continue
			}
			r.within, r.container = "service "+service.Key.Text, text(service.Value, "network_mode") != "host"
			r.use(list)
			for _, item := range list.Items {
				r.assignment(item)
			}
			r.mapping(list)
			r.within, r.container = "", false
		}
	},
})

var _ = register(&format{
	name: "cloud-init", label: "cloud-init", manual: "cloudinit.readthedocs.io, Module reference",
	by:     "`#cloud-config`, or `write_files`, `runcmd`, `bootcmd`",
	yields: "`write_files` to `sysctl.d` and the like, `bootcmd` and `runcmd` as a script",
	shape: func(n *source.Node) bool {
		return at(n, "write_files") != nil || at(n, "runcmd") != nil || at(n, "bootcmd") != nil ||
			at(n, "cloud_config_modules") != nil || at(n, "users") != nil && at(n, "packages") != nil
	},
	tree: (*treeReader).cloudInit,
})

// cloudInit reads a cloud-config.
func (r *treeReader) cloudInit(n *source.Node) {
	if files := at(n, "write_files"); files != nil {
		for _, file := range files.Items {
			content := at(file, "content")
			if content == nil || content.Kind != source.Scalar {
				continue
			}
			r.stored(text(file, "path"), content, text(file, "encoding"))
		}
	}
	for _, kind := range []string{"bootcmd", "runcmd"} {
		r.commands(at(n, kind))
	}
}

// stored reads the content of a file that is stored in an encoding.
func (r *treeReader) stored(name string, content *source.Node, encoding string) {
	switch strings.ToLower(encoding) {
	case "", "text/plain":
		r.content(name, content)
	case "b64", "base64":
		decoded, ok := unbase64(content.Text)
		if !ok {
			r.unread(content, "it is not base64")
			return
		}
		r.use(content)
		line := max(1, content.At.Line)
		r.embed(name, decoded, func(int) int { return line })
	default:
		if isSysctlFile(name) || path.Ext(name) == ".sh" {
			r.unread(content, "the encoding "+encoding+" is not read here")
		}
	}
}

// commands reads a list of commands, each a text for a shell or a list of words, as one script.
func (r *treeReader) commands(list *source.Node) {
	if list == nil {
		return
	}
	r.use(list)
	s := r.script("#!/bin/sh")
	for _, item := range list.Items {
		switch item.Kind {
		case source.Scalar:
			s.run(item.Text, rows(item))
		case source.List:
			if script, at, is := shellArgument(item); is {
				s.run(script.Text, at)
				continue
			}
			var words []string
			for _, w := range item.Items {
				words = append(words, "'"+strings.ReplaceAll(w.Text, "'", `'\''`)+"'")
			}
			s.run(strings.Join(words, " "), func(int) int { return max(1, item.At.Line) })
		}
	}
	s.finish()
}

// shellArgument returns the script in a list of words: sh, -c, SCRIPT. It returns false for other
// commands.
func shellArgument(list *source.Node) (script *source.Node, at func(int) int, is bool) {
	for i, w := range list.Items {
		if i > 0 && i+1 < len(list.Items) && strings.HasPrefix(w.Text, "-") && strings.HasSuffix(w.Text, "c") &&
			strings.HasSuffix(path.Base(list.Items[0].Text), "sh") {
			script = list.Items[i+1]
			return script, rows(script), script.Kind == source.Scalar
		}
	}
	return nil, nil, false
}
