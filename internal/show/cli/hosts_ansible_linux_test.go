package cli

import (
	"cmp"
	"os"
	"os/exec"
	"path/filepath"
	"reflect"
	"slices"
	"strings"
	"testing"

	"linerate/internal/kernel/kerneltest"
	"linerate/internal/model/inventory"
)

// TestAnsible: inventories of Ansible are read as ansible-inventory reads them: its list of a file has
// the same hosts, with the same variables, as the file itself.
func TestAnsible(t *testing.T) {
	kerneltest.Parallel(t)
	kerneltest.Needs(t, "ansible-inventory")
	dir := t.TempDir()
	for name, text := range map[string]string{
		"a.ini": `lone.example.org:2222
[web]
web[01:03] ansible_user=root ansible_port=2222
w[a:e:2].x ansible_host=10.0.0.1 linerate_note='a b' # trailing
"quoted" ansible_host="10.0.0.2" linerate_x='"y"' linerate_hash=a#b
[db]
db1 ansible_connection=local
db2:22022 ansible_become=True rack=3
db2 ansible_become_user=app
[db:vars]
rack='r 1'
linerate_rack = r1 # the first
linerate_number=7 # a comment
linerate_text=x # y
[dc:children]
web
db
[web:vars]
ansible_user=admin
rack=7
[aaa]
db1 linerate_own=1
[aaa:vars]
linerate_number=8
rack=9
[dc:vars]
linerate_number=9
linerate_deep=no
[all:vars]
ansible_ssh_private_key_file=~/.ssh/id
linerate_deep=yes
linerate_rate=25G
; nothing
[empty]
`,
		"b.yaml": `all:
  vars: {ansible_user: ops}
  hosts:
    lone: {ansible_host: "fd00::7", linerate_addresses: [10.0.0.7, "fd00::7"], password: secret}
  children:
    web:
      hosts:
        web[01:03]: {ansible_port: 2222}
        web[01:02]:
      vars: &same {rack: r1, linerate_rate: 25Gbit/s, linerate_state: live}
    aaa: {hosts: {web01: }, vars: {ansible_group_priority: 10, rack: last}}
    db:
      hosts: {"db[1:3]": {ansible_become: true, ansible_become_user: app}}
      children: {replicas: {hosts: {db7: {rack: r2}, db8: }, vars: {rack: r3}}}
      vars: *same
    more: {children: {replicas: , web: }, vars: {linerate_state: less, linerate_more: "1"}}
ungrouped: {hosts: {alone.example.org:2022: }}
other: {hosts: db1, vars: {rack: other}}
`,
	} {
		path := filepath.Join(dir, name)
		if err := os.WriteFile(path, []byte(text), 0o600); err != nil {
			t.Fatal(err)
		}
		for _, options := range [][]string{{"--list"}, {"--list", "--export"}, {"--list", "--yaml"}} {
			cmd := exec.CommandContext(t.Context(), "ansible-inventory", append([]string{"-i", path}, options...)...)
			cmd.Dir, cmd.Env = dir, append(os.Environ(), "HOME="+dir, "LC_ALL=C.UTF-8")
			var errs strings.Builder
			cmd.Stderr = &errs
			printed, err := cmd.Output()
			if err != nil {
				t.Fatalf("%s: %v: %s", name, err, errs.String())
			}
			read := func(name string, text []byte) []inventory.Host {
				inv, err := inventory.Read(name, text)
				if err != nil {
					t.Fatalf("%s %q: %v", name, options, err)
				}
				for i := range inv.Hosts {
					slices.Sort(inv.Hosts[i].Groups)
				}
				slices.SortFunc(inv.Hosts, func(a, b inventory.Host) int { return cmp.Compare(a.Name, b.Name) })
				return inv.Hosts
			}
			got, want := read(name, []byte(text)), read(name+" --list", printed)
			if len(got) != len(want) {
				t.Fatalf("%s %q: %d hosts, and %d by Ansible", name, options, len(got), len(want))
			}
			for i := range got {
				if !reflect.DeepEqual(got[i], want[i]) {
					t.Errorf("%s %q:\ngot     %+v\nAnsible %+v", name, options, got[i], want[i])
				}
			}
		}
	}
}

// TestAnsiblePatterns: a pattern of Ansible selects the hosts that Ansible selects.
func TestAnsiblePatterns(t *testing.T) {
	kerneltest.Parallel(t)
	kerneltest.Needs(t, "ansible")
	dir := t.TempDir()
	path := filepath.Join(dir, "hosts")
	text := "[web]\nweb[1:4]\n[db]\ndb[1:2].x\n[dc1]\nweb[1:2]\ndb1.x\n[drained]\nweb2\n"
	if err := os.WriteFile(path, []byte(text), 0o600); err != nil {
		t.Fatal(err)
	}
	inv, err := inventory.Read("hosts", []byte(text))
	if err != nil {
		t.Fatal(err)
	}
	for _, pattern := range []string{"all", "web", "web:db", "web,db", "web:&dc1:!drained", "!drained,&dc1,web", "web*",
		"*.x", "!web", "d*", "web?:!web3", "all,&d*,!web1", "web1,db"} {
		cmd := exec.CommandContext(t.Context(), "ansible", "-i", path, pattern, "--list-hosts")
		cmd.Dir, cmd.Env = dir, append(os.Environ(), "HOME="+dir, "LC_ALL=C.UTF-8")
		printed, err := cmd.Output()
		if err != nil {
			t.Fatalf("%s: %v", pattern, err)
		}
		want := strings.Fields(string(printed))[2:] // hosts (2):
		var got []string
		found, err := inv.Select(pattern)
		for _, h := range found {
			got = append(got, h.Name)
		}
		slices.Sort(got)
		if slices.Sort(want); err != nil || !slices.Equal(got, want) {
			t.Errorf("%s: %q, %v; by Ansible %q", pattern, got, err, want)
		}
	}
}
