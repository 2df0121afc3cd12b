{ config, pkgs, lib, ... }:
{
  boot.kernelModules = [ "tcp_bbr" ];
  boot.kernel.sysctl = {
    "net.core.default_qdisc" = "fq";
    "net.ipv4.tcp_congestion_control" = "bbr";
    "net.ipv4.tcp_rmem" = "4096 87380 33554432";
    "net.core.rmem_max" = 33554432;
    "net.ipv6.conf.all.forwarding" = true;
  };
}
