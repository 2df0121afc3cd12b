package hostconfig

import (
	"fmt"
	"slices"
	"strings"

	"linerate/internal/model/setting"
)

// ethtoolFlag returns the ethtool(8) option that changes a group. Empty: there is none.
func ethtoolFlag(group string) string {
	for _, g := range setting.NICGroups {
		if g.Name == group {
			return g.Flag
		}
	}
	return ""
}

// netDirectory and irqDirectory contain the files of interfaces and of interrupts.
const netDirectory, irqDirectory = "/sys/class/net/", "/proc/irq/"

// nicLines returns the commands for options of an interface: ethtool(8), or writes to files of
// sysfs and procfs if ethtool has no option.
func nicLines(n setting.NIC) (lines []string) {
	dir := netDirectory + n.Interface
	for _, o := range n.Options() {
		flag, value := ethtoolFlag(o.Group), Quote(o.Value)
		switch {
		case flag != "":
			lines = append(lines, Command("ethtool", flag, n.Interface, o.Key, o.Value))
		case o.Group == "rss" && o.Key != "table":
			lines = append(lines, Command("ethtool", "-N", n.Interface, "rx-flow-hash", o.Key, o.Value))
		case o.Group == "rss":
			lines = append(lines, rssLine(n.Interface, o.Value))
		case o.Group == "steering" && o.Value == setting.NoRule:
			lines = append(lines, Command("ethtool", "-N", n.Interface, "delete", o.Key))
		case o.Group == "steering":
			lines = append(lines, Command(slices.Concat([]string{"ethtool", "-N", n.Interface, "flow-type"},
				strings.Fields(o.Value), []string{"loc", o.Key})...))
		case o.Group == "napi":
			lines = append(lines, "echo "+value+" > "+Quote(dir+"/"+o.Key))
		case o.Group == "queues" && strings.Contains(o.Key, "/"):
			lines = append(lines, "echo "+value+" > "+Quote(dir+"/queues/"+o.Key))
		case o.Group == "queues":
			queues := map[bool]string{true: "rx", false: "tx"}[strings.HasPrefix(o.Key, "rps_")]
			lines = append(lines, fmt.Sprintf(`for queue in %s/%s-*; do echo %s > "$queue"/%s; done`,
				Quote(dir+"/queues"), queues, value, o.Key))
		case strings.Contains(o.Key, "/"):
			lines = append(lines, "echo "+value+" > "+irqDirectory+o.Key)
		case o.Value == "spread":
			lines = append(lines, "n=0; "+
				irqLine(dir, fmt.Sprintf(`echo $((n %% $(nproc))) > %s"$irq"/%s; n=$((n + 1))`, irqDirectory, o.Key)))
		default:
			lines = append(lines, irqLine(dir, fmt.Sprintf(`echo %s > %s"$irq"/%s`, value, irqDirectory, o.Key)))
		}
	}
	return lines
}

// irqLine returns a command that executes another one for each interrupt of an interface, available
// as "$irq", and fails if there is none. The interrupts of a virtio device belong to its parent, a
// PCI device.
func irqLine(dir, command string) string {
	return fmt.Sprintf(
		`dev=%s; case $(readlink "$dev"/subsystem) in */virtio) dev=$dev/..;; esac; irqs=$(ls "$dev"/msi_irqs) && [ -n "$irqs" ] && for irq in $irqs; do %s; done`,
		Quote(dir+"/device"), command)
}

// rssLine returns the command for an indirection table. ethtool(8) accepts weights, but not the
// queue of each entry. A table whose queues occupy consecutive entries can be written as weights.
func rssLine(iface, table string) string {
	words := strings.Fields(table)
	if words[0] == "equal" || words[0] == "weight" {
		return Command(append([]string{"ethtool", "-X", iface}, words...)...)
	}
	return Comment("the indirection table of " + iface + " is " + table + ": ethtool -X takes only equal and weight")
}

// governorLine returns the command that sets the governor of all CPUs.
func governorLine(c setting.CPU) string {
	return `for policy in /sys/devices/system/cpu/cpufreq/policy*; do echo ` + Quote(c.Governor) +
		` > "$policy"/scaling_governor; done`
}

// nmcliOptions maps groups to the prefix of NetworkManager's properties for them
// (nm-settings-nmcli(5)). Channels are missing because versions before 1.46 do not know them and
// would reject the whole connection.
var nmcliOptions = map[string]string{"features": "ethtool.feature-", "rings": "ethtool.ring-",
	"coalesce": "ethtool.coalesce-", "pause": "ethtool.pause-"}

// nmcliAdaptive maps the values of adaptive moderation to NetworkManager's numbers.
var nmcliAdaptive = map[string]string{"on": "1", "off": "0"}

func (n *nmcli) nic(on string, s setting.NIC) bool {
	o := s.Options()[0] // there is only one
	property, ok := nmcliOptions[o.Group]
	if !ok {
		return false
	}
	value := o.Value
	if o.Group == "coalesce" && strings.HasPrefix(o.Key, "adaptive") {
		value = nmcliAdaptive[value]
	}
	return n.modify(on, property+o.Key, value)
}
