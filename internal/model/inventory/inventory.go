// Package inventory decodes lists of hosts: linerate's own hosts.yaml, the inventories of Ansible,
// and the node lists and racks of SLURM. Read recognises a file by its content. Select takes hosts
// from an inventory by names, groups and labels. The package does no I/O and executes nothing.
package inventory

import (
	"net/netip"

	"linerate/internal/model/source"
	"linerate/internal/model/syntax"
)

// Schema is the schema name and version of a List.
const Schema = "linerate.hosts/v1"

// List is what an inventory and a selection give.
type List struct {
	Schema string `json:"schema"`
	// File is the inventory, and Kind what it is. Both are empty without one.
	File string `json:"file,omitempty"`
	Kind Kind   `json:"kind,omitempty"`
	// Hosts are those that were selected, in the order of the file.
	Hosts []Host `json:"hosts"`
	// Of is how many hosts the inventory has.
	Of int `json:"of"`
	// LeftOut says what of the file is not used, and why.
	LeftOut []string `json:"left_out,omitempty"`
}

// Kind says what a file is.
type Kind string

// Kinds of files.
const (
	Own         Kind = "hosts.yaml"
	AnsibleINI  Kind = "ansible-ini"
	AnsibleYAML Kind = "ansible-yaml"
	AnsibleJSON Kind = "ansible-json" // of ansible-inventory --list
	Names       Kind = "names"        // names or node lists, one or more on each line
	SlurmRacks  Kind = "topology.conf"
)

// Host is a host of an inventory.
type Host struct {
	// Name is what the inventory calls the host. It has no character of a shell or of a selection,
	// and does not begin with a dash.
	Name string `json:"name" is:"host"`
	// Via is the command prefix that executes words on the host, as of hosts in studies. It is never
	// empty: a host that is this machine has "env".
	Via []string `json:"via" is:"words"`
	// Written: the words of Via are those of the file, which may be any command.
	Written bool `json:"-"`
	// Unlisted: the host is in no inventory, and Name is how it is reached, not what it is called.
	Unlisted bool `json:"-"`
	// Addresses are those to measure on. Empty: not known.
	Addresses []netip.Addr `json:"addresses,omitempty"`
	// RateBps is the rate of the host's interface in each direction, in bits per second. 0: not known.
	RateBps float64 `json:"rate_bps,omitempty"`
	// Rack and Machine are as in mesh.Host. Empty: not known.
	Rack    string `json:"rack,omitempty" is:"name"`
	Machine string `json:"machine,omitempty" is:"name"`
	// Labels are the host's other labels.
	Labels map[string]string `json:"labels,omitempty" is:"name,name"`
	// Groups are those that the host is in, directly or through others, in the order of the file.
	Groups []string `json:"groups,omitempty" is:"name"`
}

// Inventory is the content of a file. Its zero value has no hosts.
type Inventory struct {
	Kind  Kind
	Hosts []Host // in the order of the file
	// Groups are the names of all groups in the order of the file, also of those without hosts.
	Groups []string
	// LeftOut says what of the file is not used, and why.
	LeftOut []string
	lost    []string // hosts that are left out
}

const nameKind = syntax.Name

// Read decodes a file, whose name is only for messages. The error, of type source.Problems, lists
// every mistake with its line and, of hosts.yaml, its column.
func Read(file string, data []byte) (*Inventory, error) {
	inv, problems := read(file, data)
	if err := problems.Err(); err != nil {
		return nil, err
	}
	if err := syntax.Check(inv); err != nil {
		return nil, source.Problems{{File: file, Text: err.Error()}}
	}
	return inv, nil
}
