// Package ethtool reads what drivers and the device model say of network interfaces:
// driver, link, rings, channels, offloads, queues and interrupts
// (Documentation/networking/ethtool-netlink.rst, Documentation/ABI/testing/sysfs-class-net).
// A part that a driver does not have is absent, which is no error.
package ethtool
