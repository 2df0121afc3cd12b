package settingfile

import (
	"strings"

	"linerate/internal/model/source"
)

var _ = register(&format{
	name: "kubernetes", label: "Kubernetes manifest",
	manual: "kubernetes.io/docs/tasks/administer-cluster/sysctl-cluster",
	by:     "`apiVersion:` and `kind:`",
	yields: "`securityContext.sysctls` of pods and of templates of pods, in the network namespace of the pod; " +
		"commands of containers that are scripts; files of a ConfigMap that are lists or scripts; profiles of a " +
		"Tuned, files and units of a MachineConfig; `sysctlParameters`, commands, files and user data of nodes " +
		"(kOps, eksctl, Karpenter, Cluster API)",
	shape: func(n *source.Node) bool {
		version := text(n, "apiVersion")
		return version != "" && version != talosVersion && text(n, "kind") != ""
	},
	tree: (*treeReader).kubernetes,
})

// kubernetes reads an object of Kubernetes.
func (r *treeReader) kubernetes(n *source.Node) {
	kind, name := text(n, "kind"), text(n, "metadata", "name")
	switch kind {
	case "List":
		if items := at(n, "items"); items != nil {
			for _, item := range items.Items {
				r.kubernetes(item)
			}
		}
	case "ConfigMap":
		if data := at(n, "data"); data != nil {
			for _, e := range data.Entries {
				if e.Value.Kind == source.Scalar && !isParameter(e.Key.Text) && strings.Contains(e.Value.Text, "\n") {
					r.configMap(e.Key.Text, e.Value)
				}
			}
		}
	case "Tuned":
		if profiles := at(n, "spec", "profile"); profiles != nil {
			for _, p := range profiles.Items {
				if data := at(p, "data"); data != nil {
					r.within = "profile " + text(p, "name")
					r.content("tuned.conf", data)
					r.within = ""
				}
			}
		}
	case "MachineConfig":
		if config := at(n, "spec", "config"); config != nil {
			r.ignition(config)
		}
	case "KubeletConfiguration":
		if allowed := at(n, "allowedUnsafeSysctls"); allowed != nil {
			r.use(allowed)
			for _, item := range allowed.Items {
				r.f.apart(Note, max(1, item.At.Line), r.line(item.At.Line), "allows pods to set it, and sets nothing")
			}
		}
	default:
		r.pods(n, strings.TrimSpace(kind+" "+name), 0)
	}
	r.bootstrap(n, 0)
}

// bootCommands are keys of lists of commands that a node executes when it boots, of eksctl and of Cluster
// API. userData are those of a file.
var (
	bootCommands = wordSet("preBootstrapCommands bootstrapCommands postBootstrapCommands preKubeadmCommands " +
		"postKubeadmCommands bootCommands")
	userData = wordSet("userData user-data overrideBootstrapCommand cloudInit")
)

// bootstrap reads what nodes are set up by, at any depth.
func (r *treeReader) bootstrap(n *source.Node, depth int) {
	if depth > deepest || r.used[n] {
		return
	}
	for _, item := range n.Items {
		r.bootstrap(item, depth+1)
	}
	for _, e := range n.Entries {
		switch key := e.Key.Text; {
		case bootCommands[key] && e.Value.Kind == source.List:
			r.commands(e.Value)
		case userData[key] && e.Value.Kind == source.Scalar && sets(e.Value.Text):
			r.content(key, e.Value)
		case key == "files" && e.Value.Kind == source.List:
			for _, file := range e.Value.Items {
				if content := at(file, "content"); content != nil && content.Kind == source.Scalar {
					r.stored(text(file, "path"), content, text(file, "encoding"))
				}
			}
		case key == "patch" && e.Value.Kind == source.Scalar && sets(e.Value.Text):
			r.content("patch.yaml", e.Value)
		default:
			r.bootstrap(e.Value, depth+1)
		}
	}
}

// configMap reads a file of a ConfigMap: what it is mounted as is not known, so that its content
// decides.
func (r *treeReader) configMap(name string, n *source.Node) {
	of := recognise(name, n.Text)
	switch {
	case of == "" || of == sysctlConf && !mention.MatchString(n.Text):
		return
	case of == sysctlConf:
		name = "sysctl.d/" + name
	}
	r.content(name, n)
}

// deepest is the depth at which an object may have the description of a pod.
const deepest = 30

// pods reads what an object says of pods, at any depth: of a Deployment it is below a template.
func (r *treeReader) pods(n *source.Node, within string, depth int) {
	if depth > deepest || r.used[n] {
		return
	}
	for _, item := range n.Items {
		r.pods(item, within, depth+1)
	}
	for _, e := range n.Entries {
		switch e.Key.Text {
		case "securityContext":
			if list := at(e.Value, "sysctls"); list != nil {
				r.within, r.container = within, text(n, "hostNetwork") != "true"
				r.use(list)
				for _, item := range list.Items {
					r.named(item)
				}
				r.within, r.container = "", false
				continue
			}
		case "initContainers", "containers":
			for _, c := range e.Value.Items {
				r.containerScript(c, text(n, "hostNetwork") != "true", within)
			}
			continue
		}
		r.pods(e.Value, within, depth+1)
	}
}

// named reads a parameter with keys for its name and its value.
func (r *treeReader) named(item *source.Node) {
	name, is := item.Get("name")
	value, has := item.Get("value")
	if !is || !has || name.Value.Kind != source.Scalar {
		r.unread(item, "expected name and value")
		return
	}
	r.parameter(name.Value, value.Value)
}

// containerScript reads the command of a container, if it is a script. Containers of a pod share its
// network namespace; a privileged one of the network of the host changes the host.
func (r *treeReader) containerScript(c *source.Node, container bool, within string) {
	var words []*source.Node
	for _, key := range []string{"command", "args"} {
		if list := at(c, key); list != nil {
			words = append(words, list.Items...)
		}
	}
	sets := false
	for _, w := range words {
		sets = sets || relevant(w.Text) && !r.used[w]
	}
	if !sets {
		return
	}
	list := &source.Node{Kind: source.List, At: words[0].At, Items: words}
	r.within, r.container = within, container
	if script, at, is := shellArgument(list); is {
		r.use(words...)
		s := r.script("#!/bin/sh")
		s.run(script.Text, at)
		s.finish()
	} else {
		r.commands(&source.Node{Kind: source.List, At: list.At, Items: []*source.Node{list}})
		r.use(words...)
	}
	r.within, r.container = "", false
}
