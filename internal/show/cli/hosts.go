package cli

import (
	"context"
	"errors"

	"github.com/spf13/cobra"

	"linerate/internal/model/inventory"
	"linerate/internal/show/present"
)

type hostsFlags struct {
	from   inventoryFlags
	asJSON bool
}

func newHostsCommand(s streams) *cobra.Command {
	var f hostsFlags
	cmd := &cobra.Command{
		Use:   "hosts",
		Short: "List the hosts of an inventory that a selection has",
		Long: `List the hosts of an inventory that a selection has, with how they are reached,
before doctor, top, snapshot or prove reach them. Nothing is executed.

The inventory is linerate's own hosts.yaml; an inventory of Ansible in INI or YAML,
or what ansible-inventory --list prints; names and node lists, as scontrol show
hostnames prints them; or topology.conf of SLURM, whose switches are racks.

A selection has terms, separated by commas or colons, in any order:
  web3, web[01-20], web*  hosts and groups by name
  rack=3, rack=r*         hosts with a label; rack alone: with any value
  &TERM                   only hosts that are in the term, too
  !TERM                   without the hosts of the term
  all                     every host`,
		Example: `  linerate hosts
  linerate hosts --select 'web,&dc1,!drained'
  linerate hosts --inventory /etc/ansible/hosts --select rack=3
  scontrol show hostnames | linerate hosts --inventory -`,
		Args: noArgs,
		RunE: func(cmd *cobra.Command, _ []string) error {
			if err := errors.Join(mistakes(cmd.Flags())...); err != nil {
				return usageError(err)
			}
			list, err := f.list(cmd.Context(), s)
			if err != nil {
				return err
			}
			return s.answer(f.asJSON, list, asText(present.Hosts(list)))
		},
	}
	f.from.define(cmd.Flags())
	cmd.Flags().BoolVar(&f.asJSON, "json", false, "print JSON ("+inventory.Schema+")")
	return cmd
}

func (f hostsFlags) list(ctx context.Context, s streams) (list inventory.List, err error) {
	from := f.from
	if len(from.chosen) == 0 {
		from.chosen = []string{"all"}
	}
	inv, err := from.read(ctx, s)
	if err != nil {
		return list, err
	}
	found, err := inv.Select(from.chosen...)
	if err != nil {
		return list, usageError(err)
	}
	path, _ := from.path()
	return inventory.List{Schema: inventory.Schema, File: path, Kind: inv.Kind, Hosts: found, Of: len(inv.Hosts),
		LeftOut: inv.LeftOut}, nil
}
