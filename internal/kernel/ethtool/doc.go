// Package ethtool reads and changes what drivers and the device model have of network
// interfaces: driver, link, rings, channels, offloads, queues and interrupts
// (Documentation/networking/ethtool-netlink.rst, Documentation/ABI/testing/sysfs-class-net).
// A part that a driver does not have is absent, which is no error when it is read.
package ethtool
