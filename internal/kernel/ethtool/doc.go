// Package ethtool reads and changes what drivers and the device model provide for network interfaces: driver,
// link, rings, channels, offloads, queues and interrupts (Documentation/networking/ethtool-netlink.rst,
// Documentation/ABI/testing/sysfs-class-net). Reading a part that a driver does not have returns nothing, not
// an error.
package ethtool
